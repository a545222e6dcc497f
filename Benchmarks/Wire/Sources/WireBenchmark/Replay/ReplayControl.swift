import AsyncHTTPClient
import NIOCore

/// Controls the backend between the parts of a session, bypassing the delayed path, and reads its counts.
struct ReplayControl {
    private let client: HTTPClient
    private let base: String

    init(backendPort: Int, root: String) throws {
        client = try makeClient(root: root, http1Only: false)
        base = "https://127.0.0.1:\(backendPort)/control/"
    }

    /// Forgets what came and what was published.
    func reset() async throws { _ = try await send("reset", changes: true) }

    /// Publishes a list anew.
    func publish(_ list: Resource) async throws { _ = try await send(list.target, changes: true) }

    /// How many requests came over the wire, how many came in envelopes, and how many events are stored.
    func counts() async throws -> (requests: Int, items: Int, events: Int) {
        let counts = try await send("counts", changes: false).split(separator: " ").compactMap { Int($0) }
        guard counts.count == 3 else { throw UnexpectedResponse() }
        return (counts[0], counts[1], counts[2])
    }

    func close() async throws { try await client.shutdown() }

    private func send(_ target: String, changes: Bool) async throws -> String {
        var request = HTTPClientRequest(url: base + target)
        if changes { request.method = .POST }
        let response = try await client.execute(request, timeout: .seconds(60))
        guard response.status == .ok else { throw UnexpectedResponse() }
        return String(buffer: try await response.body.collect(upTo: 1 << 20))
    }
}
