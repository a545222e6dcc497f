import Crypto

/// HMAC with SHA-256 (RFC 2104) and a secret. The two blocks that HMAC derives from the secret are hashed in advance,
/// since they are the same for every message.
struct KeyedSHA256: Sendable {
    /// The hash state after the secret. Each message uses a copy.
    private let prepared: HMAC<SHA256>

    init(_ secret: SymmetricKey) { prepared = HMAC(key: secret) }

    /// Returns the 32-byte authentication code of a message.
    func code(of message: [UInt8]) -> [UInt8] { authenticate(message).withUnsafeBytes { Array($0) } }

    /// Returns whether a code authenticates a message. Compares in constant time.
    func isValid(_ code: [UInt8], of message: [UInt8]) -> Bool { authenticate(message) == code }

    private func authenticate(_ message: [UInt8]) -> HMAC<SHA256>.MAC {
        var hash = prepared
        message.withUnsafeBytes { hash.update(data: $0) }
        return hash.finalize()
    }
}

extension KeyedSHA256: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A text without the secret.
    var description: String { "KeyedSHA256" }
    /// The same as `description`.
    var debugDescription: String { description }
    /// A mirror without the hashes of the secret.
    var customMirror: Mirror { Mirror(self, children: []) }
}

/// Comparisons in constant time.
enum ConstantTime {
    /// Returns whether two values are equal. The time depends only on their lengths.
    static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
