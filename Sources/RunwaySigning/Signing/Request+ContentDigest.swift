import HTTPTypes
import Runway
import RunwaySignatures

extension Request {
    /// Sets `Content-Digest` to the digest of the body as it is sent; removes it if there is no body.
    ///
    /// A stream has the digest that the request states, or is read once for it if it can be read twice. Throws a `NetworkError` if
    /// neither is so, and what the stream throws.
    mutating func addContentDigest() async throws {
        switch body.uncounted {
        case .none: head.headerFields[.contentDigest] = nil
        case .bytes(let bytes): head.headerFields[.contentDigest] = BodyDigest(of: bytes).fieldValue
        case .stream(let stream, _, let isReplayable):
            if head.headerFields.contains(.contentDigest) { return }
            guard isReplayable else {
                throw NetworkError(
                    .invalidConfiguration, in: .signing,
                    "A stream that can be read only once can't be signed without the field Content-Digest.",
                    sending: .notSent)
            }
            var digester = BodyDigester()
            for try await part in stream { digester.update(part) }
            head.headerFields[.contentDigest] = digester.finish().fieldValue
        }
    }
}
