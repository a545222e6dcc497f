import Foundation
public import HTTPTypes
import Hummingbird
import Logging
import NIOCore
public import RunwaySignatures

/// Signs responses and binds them to their requests (RFC 9421 §2.4).
///
/// A signature covers the status and the digest of the body. From the request, it covers the method, authority, path,
/// query, and the verified signature or salted digest. If the request has `Accept-Signature`, it also covers the
/// requested components, with the requested label and nonce; if `expires` is requested, the signature expires after 60
/// seconds. The algorithm of the digest is the one that `Want-Content-Digest` prefers (RFC 9530 §4), or SHA-256 if the
/// field names no known algorithm.
///
/// A refusal is signed if the signature or digest of its request is authentic, for example after a replay or with a
/// wrong clock; otherwise, anyone could make the server sign. If a handler throws an error, the error's own response or
/// a 500 without a body is signed.
///
/// Not signed are other refusals, bodies with a declared length above ``maximumBodyByteCount``, and ``streams``. A
/// client that requires signatures refuses these. `Date` and `Server`, which Hummingbird adds later, cannot be covered.
public struct ResponseSigning: Sendable {
    /// Signs with the server's key.
    public let signer: any MessageSigner
    /// The identifier by which clients find the key.
    public let keyID: String
    /// The tag parameter of the signatures (RFC 9421 §2.3).
    public let tag: String
    /// The maximum body size, in bytes, that is collected and digested. The default is 1 MiB. A larger body whose
    /// length the handler did not declare causes a 500.
    public var maximumBodyByteCount = 1 << 20
    /// Selects, by request and response head, responses that are streamed unsigned if their length is not declared. The
    /// default selects `text/event-stream`. The bodies of all other responses are collected before they are sent.
    public var streams: @Sendable (HTTPRequest, HTTPResponse) -> Bool = { _, response in
        response.headerFields[.contentType]?.lowercased().hasPrefix("text/event-stream") == true
    }
    /// Selects requests that need no signature but get signed responses. The default selects none. An example is the
    /// login of a client that requires signed responses but has no key yet.
    ///
    /// The handler of such a request has no signer and an unverified body. A request with a signature or a salted
    /// digest is always verified.
    public var passesUnsigned: @Sendable (HTTPRequest) -> Bool = { _ in false }

    /// The lifetime of a signature if the client requests `expires`.
    private static let lifetime = Duration.seconds(60)

    /// Creates settings that sign responses with a key.
    public init(by signer: any MessageSigner, keyID: String, tag: String) {
        (self.signer, self.keyID, self.tag) = (signer, keyID, tag)
    }

    /// Signs the response to a request. The request must have the authority that the client used.
    ///
    /// - Parameters:
    ///   - proof: The kind of proof by which the request was verified; `nil` if it was not verified.
    ///   - structuredFieldTypes: ``SignatureRules/structuredFieldTypes``.
    ///   - now: Returns the time. Called when the body has been collected.
    /// - Throws: The error of the response's body, or `GatheredBody.TooLarge`. A response that cannot be signed is
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
            // The client requests a component that the response does not have, or its `Accept-Signature` is malformed.
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

/// The kind of proof by which a request is verified. The signature of the response covers the proof.
enum RequestProof: Sendable, Hashable {
    case signature(label: String)
    /// A salted digest, with or without a sealed key.
    case digest

    init(_ way: VerifiedSigner.Way) {
        switch way {
        case .signature(let signature): self = .signature(label: signature.label)
        case .saltedDigest, .sealedKey: self = .digest
        }
    }
}
