import HTTPTypes
public import Hummingbird
public import NIOCore
public import RunwaySignatures

/// A request context that has the verified signer of its request.
///
/// ```swift
/// struct AppContext: SignedRequestContext {
///     var coreContext: CoreRequestContextStorage
///     let remoteAddress: SocketAddress?
///     var signer: VerifiedSigner?
///
///     init(source: ApplicationRequestContextSource) {
///         coreContext = CoreRequestContextStorage(source: source)
///         remoteAddress = source.channel.remoteAddress
///     }
/// }
/// ```
///
/// The remote address is the source whose failures are limited (``SignatureRules/source``).
/// ``BasicSignedRequestContext`` is a ready-made context without other properties.
public protocol SignedRequestContext: RemoteAddressRequestContext {
    /// The verified signer of the request; `nil` before ``SignatureMiddleware`` has verified the request. Code that
    /// sets it vouches for the request.
    var signer: VerifiedSigner? { get set }
}

/// A context for apps that need no properties besides the signer and the channel for resumable uploads.
public struct BasicSignedRequestContext: SignedRequestContext, InterimResponseContext {
    /// The properties that every Hummingbird context has.
    public var coreContext: CoreRequestContextStorage
    /// The connection or stream that carries the request.
    public let channel: any Channel
    /// The verified signer of the request; `nil` before ``SignatureMiddleware`` has verified the request.
    public var signer: VerifiedSigner?

    /// Creates the context of a received request.
    public init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }

    /// The address of the client, or of the proxy in front of this server.
    public var remoteAddress: SocketAddress? { channel.remoteAddress }
}

/// The signer of a request, as verified by ``SignatureMiddleware``.
public struct VerifiedSigner: Sendable {
    /// The kind of proof by which a request authenticates its sender.
    public enum Way: Sendable {
        /// An HTTP Message Signature (RFC 9421).
        case signature(VerifiedSignature)
        /// A salted digest, which covers method, path, query and body.
        case saltedDigest
        /// A salted digest whose secret was sent encrypted to the server.
        case sealedKey
    }

    /// The identifier of the signer's key.
    public let keyID: String
    /// The owner of the key: an account, a device or a third party.
    public let owner: String
    /// The kind of proof in the request.
    public let way: Way
    /// The tag of the rules that accepted the request.
    let tag: String
    /// The verified request, with the authority that the client used.
    let head: HTTPRequest
    /// Whether the proof covers the body, or the absence of a body.
    let coversBody: Bool
    let key: VerificationKey
    /// The creation and expiry times of the signature.
    let times: SignatureTimes
    /// The claimed nonce; `nil` if the rules that accepted the request permit reuse of nonces.
    let nonce: Nonce?
}
