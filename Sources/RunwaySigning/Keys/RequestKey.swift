public import Crypto
public import RunwaySignatures

/// A key that signs requests, with its identifier. Its description contains only the identifier.
public struct RequestKey: Sendable {
    /// The identifier by which the server finds the key.
    public let id: String
    let signer: any MessageSigner
    /// Whether the signer never blocks and takes only microseconds.
    let signsAtOnce: Bool
    /// The identifier and the secret that a sealed key contains in encrypted form; `nil` for other keys.
    let caller: SealedKey.Caller?
    /// The public key of a device key: an uncompressed P-256 point. `nil` for other keys.
    let publicKey: [UInt8]?

    /// Creates a key for ``SigningWay/signature(tag:components:)`` or ``SigningWay/saltedDigest``.
    ///
    /// - Parameters:
    ///   - id: The identifier by which the server finds the key.
    ///   - signer: A `SigningKey`, or a custom signer, such as for a key in the Secure Enclave.
    public init(id: String, signer: any MessageSigner) {
        (self.id, self.signer, caller, publicKey) = (id, signer, nil, nil)
        signsAtOnce = signer is SigningKey
    }

    /// Creates a key from a device key, for ``SigningWay/signature(tag:components:)`` and for a ``DPoPStage``. Its
    /// identifier is the thumbprint of the public key (RFC 7638).
    public init(_ key: any DeviceKey) {
        let point = Array(key.publicKey.x963Representation)
        (id, signer, caller, publicKey) = (PublicKeyJWK(point: point).thumbprint, key, nil, point)
        signsAtOnce = key is SoftwareKey
    }

    /// Creates a key for ``SigningWay/sealedKey(to:id:)``. Throws a `SignatureError` if the secret has fewer than 16
    /// bytes.
    ///
    /// - Parameters:
    ///   - id: The identifier of the registered caller.
    ///   - secret: The secret of the registered caller.
    ///   - algorithm: `SignatureAlgorithm.saltedSHA256`, the default, or `saltedMD5`.
    public init(
        id: String, secret: SymmetricKey, by algorithm: SignatureAlgorithm = .saltedSHA256
    ) throws(SignatureError) {
        self.id = id
        signer = try SigningKey.salted(secret, by: algorithm)
        caller = SealedKey.Caller(id: id, secret: secret)
        publicKey = nil
        signsAtOnce = true
    }
}

extension RequestKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A text without the key, for logs.
    public var description: String { "RequestKey(\(id), \(signer.algorithm))" }
    /// The same as `description`.
    public var debugDescription: String { description }
    /// A mirror without the key.
    public var customMirror: Mirror { Mirror(self, children: ["id": id, "algorithm": signer.algorithm]) }
}
