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
/// ``BasicSignedRequestContext`` is such a context with nothing else.
public protocol SignedRequestContext: RemoteAddressRequestContext {
    /// Who signed the request. `nil` before ``SignatureMiddleware`` has verified it. Code that sets it vouches for the
    /// request.
    var signer: VerifiedSigner? { get set }
}

/// A context for apps that need nothing in theirs beside the signer, and the connection for resumable uploads.
public struct BasicSignedRequestContext: SignedRequestContext, InterimResponseContext {
    /// What every context of Hummingbird has.
    public var coreContext: CoreRequestContextStorage
    /// The connection or stream that carries the request.
    public let channel: any Channel
    /// Who signed the request.
    public var signer: VerifiedSigner?

    /// Creates the context of a received request.
    public init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }

    /// The address of the client, or of the proxy before this server.
    public var remoteAddress: SocketAddress? { channel.remoteAddress }
}

/// Who signed a request, as ``SignatureMiddleware`` has verified it.
public struct VerifiedSigner: Sendable {
    /// How a request shows who sent it.
    public enum Way: Sendable {
        /// An HTTP Message Signature (RFC 9421).
        case signature(VerifiedSignature)
        /// A salted digest, which covers method, path, query and body.
        case saltedDigest
        /// A salted digest whose secret was sent encrypted to the server.
        case sealedKey
    }

    /// The identifier of the key.
    public let keyID: String
    /// Whom the key identifies: an account, a device or a third party.
    public let owner: String
    /// How the request shows it.
    public let way: Way
    /// The tag of the rules that accepted the request.
    let tag: String
    /// The request that was verified, with the public authority.
    let head: HTTPRequest
    /// Whether what was verified determines the body, or that the request has no body.
    let coversBody: Bool
    /// The key that verified the request.
    let key: VerificationKey
    /// When the request was signed, and until when the signature holds.
    let times: SignatureTimes
    /// The nonce that was claimed. `nil` if the rules that accepted the request do not accept each nonce once.
    let nonce: Nonce?
}
