public import HTTPTypes
import Hummingbird
import Logging
import NIOCore
public import RunwaySignatures

/// Signs the responses to requests, so that a client can verify them bound to its request (RFC 9421 §2.4).
///
/// A signature covers the status, the digest of the body, and of the request its method, authority, path, query, and the signature
/// or the salted digest that was verified. If the request has `Accept-Signature`, it also covers the components and has the label
/// and the nonce that are asked for there.
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
    /// Chooses requests that pass without a signature and have signed responses, such as the login of a client that has no key yet
    /// and requires signed responses. The default chooses none.
    ///
    /// Nobody vouches for such a request: its handler has no signer and an unverified body. One that has a signature or a salted
    /// digest is verified like all others.
    public var passesUnsigned: @Sendable (HTTPRequest) -> Bool = { _ in false }

    /// Signs with a key.
    public init(by signer: any MessageSigner, keyID: String, tag: String) {
        (self.signer, self.keyID, self.tag) = (signer, keyID, tag)
    }

    /// Signs the response to a request with the public authority.
    ///
    /// - Parameter way: How the request shows who sent it. `nil` if it does not.
    /// - Throws: What the body of the response throws. A response that cannot be signed is returned without a signature.
    func signed(
        _ response: Response, to request: HTTPRequest, by way: VerifiedSigner.Way?, at now: UnixTime, logger: Logger
    ) async throws -> Response {
        guard let length = response.body.contentLength, length <= maximumBodyByteCount else { return response }
        var response = response
        let hasBody = length > 0 && request.method != .head
        if hasBody {
            let body = GatheredBody(upTo: maximumBodyByteCount, within: ByteBudget(maximumBodyByteCount))
            try await body.gather(response.body)
            response.headers[.contentDigest] = BodyDigest(of: body.bytes).fieldValue
            response.body = ResponseBody(byteBuffer: ByteBuffer(bytes: body.bytes))
        }
        do {
            let asked = try request.headerFields.signatureRequests().first(where: isMet)
            var components = Self.components(to: way, hasBody: hasBody)
            for component in asked?.components.identifiers ?? [] where !components.contains(component) {
                components.append(component)
            }
            let parameters = try SignatureParameters(
                components: CoveredComponents(components), created: now, nonce: asked?.nonce,
                algorithm: asked?.algorithm, keyID: keyID, tag: tag)
            let signature = try await SignatureContext(response.head, to: request).signature(
                parameters, label: asked?.label ?? "sig1", by: signer)
            response.headers.append(signature)
        } catch let error as SignatureError where request.headerFields.contains(.acceptSignature) {
            // The request asks for a component that the response does not have, or its field is malformed.
            logger.debug("a response cannot be signed as asked", metadata: ["error": "\(error)"])
        } catch {
            logger.error("a response cannot be signed", metadata: ["error": "\(type(of: error))"])
        }
        return response
    }

    private func isMet(_ request: SignatureRequest) -> Bool {
        !request.namesUnknownAlgorithm && request.algorithm.map { $0 == signer.algorithm } ?? true
            && request.keyID.map { $0 == keyID } ?? true && request.tag.map { $0 == tag } ?? true
    }

    private static func components(to way: VerifiedSigner.Way?, hasBody: Bool) -> [ComponentIdentifier] {
        let parts: [ComponentIdentifier] = [.method, .authority, .path, .query]
        var components: [ComponentIdentifier] = [.status] + parts.map(\.ofRequest)
        switch way {
        case .signature(let signature):
            components.append(ComponentIdentifier.field(.signature).member(signature.label).ofRequest)
        case .saltedDigest, .sealedKey: components.append(ComponentIdentifier.field(.runwayDigest).ofRequest)
        case nil: break
        }
        if hasBody { components.append(.contentDigest) }
        return components
    }
}
