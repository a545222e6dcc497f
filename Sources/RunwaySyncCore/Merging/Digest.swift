/// A number that two copies of a space have in common if their rows are equal: the sum of a hash of each row (rule 15).
///
/// A change of a row replaces one summand, so that the server and the devices compute it without reading the others. It
/// covers tombstones, and rows and columns that a device can't show. It finds mistakes; it is no protection.
package struct Digest: Hashable, Sendable {
    package private(set) var sum: UInt64

    /// - Parameter sum: The default is the digest of an empty space.
    package init(sum: UInt64 = 0) { self.sum = sum }

    /// Replaces a row.
    package mutating func replace(_ key: RowKey, _ former: Row, by row: Row) {
        sum = sum &- Self.hash(key, former) &+ Self.hash(key, row)
    }

    /// Returns the hash of a row: FNV-1a of its key, its life and its columns in the order of their names, mixed once
    /// more, so that every bit depends on all bytes. The hash of a row that never existed is 0.
    private static func hash(_ key: RowKey, _ row: Row) -> UInt64 {
        if row.life == 0 { return 0 }
        var hash = Hash()
        hash.add(text: key.table)
        hash.add(key.id.high)
        hash.add(key.id.low)
        hash.add(UInt64(bitPattern: row.life))
        for (name, cell) in row.columns {
            hash.add(text: name)
            switch cell.value {
            case .null: hash.add(byte: 0)
            case .integer(let number):
                hash.add(byte: 1)
                hash.add(UInt64(bitPattern: number))
            case .real(let number):
                hash.add(byte: 2)
                // Zero has two signs, which are equal.
                hash.add(number == 0 ? 0 : number.bitPattern)
            case .text(let text):
                hash.add(byte: 3)
                hash.add(text: text)
            case .bytes(let bytes):
                hash.add(byte: 4)
                hash.add(UInt64(bytes.count))
                for byte in bytes { hash.add(byte: byte) }
            }
        }
        return hash.mixed
    }

    private struct Hash {
        private var state: UInt64 = 0xCBF2_9CE4_8422_2325

        mutating func add(byte: UInt8) { state = (state ^ UInt64(byte)) &* (0x100_0000_01B3 as UInt64) }

        /// Adds eight bytes, the highest first.
        mutating func add(_ word: UInt64) {
            for shift in stride(from: 56 as UInt64, through: 0, by: -8) {
                add(byte: UInt8(truncatingIfNeeded: word >> shift))
            }
        }

        /// Adds the number of bytes of a text, and the text.
        mutating func add(text: String) {
            var text = text
            text.withUTF8 { bytes in
                add(UInt64(bytes.count))
                for byte in bytes { add(byte: byte) }
            }
        }

        var mixed: UInt64 {
            let first = (state ^ state >> 33) &* (0xFF51_AFD7_ED55_8CCD as UInt64)
            let second = (first ^ first >> 33) &* (0xC4CE_B9FE_1A85_EC53 as UInt64)
            return second ^ second >> 33
        }
    }
}
