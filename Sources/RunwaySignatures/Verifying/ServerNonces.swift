public import Crypto

/// Nonces that a server issues, and recognises without remembering them: each has the time at which it was issued, and
/// a MAC of it.
///
/// Use them for clients whose clocks are far off. A refusal asks for a signature with such a nonce
/// (`Accept-Signature`). Its age is then judged by the server's own time in the nonce, and not by `created` and
/// `expires` of the client's clock. The nonce is accepted only once, like any other.
///
/// An issued nonce begins with `s1.`. A nonce with this prefix that was issued with another key is refused as
/// ``SignatureRefusal/Reason/nonceUnknown``: it never counts as the client's own, whose `created` would apply. Clients
/// whose own nonces begin with `s1.` can therefore not be served. The key must outlive a restart and be the same for
/// all servers behind one name: otherwise nonces that were issued before the restart, or by another server, are
/// refused.
public struct ServerNonces: Sendable {
    private let key: SymmetricKey

    /// Begins every issued nonce, with the version of the format.
    private static let prefix = "s1."

    /// - Parameter key: The key of the MACs, which persists and which all servers behind one name share. By default a
    /// random one, for a single server: it forgets the nonces that it issued when it restarts.
    public init(key: SymmetricKey = SymmetricKey(size: .bits256)) { self.key = key }

    /// Returns a new nonce: `s1.`, and as Base64 for URLs eight bytes of time, 16 random bytes, and 16 bytes of the
    /// MAC.
    public func issue(at now: UnixTime) -> String { issue(at: now, for: "") }

    /// Returns a new nonce for one purpose. It is refused for any other.
    package func issue(at now: UnixTime, for purpose: String) -> String {
        let time = withUnsafeBytes(of: now.seconds.bigEndian) { Array($0) }
        let content = time + SymmetricKey(size: .bits128).withUnsafeBytes { Array($0) }
        return Self.prefix + Base64.encodedForURL(content + authenticationCode(of: content, for: purpose))
    }

    /// Whether a nonce was issued by a server, with whatever key.
    static func isIssued(_ nonce: String) -> Bool { nonce.utf8.starts(with: prefix.utf8) }

    /// Returns the time at which a nonce was issued. `nil` if it was not issued with this key and for this purpose.
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

    /// Returns a secret for another purpose, which is as persistent as the key.
    func secret(for purpose: String) -> SymmetricKey {
        SymmetricKey(data: HMAC<SHA256>.authenticationCode(for: Array("secret for \(purpose)".utf8), using: key))
    }

    /// Computes the MAC of a nonce. The content has 24 bytes; the purpose follows it.
    private func authenticationCode(of content: [UInt8], for purpose: String) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: content + purpose.utf8, using: key).prefix(16))
    }
}

extension ServerNonces: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A text without the key.
    public var description: String { "ServerNonces" }
    /// The same as `description`.
    public var debugDescription: String { description }
    /// A mirror without secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
