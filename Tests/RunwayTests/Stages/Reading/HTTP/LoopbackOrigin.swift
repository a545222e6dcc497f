import HTTPTypes
import RunwayTestServer
import RunwayTransport
import Synchronization

@testable import Runway

/// One origin of this machine and one client for it, which tests share: whatever host a request is for, it goes over a real
/// socket to this origin, which responds as the test sets.
actor LoopbackOrigin {
    typealias Respond = @Sendable (Request) async throws(NetworkError) -> Response

    static let shared = LoopbackOrigin()

    /// A request on its way, and what the origin makes of it. Where the client sends it again over another connection, that is the same.
    private final class Exchange: Sendable {
        let request: Request
        let response: Respond
        /// Guards the response.
        private let result = Mutex<Result<ScriptedResponse, NetworkError>?>(nil)

        init(_ request: Request, _ response: @escaping Respond) {
            self.request = request
            self.response = response
        }

        /// Why there was no response, if the test sets an error.
        var failure: NetworkError? {
            if case .failure(let error) = result.withLock({ $0 }) { error } else { nil }
        }

        /// What is sent: a response, or nothing, after which the connection ends.
        func respond() async -> ScriptedResponse {
            if let known = result.withLock({ $0 }) { return (try? known.get()) ?? .closing }
            let made: Result<ScriptedResponse, NetworkError>
            do throws(NetworkError) {
                made = .success(await ScriptedResponse(try await response(request), to: request.head.method))
            } catch {
                made = .failure(error)
            }
            result.withLock { $0 = made }
            return (try? made.get()) ?? .closing
        }
    }

    /// The field by which the origin knows which test a request is of; no cache sees it.
    private static let mark = "X-Exchange"

    private var started: Task<(port: Int, origin: ScriptedOrigin, client: NIOTransport), any Error>?
    private var exchanges: [String: Exchange] = [:]
    private var count = 0

    /// Sends a request over a socket and returns the response.
    func send(_ request: Request, in flight: Flight, response: @escaping Respond) async throws(NetworkError) -> Response
    {
        count += 1
        let (mark, exchange) = ("\(count)", Exchange(request, response))
        exchanges[mark] = exchange
        defer { exchanges[mark] = nil }
        var sent = request
        let client: NIOTransport
        do {
            let started = try await start()
            client = started.client
            (sent.head.scheme, sent.head.authority) = ("http", "127.0.0.1:\(started.port)")
        } catch {
            throw NetworkError(.noNetwork, in: .transporting, "There is no origin: \(error)")
        }
        if let name = HTTPField.Name("Host") { sent.head.headerFields[name] = request.head.authority }
        if let name = HTTPField.Name(Self.mark) { sent.head.headerFields[name] = mark }
        do throws(NetworkError) {
            return try await client.send(sent, in: flight)
        } catch {
            // What a closed connection can't say, such as a lack of trust, the test says.
            guard let failure = exchange.failure, failure.kind != error.kind else { throw error }
            throw failure
        }
    }

    private func start() async throws -> (port: Int, origin: ScriptedOrigin, client: NIOTransport) {
        if let started { return try await started.value }
        let task = Task {
            let origin = try await ScriptedOrigin.start()
            origin.otherwise { [weak self] received in
                guard let exchange = await self?.exchanges[received[Self.mark] ?? ""] else { return .closing }
                return await exchange.respond()
            }
            // Many tests at once hold responses back, and codings are passed unchanged.
            let configuration = TransportConfiguration(maximumConnectionsPerOrigin: 256, isTransparent: true)
            let client = try NIOTransport(configuration: configuration)
            return (port: origin.port, origin: origin, client: client)
        }
        started = task
        return try await task.value
    }
}

extension ScriptedResponse {
    /// A response on the wire: with a length if it is whole, in chunks if it is a stream. A stream that throws is truncated.
    fileprivate init(_ response: Response, to method: HTTPRequest.Method) async {
        self.init(status: response.head.status, headerFields: response.head.headerFields)
        switch response.body {
        case .whole(let rawData):
            chunks = [rawData.bytes]
            // What has no body says nothing of its length, unless the test does.
            if method == .head || [204, 304].contains(status.code) { framing = .untilClose }
        case .stream(let body):
            framing = .chunked
            do {
                for try await part in body { chunks.append(part) }
            } catch {
                framing = .chunkedWithoutEnd
            }
        }
    }
}
