import Foundation

/// A text that equals another only if both have the same bytes in UTF-8, as texts of databases and signatures do.
///
/// A `String` equals every other with the same characters: "é" equals "e" and a combining accent. Identifiers of keys,
/// accounts, devices and members must not: otherwise one client could find the data of another. A store in memory uses
/// this type for its keys.
package struct ExactText: Sendable, Hashable, Comparable {
    /// The text.
    package let text: String

    /// A text.
    package init(_ text: String) { self.text = text }

    package static func == (left: ExactText, right: ExactText) -> Bool {
        left.withBytes { left in
            right.withBytes { right in
                guard left.count == right.count else { return false }
                // An empty buffer may have no address.
                guard let first = left.baseAddress, let second = right.baseAddress else { return true }
                return memcmp(first, second, left.count) == 0
            }
        }
    }

    /// Compares the bytes, like SQLite.
    package static func < (left: ExactText, right: ExactText) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        withBytes { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        // No text contains this byte: it separates this text from later hashed values.
        hasher.combine(0xFF as UInt8)
    }

    private func withBytes<Value>(_ body: (UnsafeBufferPointer<UInt8>) -> Value) -> Value {
        if let value = text.utf8.withContiguousStorageIfAvailable(body) { return value }
        var native = text
        return native.withUTF8(body)
    }
}

extension String {
    /// Whether this is the same text byte by byte; see ``ExactText``.
    package func isExactly(_ other: String?) -> Bool { other.map { ExactText($0) == ExactText(self) } ?? false }
}
