import Crypto

/// HMAC with SHA-256 (RFC 2104) by a secret whose two blocks are hashed in advance, since they are the same for every message.
///
/// `HMAC<SHA256>` of swift-crypto is generic code that is not specialised for its hash.
struct KeyedSHA256: Sendable {
    /// The hash of the inner block of the secret, to which a message is added.
    private let inner: SHA256
    /// The hash of the outer block of the secret, to which the inner hash is added.
    private let outer: SHA256

    init(_ secret: SymmetricKey) {
        (inner, outer) = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: SHA256.blockByteCount) { block in
            block.initialize(repeating: 0)
            secret.withUnsafeBytes { secret in
                if secret.count <= block.count {
                    _ = block.update(fromContentsOf: secret)
                } else {
                    var hash = SHA256()
                    hash.update(bufferPointer: secret)
                    hash.finalize().withUnsafeBytes { _ = block.update(fromContentsOf: $0) }
                }
            }
            func padded(_ byte: UInt8) -> SHA256 {
                for index in block.indices { block[index] ^= byte }
                defer { for index in block.indices { block[index] ^= byte } }
                var hash = SHA256()
                hash.update(bufferPointer: UnsafeRawBufferPointer(block))
                return hash
            }
            defer { block.update(repeating: 0) }
            return (padded(0x36), padded(0x5C))
        }
    }

    /// The code of a message, of 32 bytes.
    func code(of message: [UInt8]) -> [UInt8] {
        var (inner, outer) = (inner, outer)
        message.withUnsafeBytes { inner.update(bufferPointer: $0) }
        inner.finalize().withUnsafeBytes { outer.update(bufferPointer: $0) }
        return outer.finalize().withUnsafeBytes { Array($0) }
    }

    /// Whether a code is that of a message. Compares in constant time.
    func isValid(_ code: [UInt8], of message: [UInt8]) -> Bool {
        ConstantTime.areEqual(code, self.code(of: message))
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

/// Comparisons whose time shows nothing of the values.
enum ConstantTime {
    /// Whether two values are equal. The time depends on their lengths alone.
    static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
