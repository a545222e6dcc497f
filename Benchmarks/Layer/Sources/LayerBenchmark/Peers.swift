import AsyncHTTPClient
import Foundation
import NIOCore
import NIOSSL

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

struct UnexpectedAnswer: Error {}

/// AsyncHTTPClient itself, as its own documentation has it.
func asyncHTTPClient(_ name: String, _ client: HTTPClient, url: String, byteCount: Int) -> Contender {
    Contender(name: name) { count, atATime in
        try await spread(count, atATime) {
            let response = try await client.execute(HTTPClientRequest(url: url), timeout: .seconds(60))
            let body = try await response.body.collect(upTo: 16 << 20)
            guard body.readableBytes == byteCount else { throw UnexpectedAnswer() }
        }
    }
}

/// What a client of AsyncHTTPClient is asked to do.
enum ClientSettings {
    /// What it does unasked.
    case itsOwn
    /// What Runway's transport asks of it: to undo content codings, and to bound connecting and silence.
    case likeRunway
}

func makeClient(root: String, http1Only: Bool, settings: ClientSettings = .itsOwn) throws -> HTTPClient {
    var tls = TLSConfiguration.makeClientConfiguration()
    tls.trustRoots = .file(root)
    var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
    if http1Only { configuration.httpVersion = .http1Only }
    if case .likeRunway = settings {
        configuration.decompression = .enabled(limit: .none)
        configuration.timeout = .init(connect: .seconds(10), read: .seconds(60))
        configuration.redirectConfiguration = .disallow
    }
    return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
}

/// URLSession, which chooses the version of HTTP itself.
func urlSession(_ session: URLSession, url: String, byteCount: Int) -> Contender {
    let url = URL(string: url).unsafelyUnwrapped
    return Contender(name: "URLSession") { count, atATime in
        try await spread(count, atATime) {
            let (data, _) = try await session.data(from: url)
            guard data.count == byteCount else { throw UnexpectedAnswer() }
        }
    }
}
