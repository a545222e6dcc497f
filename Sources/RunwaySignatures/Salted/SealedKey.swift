public import Crypto
import Foundation
public import HTTPTypes

/// The identifier and secret of a registered caller, encrypted to the server by HPKE (RFC 9180, base mode).
///
/// It goes beside a ``SaltedDigest`` and is bound to the same lines, so that it cannot be moved to another request. The server
/// opens it, checks that the caller is registered, and computes the digest with the secret.
public struct SealedKey: Sendable, Hashable {
    /// The identifier of the server's key.
    public let serverKeyID: String
    let encapsulatedKey: [UInt8]
    let box: [UInt8]

    /// A caller's identifier and secret. Its description has the identifier alone.
    public struct Caller: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
        /// The caller's identifier, which the digest names as its key.
        public let id: String
        /// The caller's secret.
        public let secret: SymmetricKey

        /// A caller.
        public init(id: String, secret: SymmetricKey) { (self.id, self.secret) = (id, secret) }

        /// The identifier.
        public var description: String { "Caller(\(id))" }
        /// The same as `description`.
        public var debugDescription: String { description }
        /// A mirror without secrets.
        public var customMirror: Mirror { Mirror(self, children: ["id": id]) }
    }

    private static let suite = HPKE.Ciphersuite(kem: .Curve25519_HKDF_SHA256, kdf: .HKDF_SHA256, aead: .chaChaPoly)
    private static let info = Data("runway sealed key 1".utf8)

    /// Encrypts a caller's secret to a server, for one request.
    ///
    /// Throws a ``SignatureError`` if an identifier has characters that the field cannot have, and what swift-crypto throws.
    public init(
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

    /// Reads the field `Runway-Sealed-Key`. Throws a ``SignatureError`` if it is absent or malformed.
    public init(_ fields: HTTPFields) throws(SignatureError) {
        let field = "runway-sealed-key"
        let pairs = try FieldPairs(fields[values: .runwaySealedKey], names: ["v", "to", "enc", "box"], field: field)
        guard Self.isID(String(pairs["to"])), let key = Base64.decodedForURL(pairs["enc"]), key.count == 32,
            let box = Base64.decodedForURL(pairs["box"])
        else { throw SignatureError(.invalidValue, field) }
        (serverKeyID, encapsulatedKey, self.box) = (String(pairs["to"]), key, box)
    }

    /// The value of the field `Runway-Sealed-Key`.
    public var fieldValue: String {
        "v=1, to=\(serverKeyID), enc=\(Base64.encodedForURL(encapsulatedKey)), box=\(Base64.encodedForURL(box))"
    }

    /// Decrypts the caller with the server's key. Throws a ``SignatureError`` if it was sealed to another key or for another
    /// request.
    public func open(
        with serverKey: Curve25519.KeyAgreement.PrivateKey, for request: CanonicalRequest
    ) throws(SignatureError) -> Caller {
        do {
            var recipient = try HPKE.Recipient(
                privateKey: serverKey, ciphersuite: Self.suite, info: Self.info, encapsulatedKey: Data(encapsulatedKey))
            let plain = try recipient.open(box, authenticating: request.bytes)
            guard let end = plain.firstIndex(of: UInt8(ascii: "\n")) else {
                throw SignatureError(.invalidKey, "the box")
            }
            let id = String(decoding: plain[..<end], as: UTF8.self)
            guard Self.isID(id) else { throw SignatureError(.invalidKey, "the box") }
            return Caller(id: id, secret: SymmetricKey(data: plain[end...].dropFirst()))
        } catch {
            throw SignatureError(.invalidKey, "the box")
        }
    }

    private static func isID(_ text: String) -> Bool { SaltedDigest.isKeyID(text[...]) }
}
