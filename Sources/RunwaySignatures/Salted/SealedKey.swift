package import Crypto
import Foundation
package import HTTPTypes

/// The identifier and secret of a registered caller, encrypted for the server by HPKE (RFC 9180, base mode).
///
/// It is sent together with a ``SaltedDigest`` and is bound to the same lines, so that it cannot be moved to another
/// request. Base mode does not authenticate the sender: anyone who has the server's public key can seal any identifier
/// and secret. The server therefore compares the sealed secret with the one that it has registered for the caller, and
/// uses only the registered one:
///
/// ```swift
/// let digest = try SaltedDigest(request.headerFields)
/// let lines = try digest.canonicalRequest(of: request, body: body)
/// guard let record = keys.record(forKeyID: digest.keyID), record.isActive(at: now) else { throw UnknownCaller() }
/// try SealedKey(request.headerFields).verify(digest, of: lines, by: record.key, openedWith: serverKey)
/// ```
package struct SealedKey: Sendable, Hashable {
    /// The identifier of the server's key.
    package let serverKeyID: String
    let encapsulatedKey: [UInt8]
    let box: [UInt8]

    /// The identifier and the secret of a caller. Its description contains only the identifier.
    package struct Caller: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
        /// The caller's identifier, which is the key identifier in the caller's digests.
        package let id: String
        package let secret: SymmetricKey

        /// Creates a caller from an identifier and a shared secret.
        package init(id: String, secret: SymmetricKey) { (self.id, self.secret) = (id, secret) }

        /// A text with the identifier and without the secret.
        package var description: String { "Caller(\(id))" }
        /// The same as `description`.
        package var debugDescription: String { description }
        /// A mirror without the secret.
        package var customMirror: Mirror { Mirror(self, children: ["id": id]) }
    }

    private static let suite = HPKE.Ciphersuite(kem: .Curve25519_HKDF_SHA256, kdf: .HKDF_SHA256, aead: .chaChaPoly)
    private static let info = Data("runway sealed key 1".utf8)

    /// Encrypts a caller's secret for a server, bound to one request.
    ///
    /// Throws a ``SignatureError`` if an identifier has characters that the field does not permit, and the errors of
    /// swift-crypto.
    package init(
        _ caller: Caller, to serverKey: Curve25519.KeyAgreement.PublicKey, serverKeyID: String,
        for request: CanonicalRequest
    ) throws {
        guard Self.isID(serverKeyID), Self.isID(caller.id) else { throw SignatureError(.invalidValue, "an identifier") }
        var sender = try HPKE.Sender(recipientKey: serverKey, ciphersuite: Self.suite, info: Self.info)
        let plain = Array(caller.id.utf8) + [UInt8(ascii: "\n")] + caller.secret.withUnsafeBytes { Array($0) }
        box = Array(try sender.seal(plain, authenticating: request.bytes))
        encapsulatedKey = Array(sender.encapsulatedKey)
        self.serverKeyID = serverKeyID
    }

    /// Parses the `Runway-Sealed-Key` field. Throws a ``SignatureError`` if it is absent or malformed.
    package init(_ fields: HTTPFields) throws(SignatureError) {
        let field = "runway-sealed-key"
        let pairs = try FieldPairs(fields[values: .runwaySealedKey], names: ["v", "to", "enc", "box"], field: field)
        guard Self.isID(String(pairs["to"])), let key = Base64.decodedForURL(pairs["enc"]), key.count == 32,
            let box = Base64.decodedForURL(pairs["box"])
        else { throw SignatureError(.invalidValue, field) }
        (serverKeyID, encapsulatedKey, self.box) = (String(pairs["to"]), key, box)
    }

    /// The value of the `Runway-Sealed-Key` field.
    package var fieldValue: String {
        "v=1, to=\(serverKeyID), enc=\(Base64.encodedForURL(encapsulatedKey)), box=\(Base64.encodedForURL(box))"
    }

    /// Verifies that the registered caller encrypted its secret for this request, and made the digest.
    ///
    /// The function decrypts the sealed key, and requires that:
    ///
    /// - the contained identifier is the digest's ``SaltedDigest/keyID``;
    /// - the contained secret is the registered one (compared in constant time);
    /// - the digest is valid for the registered secret.
    ///
    /// The contained secret is not returned, since only the comparison shows who the caller is.
    ///
    /// The time and the nonce of the digest are not checked. As with a digest without a sealed key, refuse an old
    /// ``SaltedDigest/time``, and claim ``SaltedDigest/nonce`` in a ``NonceStore``.
    ///
    /// Throws the same ``SignatureError`` whichever requirement is not met.
    ///
    /// - Parameters:
    ///   - digest: The digest of the same request.
    ///   - request: The canonical lines of the request, with the time and the nonce of the digest.
    ///   - key: The key registered under ``SaltedDigest/keyID``.
    ///   - serverKey: The server's key with the identifier ``serverKeyID``.
    package func verify(
        _ digest: SaltedDigest, of request: CanonicalRequest, by key: VerificationKey,
        openedWith serverKey: Curve25519.KeyAgreement.PrivateKey
    ) throws(SignatureError) {
        guard let caller = open(with: serverKey, for: request), caller.id == digest.keyID,
            key.isSalted(with: caller.secret), digest.isValid(of: request, by: key)
        else { throw SignatureError(.invalidSealedKey, "runway-sealed-key") }
    }

    /// Decrypts the identifier and the secret of the caller. Returns `nil` if the sealed key was encrypted for another
    /// key or another request, or is malformed.
    func open(with serverKey: Curve25519.KeyAgreement.PrivateKey, for request: CanonicalRequest) -> Caller? {
        guard
            var recipient = try? HPKE.Recipient(
                privateKey: serverKey, ciphersuite: Self.suite, info: Self.info, encapsulatedKey: Data(encapsulatedKey)),
            let plain = try? recipient.open(box, authenticating: request.bytes),
            let end = plain.firstIndex(of: UInt8(ascii: "\n"))
        else { return nil }
        let id = String(decoding: plain[..<end], as: UTF8.self)
        return Self.isID(id) ? Caller(id: id, secret: SymmetricKey(data: plain[end...].dropFirst())) : nil
    }

    private static func isID(_ text: String) -> Bool { SaltedDigest.isKeyID(text[...]) }
}
