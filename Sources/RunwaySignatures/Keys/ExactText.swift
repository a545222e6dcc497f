import Foundation

/// A text that equals another only if both have the same UTF-8 bytes, as texts in databases and signatures do.
///
/// `String` compares by canonical equivalence: "é" equals "e" with a combining accent. For identifiers of keys,
/// accounts, devices and members, this could show one client the data of another. Stores in memory use this type for
/// their keys.
package struct ExactText: Sendable, Hashable, Comparable {
    package let text: String

    package init(_ text: String) { self.text = text }

    package static func == (left: ExactText, right: ExactText) -> Bool {
        left.withBytes { left in
            right.withBytes { right in
                guard left.count == right.count else { return false }
                // An empty buffer may have no base address.
                guard let first = left.baseAddress, let second = right.baseAddress else { return true }
                return memcmp(first, second, left.count) == 0
            }
        }
    }

    /// Compares the bytes, as SQLite does.
    package static func < (left: ExactText, right: ExactText) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        withBytes { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        // UTF-8 never contains this byte, so it separates the text from values that are hashed next.
        hasher.combine(0xFF as UInt8)
    }

    private func withBytes<Value>(_ body: (UnsafeBufferPointer<UInt8>) -> Value) -> Value {
        if let value = text.utf8.withContiguousStorageIfAvailable(body) { return value }
        var native = text
        return native.withUTF8(body)
    }
}

extension String {
    /// Returns whether both texts have the same bytes; see ``ExactText``.
    package func isExactly(_ other: String?) -> Bool { other.map { ExactText($0) == ExactText(self) } ?? false }
}
