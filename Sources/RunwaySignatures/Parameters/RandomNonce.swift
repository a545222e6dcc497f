import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

extension SignatureParameters {
    /// Returns a nonce for one signature: 128 random bits of the system's generator, as 32 lowercase hexadecimal
    /// digits.
    public static func randomNonce() -> String { RandomNonce().text }
}

/// A nonce for one signature: 128 random bits of the system's generator.
///
/// The bits of sixteen nonces are requested from the system at once. If a process forks without running another
/// program, parent and child can have the same nonces. The second use of a nonce is refused.
package struct RandomNonce: Sendable, Hashable {
    private let high: UInt64
    private let low: UInt64

    /// Guards random numbers that are not used yet.
    private static let numbers = Mutex<[UInt64]>([])

    /// Creates a nonce with 128 random bits.
    package init() {
        (high, low) = Self.numbers.withLock { numbers in
            if numbers.isEmpty { numbers = Self.randomNumbers() }
            return (numbers.removeLast(), numbers.removeLast())
        }
    }

    /// The 16 bytes of the nonce.
    package var bytes: [UInt8] { withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Array($0) } }

    /// The nonce as 32 lowercase hexadecimal digits.
    package var text: String {
        String(upTo: 32) { text in
            text.append(count: 32) { digits in
                for index in 0..<16 {
                    digits[index] = Self.digit(high >> (60 - 4 * index))
                    digits[16 + index] = Self.digit(low >> (60 - 4 * index))
                }
            }
        }
    }

    /// Returns the hexadecimal digit of a number's last four bits.
    private static func digit(_ number: UInt64) -> UInt8 {
        let value = UInt8(truncatingIfNeeded: number & 15)
        return value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") - 10 + value
    }

    private static func randomNumbers() -> [UInt64] {
        [UInt64](unsafeUninitializedCapacity: 32) { numbers, count in
            count = numbers.count
            #if canImport(Glibc) || canImport(Musl)
                // `SystemRandomNumberGenerator` calls the system for each number. One call can return at most 256
                // bytes.
                let memory = UnsafeMutableRawBufferPointer(numbers)
                if let address = memory.baseAddress, getentropy(address, memory.count) == 0 { return }
            #endif
            var generator = SystemRandomNumberGenerator()
            for index in numbers.indices { numbers.initializeElement(at: index, to: generator.next()) }
        }
    }
}
