public import Crypto

/// Nonces that a server issues and later recognises without storing them: each contains its issue time and a MAC.
///
/// Use them for clients whose clocks are wrong. A refusal requests a signature with such a nonce (`Accept-Signature`).
/// The age of the signature is then computed from the server's time in the nonce, instead of `created` and `expires` by
/// the client's clock. The nonce is accepted only once, like any other.
///
/// An issued nonce begins with `s1.`. A nonce with this prefix that was issued with another key is refused as
/// ``SignatureRefusal/Reason/nonceUnknown``; it never counts as a client's own nonce. Clients whose own nonces begin
/// with `s1.` are therefore not supported. The key must survive restarts, and all servers behind one name must share
/// it: otherwise, nonces from before a restart or from another server are refused.
public struct ServerNonces: Sendable {
    private let key: SymmetricKey

    /// The prefix of every issued nonce, with the version of the format.
    private static let prefix = "s1."

    /// - Parameter key: The key of the MACs. It must persist, and all servers behind one name must share it. The
    ///   default is a random key for a single server, whose issued nonces become invalid when it restarts.
    public init(key: SymmetricKey = SymmetricKey(size: .bits256)) { self.key = key }

    /// Returns a new nonce: `s1.`, followed in base64url by 8 bytes of time, 16 random bytes, and 16 bytes of the MAC.
    public func issue(at now: UnixTime) -> String { issue(at: now, for: "") }

    /// Returns a new nonce for one purpose. It is invalid for any other purpose.
    package func issue(at now: UnixTime, for purpose: String) -> String {
        let time = withUnsafeBytes(of: now.seconds.bigEndian) { Array($0) }
        let content = time + SymmetricKey(size: .bits128).withUnsafeBytes { Array($0) }
        return Self.prefix + Base64.encodedForURL(content + authenticationCode(of: content, for: purpose))
    }

    /// Returns whether a nonce has the format of issued nonces, with any key.
    static func isIssued(_ nonce: String) -> Bool { nonce.utf8.starts(with: prefix.utf8) }

    /// Returns the time when a nonce was issued, or `nil` if it was not issued with this key and for this purpose.
    package func time(of nonce: String, for purpose: String = "") -> UnixTime? {
        guard Self.isIssued(nonce), nonce.utf8.count == 57,
            let bytes = Base64.decodedForURL(nonce.dropFirst(Self.prefix.count)), bytes.count == 40
        else { return nil }
        let difference = zip(bytes[24...], authenticationCode(of: Array(bytes[..<24]), for: purpose)).reduce(0 as UInt8)
        {
            $0 | ($1.0 ^ $1.1)
        }
        guard difference == 0 else { return nil }
        return UnixTime(seconds: bytes[..<8].reduce(0 as Int64) { $0 << 8 | Int64($1) })
    }

    /// Derives a secret for another purpose from the key.
    func secret(for purpose: String) -> SymmetricKey {
        SymmetricKey(data: HMAC<SHA256>.authenticationCode(for: Array("secret for \(purpose)".utf8), using: key))
    }

    /// Computes the MAC of a nonce. The content always has 24 bytes, so the purpose can follow it without a separator.
    private func authenticationCode(of content: [UInt8], for purpose: String) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: content + purpose.utf8, using: key).prefix(16))
    }
}

extension ServerNonces: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A text without the key.
    public var description: String { "ServerNonces" }
    /// The same as `description`.
    public var debugDescription: String { description }
    /// A mirror without the key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
