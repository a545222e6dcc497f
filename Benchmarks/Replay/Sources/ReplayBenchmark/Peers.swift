import AsyncHTTPClient
import Foundation
import NIOCore
import NIOSSL

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

private func url(of call: Session.Call, port: Int) -> String {
    switch call {
    case .list(let number): "https://localhost:\(port)/v1/list/\(number)"
    case .details(let number): "https://localhost:\(port)/v1/details/\(number)"
    }
}

/// AsyncHTTPClient itself: every call flies.
func asyncHTTPClient(port: Int, rootFile: String) -> Player {
    Player(name: "AsyncHTTPClient") {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .file(rootFile)
        let client = HTTPClient(
            eventLoopGroupProvider: .singleton, configuration: HTTPClient.Configuration(tlsConfiguration: tls))
        return Caller { call, _ in
            let request = HTTPClientRequest(url: url(of: call, port: port))
            let response = try await client.execute(request, timeout: .seconds(60))
            return Array(buffer: try await response.body.collect(upTo: 16 << 20))
        } end: {
            try? await client.shutdown()
        }
    }
}

/// URLSession, which chooses the version of HTTP itself.
func urlSession(port: Int) -> Player {
    Player(name: "URLSession") {
        let session = URLSession(configuration: .ephemeral)
        return Caller { call, isRefresh in
            guard let url = URL(string: url(of: call, port: port)) else { throw UnexpectedAnswer() }
            let policy: URLRequest.CachePolicy = isRefresh ? .reloadIgnoringLocalCacheData : .useProtocolCachePolicy
            return Array(try await session.data(for: URLRequest(url: url, cachePolicy: policy)).0)
        } end: {
            session.invalidateAndCancel()
        }
    }
}
