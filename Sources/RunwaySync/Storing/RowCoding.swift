import RunwaySyncCore

/// The row of a file with its history, in few bytes: columns that one operation wrote share their stamp, and names of
/// columns and ids of devices are numbers.
///
/// The form is private to the device's file; it is not that of messages.
enum RowCoding {
    static func encode(_ row: SyncRow, _ names: SyncNames) throws -> [UInt8] {
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
            // Mostly the row's number, and an operation whose id begins with its time.
            writer.signed(row.number - stamp.number)
            writer.number(UInt64(stamp.time.milliseconds))
            writer.number(stamp.time.bits & 0xFFFF)
            let (high, low) = (stamp.operation.high, stamp.operation.low)
            writer.signed(Int64(high >> 16) - stamp.time.milliseconds)
            writer.bits(high, count: 16)
            writer.bits(low, count: 64)
            writer.number(try names.number(of: stamp.device))
        }
        writer.number(UInt64(row.columns.count))
        for ((name, cell), index) in zip(row.columns, indexes) {
            writer.number(try names.number(of: name))
            if stamps.count > 1 { writer.number(UInt64(index)) }
            writer.value(cell.value)
        }
        return writer.bytes
    }

    /// - Throws: ``DamagedRow``, and the errors of the database.
    static func decode(_ bytes: UnsafeRawBufferPointer, _ names: SyncNames) throws -> SyncRow {
        var reader = ByteReader(bytes)
        let (life, number) = (try reader.integer(), try reader.integer())
        let stampCount = try reader.integer()
        var stamps: [Stamp] = []
        for _ in 0..<stampCount {
            let before = try reader.signed()
            let (milliseconds, counter) = (try reader.integer(), try reader.integer())
            guard milliseconds < Int64(1) << 48, counter < 1 << 16,
                let time = HybridTime(bits: UInt64(milliseconds) << 16 | UInt64(counter))
            else { throw DamagedRow() }
            let start = UInt64(bitPattern: try reader.signed() &+ milliseconds)
            let high = start << 16 | (try reader.bits(16))
            let operation = Identifier(high: high, low: try reader.bits(64))
            stamps.append(
                Stamp(
                    number: number &- before, time: time, operation: operation,
                    device: try names.device(reader.integer())))
        }
        var cells: [(String, Cell)] = []
        for _ in 0..<(try reader.integer()) {
            let name = try names.column(reader.integer())
            let index = stampCount > 1 ? try reader.integer() : 0
            guard index < stamps.count else { throw DamagedRow() }
            cells.append((name, Cell(try reader.value(), stamps[Int(index)])))
        }
        return SyncRow(life: life, number: number, columns: Columns(cells: cells))
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

    mutating func signed(_ number: Int64) { self.number(UInt64(bitPattern: number << 1 ^ number >> 63)) }

    /// Writes the lowest bits of a word.
    mutating func bits(_ word: UInt64, count: Int) {
        withUnsafeBytes(of: word.littleEndian) { bytes.append(contentsOf: $0.prefix(count / 8)) }
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
            signed(integer)
        case .real(let real):
            bytes.append(2)
            bits(real.bitPattern, count: 64)
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

    mutating func signed() throws(DamagedRow) -> Int64 {
        let number = try number()
        return Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
    }

    mutating func bits(_ count: Int) throws(DamagedRow) -> UInt64 {
        guard bytes.count - index >= count / 8 else { throw DamagedRow() }
        defer { index += count / 8 }
        return bytes[index..<index + count / 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

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
        case 1: return .integer(try signed())
        case 2: return .real(Double(bitPattern: try bits(64)))
        case 3: return .text(try text())
        case 4: return .bytes(Array(try part()))
        default: throw DamagedRow()
        }
    }
}
