import AsyncHTTPClient
import Foundation
import HTTPTypes
import NIOCore
import NIOSSL
import Runway
import RunwayTransport

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

struct UnexpectedResponse: Error {}

/// AsyncHTTPClient itself, as its own documentation has it.
func asyncHTTPClient(_ client: HTTPClient, url: String, byteCount: Int) -> Contender {
    Contender(name: "AsyncHTTPClient") { count, atATime in
        try await spread(count, atATime) {
            let response = try await client.execute(HTTPClientRequest(url: url), timeout: .seconds(60))
            let body = try await response.body.collect(upTo: 16 << 20)
            guard body.readableBytes == byteCount else { throw UnexpectedResponse() }
        }
    }
}

/// A client of AsyncHTTPClient that trusts the system's roots, or one file of them.
func makeClient(root: String?, http1Only: Bool) throws -> HTTPClient {
    var tls = TLSConfiguration.makeClientConfiguration()
    if let root { tls.trustRoots = .file(root) }
    var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
    if http1Only { configuration.httpVersion = .http1Only }
    return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
}

/// libcurl, all its transfers on one thread that waits for them.
func curl(_ client: CurlClient, url: String, byteCount: Int) -> Contender {
    Contender(name: "libcurl") { count, atATime in
        try await client.run(url, count: count, atATime: atATime, byteCount: byteCount)
    }
}

/// URLSession, which chooses the version of HTTP itself.
func urlSession(_ session: URLSession, url: String, byteCount: Int) -> Contender {
    let url = URL(string: url).unsafelyUnwrapped
    return Contender(name: "URLSession") { count, atATime in
        try await spread(count, atATime) {
            let (data, _) = try await session.data(from: url)
            guard data.count == byteCount else { throw UnexpectedResponse() }
        }
    }
}

/// A transport without the layer: one call of a layer is lent to as many requests as are wanted.
func bare(_ name: String, _ transport: any Transport, url: String, byteCount: Int) throws -> Contender {
    guard let parts = URLComponents(string: url), let host = parts.host, let port = parts.port else {
        throw UnexpectedResponse()
    }
    let head = HTTPRequest(method: .get, scheme: parts.scheme, authority: "\(host):\(port)", path: parts.path)
    return Contender(name: name) { count, atATime in
        let lender = Lender { flight in
            try await spread(count, atATime) {
                let response = try await transport.send(Request(head: head), in: flight)
                guard case .whole(let raw) = response.body, raw.bytes.count == byteCount else {
                    throw UnexpectedResponse()
                }
            }
        }
        let network = NetworkLayer(transport: lender, limits: LayerLimits(admission: .none, retrying: .none))
        network.configure(Bench.self) { $0.baseURLs = [.release: url] }
        _ = try await network.call(Lent())
    }
}

enum Bench: APIService {
    static let name = "bench"
    static let environments: [ServiceEnvironment: String] = [:]
    static let deadline = Duration.seconds(600)
}

struct Lent: Endpoint {
    static let service = Bench.self
    static let coalesces = false
    var path: EndpointPath { "" }
}

/// Responds to a call when its borrowed operation has ended.
struct Lender: Transport {
    let use: @Sendable (Flight) async throws -> Void

    func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
        do {
            try await use(flight)
        } catch {
            throw error as? NetworkError ?? NetworkError(.invalidResponse, in: .transporting, "\(error)")
        }
        let head = HTTPResponse(status: .ok)
        return Response(head: head, body: .whole(RawData([], response: head)))
    }
}
