import HTTPTypes
import Runway
import RunwayTransport

/// Fetches the association of a site as Apple's servers do: over TLS, from its one path, without redirects.
struct AssociationFetch: Sendable {
    static let path = "/.well-known/apple-app-site-association"

    let host: String
    let port: Int
    let connection: ConnectionOptions

    /// Returns the document.
    ///
    /// - Throws: ``CommandFailure``: the server refuses, redirects, or serves another type; or there is no response.
    func bytes() async throws -> [UInt8] {
        let transport = try NIOTransport(connection.configuration(for: host), cacert: connection.cacert)
        var pipeline = RequestPipeline()
        pipeline.remove(.redirecting)
        let network = NetworkLayer(name: "links", transport: transport, pipeline: pipeline)
        network.configure(CalledServer.self) { $0.deadline = connection.limit }
        let authority = port == 443 ? host : "\(host):\(port)"
        let request = Request(
            head: HTTPRequest(method: .get, scheme: "https", authority: authority, path: Self.path),
            delivery: .whole(maximumByteCount: 16 << 20))
        let response: Response
        do {
            response = try await network.exchange(request, with: CalledServer.self)
        } catch {
            await transport.shutdown(waitingAtMost: .zero)
            let hasResponse = error.status != nil || [.refused, .unreadable].contains(error.kind.obstacle)
            throw CommandFailure(
                error.description, status: hasResponse ? ExitStatus.refused : ExitStatus.noResponse)
        }
        await transport.shutdown(waitingAtMost: .zero)
        try check(response.head)
        guard case .whole(let rawData) = response.body else { preconditionFailure("the body was asked for whole") }
        return rawData.bytes
    }

    private func check(_ head: HTTPResponse) throws(CommandFailure) {
        func refuse(_ reason: String) -> CommandFailure {
            CommandFailure("https://\(host)\(Self.path) \(reason).", status: ExitStatus.refused)
        }
        guard head.status.kind != .redirection else {
            throw refuse("is redirected (\(head.status.code)), which Apple's servers do not follow")
        }
        guard head.status == .ok else { throw refuse("has the status \(head.status.code)") }
        let type = head.headerFields[.contentType] ?? ""
        let essence = type.prefix { $0 != ";" }.filter { $0 != " " }.lowercased()
        guard essence == "application/json" else {
            throw refuse(
                type.isEmpty ? "has no Content-Type" : "has the Content-Type \(type), and needs application/json")
        }
    }
}
