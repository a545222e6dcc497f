import Foundation
public import HTTPTypes
import Hummingbird
import Logging
import NIOCore
public import RunwaySignatures

/// Signs the responses to requests, so that a client can verify them bound to its request (RFC 9421 §2.4).
///
/// A signature covers the status, the digest of the body, and of the request its method, authority, path, query, and
/// the signature or the salted digest that was verified. If the request has `Accept-Signature`, it also covers the
/// components and has the label and the nonce that are asked for there; if that asks for `expires`, the signature
/// expires 60 seconds after it was made. The digest has the algorithm that `Want-Content-Digest` prefers (RFC 9530 §4),
/// and SHA-256 if that names none that is known.
///
/// A refusal is signed if the signature or the digest of its request was found to be authentic, for example after a
/// replay or with a wrong clock; otherwise anyone could make the server sign. An error of a handler is signed as its
/// own response, or as a bare 500.
///
/// Other refusals are not signed, nor are bodies with a length above ``maximumBodyByteCount``, and ``streams``: a
/// client that requires signatures refuses them. `Date` and `Server`, which Hummingbird adds later, cannot be covered.
public struct ResponseSigning: Sendable {
    /// The server's key.
    public let signer: any MessageSigner
    /// The identifier by which clients find the key.
    public let keyID: String
    /// The tag of the signatures.
    public let tag: String
    /// The longest body, in bytes, that is collected and digested. The default is 1 MiB. A longer one whose length its
    /// handler did not state is an error, and the response a 500.
    public var maximumBodyByteCount = 1 << 20
    /// Chooses the responses, by request and head, whose body is passed on while it is made and not signed, if its
    /// handler did not state its length. The default chooses `text/event-stream`. The bodies of all others are
    /// collected before they are sent.
    public var streams: @Sendable (HTTPRequest, HTTPResponse) -> Bool = { _, response in
        response.headerFields[.contentType]?.lowercased().hasPrefix("text/event-stream") == true
    }
    /// Chooses requests that pass without a signature and have signed responses, such as the login of a client that has
    /// no key yet and requires signed responses. The default chooses no request.
    ///
    /// Such a request has no verified sender: its handler has no signer and an unverified body. A request with a
    /// signature or a salted digest is verified like all others.
    public var passesUnsigned: @Sendable (HTTPRequest) -> Bool = { _ in false }

    /// The time for which a signature is valid if it must have an expiry.
    private static let lifetime = Duration.seconds(60)

    /// Signs with a key.
    public init(by signer: any MessageSigner, keyID: String, tag: String) {
        (self.signer, self.keyID, self.tag) = (signer, keyID, tag)
    }

    /// Signs the response to a request with the public authority.
    ///
    /// - Parameters:
    ///   - proof: The kind of proof by which the request was verified. `nil` if it was not.
    ///   - structuredFieldTypes: ``SignatureRules/structuredFieldTypes``.
    ///   - now: Returns the time. Called when the body has been collected.
    /// - Throws: The errors of the response's body, or `GatheredBody.TooLarge`. A response that cannot be signed is
    ///   returned without a signature.
    func signed(
        _ response: Response, to request: HTTPRequest, by proof: RequestProof?,
        structuredFieldTypes: [String: StructuredFieldType], at now: () -> UnixTime, logger: Logger
    ) async throws -> Response {
        if let length = response.body.contentLength {
            guard length <= maximumBodyByteCount else { return response }
        } else if streams(request, response.head) {
            return response
        }
        var response = response
        var hasBody = false
        if response.body.contentLength != 0, request.method != .head {
            let body = GatheredBody(upTo: maximumBodyByteCount, within: ByteBudget(maximumBodyByteCount))
            try await body.gather(response.body)
            hasBody = !body.bytes.isEmpty
            if hasBody {
                let wanted = try? request.headerFields.wantedDigests(.wantContentDigest)
                let algorithm = wanted?.first ?? .sha256
                response.headers[.contentDigest] = BodyDigest(of: body.bytes, by: [algorithm]).fieldValue
            }
            response.body = ResponseBody(byteBuffer: ByteBuffer(bytes: body.bytes))
        }
        do {
            let asked = try request.headerFields.signatureRequests().first(where: isMet)
            var components = Self.components(to: proof, hasBody: hasBody)
            for component in asked?.components.identifiers ?? [] where !components.contains(component) {
                components.append(component)
            }
            let created = now()
            let parameters = try SignatureParameters(
                components: CoveredComponents(components), created: created,
                expires: asked?.wantsExpires == true ? created + Self.lifetime : nil, nonce: asked?.nonce,
                algorithm: asked?.algorithm, keyID: keyID, tag: tag)
            let context = SignatureContext(
                response.head, to: request, structuredFieldTypes: structuredFieldTypes)
            let signature = try await context.signature(
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

    private static func components(to proof: RequestProof?, hasBody: Bool) -> [ComponentIdentifier] {
        let parts: [ComponentIdentifier] = [.method, .authority, .path, .query]
        var components: [ComponentIdentifier] = [.status] + parts.map(\.ofRequest)
        switch proof {
        case .signature(let label):
            components.append(ComponentIdentifier.field(.signature).member(label).ofRequest)
        case .digest: components.append(ComponentIdentifier.field(.runwayDigest).ofRequest)
        case nil: break
        }
        if hasBody { components.append(.contentDigest) }
        return components
    }
}

/// The kind of proof by which a request is verified, to which its response is bound.
enum RequestProof: Sendable, Hashable {
    case signature(label: String)
    /// A salted digest, with a sealed key or without.
    case digest

    init(_ way: VerifiedSigner.Way) {
        switch way {
        case .signature(let signature): self = .signature(label: signature.label)
        case .saltedDigest, .sealedKey: self = .digest
        }
    }
}
