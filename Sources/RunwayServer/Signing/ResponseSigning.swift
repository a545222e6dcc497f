import HTTPTypes
import Hummingbird
import Logging
import NIOCore
public import RunwaySignatures

/// Signs the responses to verified requests, so that a client can verify them bound to its request (RFC 9421 §2.4).
///
/// A signature covers the status, the digest of the body, and of the request its method, authority, path, query and signature. If
/// the request has `Accept-Signature`, it also covers the components and has the label and the nonce that are asked for there.
///
/// Not signed are refusals, and bodies that are longer than ``maximumBodyByteCount`` or whose length a handler does not know: a client
/// that requires signatures refuses them. `Date` and `Server`, which Hummingbird adds later, cannot be covered.
public struct ResponseSigning: Sendable {
    /// The server's key.
    public let signer: any MessageSigner
    /// The identifier by which clients find the key.
    public let keyID: String
    /// The tag of the signatures.
    public let tag: String
    /// The longest body, in bytes, that is collected and digested. The default is 1 MiB.
    public var maximumBodyByteCount = 1 << 20

    /// Signs with a key.
    public init(by signer: any MessageSigner, keyID: String, tag: String) {
        (self.signer, self.keyID, self.tag) = (signer, keyID, tag)
    }

    func signed(
        _ response: Response, to request: VerifiedSigner, at now: UnixTime, logger: Logger
    ) async -> Response {
        guard let length = response.body.contentLength, length <= maximumBodyByteCount else { return response }
        var response = response
        do {
            let hasBody = length > 0 && request.head.method != .head
            if hasBody {
                let body = GatheredBody(upTo: maximumBodyByteCount, within: ByteBudget(maximumBodyByteCount))
                try await body.gather(response.body)
                response.headers[.contentDigest] = BodyDigest(of: body.bytes).fieldValue
                response.body = ResponseBody(byteBuffer: ByteBuffer(bytes: body.bytes))
            }
            let asked = try request.head.headerFields.signatureRequests().first(where: isMet)
            var components = Self.components(to: request, hasBody: hasBody)
            for component in asked?.components.identifiers ?? [] where !components.contains(component) {
                components.append(component)
            }
            let parameters = try SignatureParameters(
                components: CoveredComponents(components), created: now, nonce: asked?.nonce,
                algorithm: asked?.algorithm, keyID: keyID, tag: tag)
            let signature = try await SignatureContext(response.head, to: request.head).signature(
                parameters, label: asked?.label ?? "sig1", by: signer)
            response.headers.append(signature)
        } catch {
            logger.error("a response cannot be signed", metadata: ["error": "\(type(of: error))"])
        }
        return response
    }

    private func isMet(_ request: SignatureRequest) -> Bool {
        !request.namesUnknownAlgorithm && request.algorithm.map { $0 == signer.algorithm } ?? true
            && request.keyID.map { $0 == keyID } ?? true && request.tag.map { $0 == tag } ?? true
    }

    private static func components(to request: VerifiedSigner, hasBody: Bool) -> [ComponentIdentifier] {
        let parts: [ComponentIdentifier] = [.method, .authority, .path, .query]
        var components: [ComponentIdentifier] = [.status] + parts.map(\.ofRequest)
        if case .signature(let signature) = request.way {
            components.append(ComponentIdentifier.field(.signature).member(signature.label).ofRequest)
        }
        if hasBody { components.append(.contentDigest) }
        return components
    }
}
