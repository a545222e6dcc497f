public import Crypto

/// Nonces that a server issues, and recognises without remembering them: each has the time at which it was issued, and a MAC of it.
///
/// For clients whose clocks are far off. A refusal asks for a signature with such a nonce (`Accept-Signature`); its age is then
/// judged by the server's own time in the nonce, and neither `created` nor `expires` of the client's clock. It is accepted once,
/// like any other.
public struct ServerNonces: Sendable {
    private let key: SymmetricKey

    /// - Parameter key: The key of the MACs, which all servers behind one name share. By default a random one.
    public init(key: SymmetricKey = SymmetricKey(size: .bits256)) { self.key = key }

    /// A new nonce: eight bytes of time, 16 random bytes, and 16 bytes of the MAC, as Base64 for URLs.
    public func issue(at now: UnixTime) -> String {
        let time = withUnsafeBytes(of: now.seconds.bigEndian) { Array($0) }
        let content = time + SymmetricKey(size: .bits128).withUnsafeBytes { Array($0) }
        return Base64.encodedForURL(content + authenticationCode(of: content))
    }

    /// When a nonce was issued. `nil` if it was not issued with this key.
    func time(of nonce: String) -> UnixTime? {
        guard nonce.utf8.count == 54, let bytes = Base64.decodedForURL(nonce), bytes.count == 40 else { return nil }
        let difference = zip(bytes[24...], authenticationCode(of: Array(bytes[..<24]))).reduce(0 as UInt8) {
            $0 | ($1.0 ^ $1.1)
        }
        guard difference == 0 else { return nil }
        return UnixTime(seconds: bytes[..<8].reduce(0 as Int64) { $0 << 8 | Int64($1) })
    }

    private func authenticationCode(of content: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: content, using: key).prefix(16))
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
