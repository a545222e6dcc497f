import RunwaySyncCore

/// The row of a file with its history, in few bytes: columns that one operation wrote share their stamp.
///
/// The form is private to the device's file; it is not that of messages.
enum RowCoding {
    static func encode(_ row: SyncRow) -> [UInt8] {
        var writer = ByteWriter()
        writer.number(UInt64(row.life))
        writer.number(UInt64(row.number))
        var stamps: [Stamp] = []
        let indexes = row.columns.map { _, cell in
            if let index = stamps.lastIndex(of: cell.stamp) { return index }
            stamps.append(cell.stamp)
            return stamps.count - 1
        }
        writer.number(UInt64(stamps.count))
        for stamp in stamps {
            writer.number(UInt64(stamp.number))
            writer.word(stamp.time.bits)
            writer.identifier(stamp.operation)
            writer.identifier(stamp.device)
        }
        writer.number(UInt64(row.columns.count))
        for ((name, cell), index) in zip(row.columns, indexes) {
            writer.text(name)
            if stamps.count > 1 { writer.number(UInt64(index)) }
            writer.value(cell.value)
        }
        return writer.bytes
    }

    /// - Throws: ``DamagedRow``.
    static func decode(_ bytes: UnsafeRawBufferPointer) throws(DamagedRow) -> SyncRow {
        var reader = ByteReader(bytes)
        let (life, number) = (try reader.integer(), try reader.integer())
        let stampCount = try reader.integer()
        var stamps: [Stamp] = []
        for _ in 0..<stampCount {
            let number = try reader.integer()
            guard let time = HybridTime(bits: try reader.word()) else { throw DamagedRow() }
            stamps.append(
                Stamp(number: number, time: time, operation: try reader.identifier(), device: try reader.identifier()))
        }
        var cells: [(String, Cell)] = []
        for _ in 0..<(try reader.integer()) {
            let name = try reader.text()
            let index = stampCount > 1 ? try reader.integer() : 0
            guard index < stamps.count else { throw DamagedRow() }
            cells.append((name, Cell(try reader.value(), stamps[Int(index)])))
        }
        return SyncRow(life: life, number: number, columns: Columns(cells))
    }
}

/// The row as the core has it. GRDB has a type of the same name.
typealias SyncRow = RunwaySyncCore.Row

/// The error of a stored row that can't be read: the file is damaged.
struct DamagedRow: Error {}

private struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    init() { bytes.reserveCapacity(160) }

    /// Writes 7 bits in each byte, the low ones first.
    mutating func number(_ number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    mutating func word(_ word: UInt64) { withUnsafeBytes(of: word.littleEndian) { bytes.append(contentsOf: $0) } }

    mutating func identifier(_ identifier: Identifier) {
        word(identifier.high)
        word(identifier.low)
    }

    mutating func text(_ text: String) {
        number(UInt64(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    mutating func value(_ value: SyncValue) {
        switch value {
        case .null: bytes.append(0)
        case .integer(let integer):
            bytes.append(1)
            number(UInt64(bitPattern: integer << 1 ^ integer >> 63))
        case .real(let real):
            bytes.append(2)
            word(real.bitPattern)
        case .text(let value):
            bytes.append(3)
            text(value)
        case .bytes(let value):
            bytes.append(4)
            number(UInt64(value.count))
            bytes.append(contentsOf: value)
        }
    }
}

private struct ByteReader {
    private let bytes: UnsafeRawBufferPointer
    private var index = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    private mutating func number() throws(DamagedRow) -> UInt64 {
        var (number, shift) = (UInt64(0), UInt64(0))
        while true {
            guard index < bytes.count, shift < 64 else { throw DamagedRow() }
            let byte = bytes[index]
            index += 1
            number |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return number }
            shift += 7
        }
    }

    mutating func integer() throws(DamagedRow) -> Int64 {
        guard let integer = Int64(exactly: try number()) else { throw DamagedRow() }
        return integer
    }

    mutating func word() throws(DamagedRow) -> UInt64 {
        guard bytes.count - index >= 8 else { throw DamagedRow() }
        defer { index += 8 }
        return UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
    }

    mutating func identifier() throws(DamagedRow) -> Identifier { Identifier(high: try word(), low: try word()) }

    private mutating func part() throws(DamagedRow) -> UnsafeRawBufferPointer {
        let count = try number()
        guard count <= UInt64(bytes.count - index) else { throw DamagedRow() }
        defer { index += Int(count) }
        return UnsafeRawBufferPointer(rebasing: bytes[index..<index + Int(count)])
    }

    mutating func text() throws(DamagedRow) -> String { String(decoding: try part(), as: UTF8.self) }

    mutating func value() throws(DamagedRow) -> SyncValue {
        guard index < bytes.count else { throw DamagedRow() }
        index += 1
        switch bytes[index - 1] {
        case 0: return .null
        case 1:
            let number = try number()
            return .integer(Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1))
        case 2: return .real(Double(bitPattern: try word()))
        case 3: return .text(try text())
        case 4: return .bytes(Array(try part()))
        default: throw DamagedRow()
        }
    }
}
