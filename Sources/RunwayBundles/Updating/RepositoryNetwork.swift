import HTTPTypes
package import Runway
import RunwayTUF

/// Requests the files of a repository. No cache, credentials, signature, merging, hedging or offline queue takes part:
/// a request of ``NetworkLayer/exchange(_:with:options:)`` has none, and its service is one that no app configures.
package struct RepositoryNetwork: Sendable {
    let network: NetworkLayer
    let scheme: String
    let authority: String
    let path: String
    private let limit: Duration

    /// - Parameters:
    ///   - baseURL: The URL to which the names of files are added, such as `https://cdn.example.com/shop/metadata/`.
    ///   - network: The layer that sends the requests.
    ///   - limit: The maximum time for one file, from the request to the last byte. It ends a response that arrives
    ///     slowly without end. The default is 60 s.
    /// - Returns: `nil` if the URL is not `http` or `https`, or has a query or a fragment.
    package init?(_ baseURL: String, on network: NetworkLayer, limit: Duration = .seconds(60)) {
        guard let match = baseURL.wholeMatch(of: /(https?):\/\/([^\/?#]+)([^?#]*)/) else { return nil }
        (scheme, authority) = (String(match.1), String(match.2))
        path = match.3.hasSuffix("/") ? String(match.3) : "\(match.3)/"
        (self.network, self.limit) = (network, limit)
    }

    /// Returns a metadata file by its name, which is one segment of the path; `nil` if the server does not have it.
    ///
    /// - Throws: ``MetadataError`` with ``MetadataError/Rule/length`` if it has more bytes; ``NetworkError`` for any
    ///   other failure.
    package func metadata(_ name: String, upTo maximumByteCount: Int) async throws -> [UInt8]? {
        try await bytes(MetadataName.escaped(name), maximumByteCount)
    }

    /// Returns a target by its name, in which `/` separates segments; `nil` if the server does not have it.
    ///
    /// - Throws: The same as ``metadata(_:upTo:)``.
    package func target(_ name: String, upTo maximumByteCount: Int) async throws -> [UInt8]? {
        let segments = name.split(separator: "/", omittingEmptySubsequences: false).map {
            MetadataName.escaped(String($0))
        }
        return try await bytes(segments.joined(separator: "/"), maximumByteCount)
    }

    private func bytes(_ name: String, _ maximumByteCount: Int) async throws -> [UInt8]? {
        let request = Request(
            head: HTTPRequest(method: .get, scheme: scheme, authority: authority, path: path + name),
            delivery: .streamed)
        let response = try await network.exchange(
            request, with: RepositoryService.self,
            options: CallOptions(cache: .off, retry: .standard, wholeDeadline: limit))
        guard response.head.status == .ok else {
            // A static host may use either status for a file that it does not have.
            if [.notFound, .forbidden, .gone].contains(response.head.status) { return nil }
            throw MetadataError(name, .absence, "5", "the server's status is \(response.head.status.code)")
        }
        var bytes: [UInt8] = []
        for try await part in response.parts {
            bytes += part
            guard bytes.count <= maximumByteCount else {
                throw MetadataError(name, .length, "5", "it has more than \(maximumByteCount) bytes")
            }
        }
        return bytes
    }
}

extension Response {
    fileprivate var parts: BodyStream {
        switch body {
        case .whole(let rawData): BodyStream(rawData.bytes)
        case .stream(let body): body
        }
    }
}

/// The service of all requests to repositories. It has no credentials, and no stage of an app is for it.
private enum RepositoryService: APIService {
    static let name = "bundles"
    /// The URL of each request is absolute.
    static let environments: [ServiceEnvironment: String] = [:]
    /// Metadata is as safe without TLS (§1.5.1), but others can read which file a device requests.
    static let allowsPlainHTTP = true
}
