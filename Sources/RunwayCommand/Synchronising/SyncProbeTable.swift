import Foundation
import RunwayJSON
import RunwaySync
import RunwaySyncCore
import RunwayTables

/// The table of `runway sync-probe`.
enum ProbeItems: SyncedTable {
    static let name = "item"
    static let id = Column<UUID>("id"), space = Column<UUID>("space")
    static let a = Column<String?>("a"), b = Column<String?>("b"), c = Column<String?>("c")
    static let n = Column<Int64?>("n"), rank = Column<String?>("rank")
    static let columns = TableColumns<Self>(id, space, a, b, c, n, rank)
    static let sync = Synced(space: space)
}

/// The error of a line that the probe can't perform.
struct ProbeRefusal: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
}

extension Values<ProbeItems> {
    /// Reads values by column.
    init(_ values: JSONValue) throws(ProbeRefusal) {
        self.init()
        for member in values.members {
            let value = member.value
            switch member.key {
            case "a": self[ProbeItems.a] = try value.probeText
            case "b": self[ProbeItems.b] = try value.probeText
            case "c": self[ProbeItems.c] = try value.probeText
            case "rank": self[ProbeItems.rank] = try value.probeText
            case "n":
                self[ProbeItems.n] = try value.probeInteger
            default: throw ProbeRefusal("the table has no column \(member.key)")
            }
        }
    }

    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        for (name, text) in [
            ("a", self[ProbeItems.a]), ("b", self[ProbeItems.b]), ("c", self[ProbeItems.c]),
            ("rank", self[ProbeItems.rank]),
        ] {
            writer.name(name)
            if let text { writer.string(text) } else { writer.null() }
        }
        writer.name("n")
        if let number = self[ProbeItems.n] { writer.integer(number) } else { writer.null() }
        writer.endObject()
    }
}

extension JSONValue {
    fileprivate var probeText: String? {
        get throws(ProbeRefusal) {
            guard kind == .null || string != nil else { throw ProbeRefusal("a text column is text or null") }
            return string
        }
    }

    fileprivate var probeInteger: Int64? {
        get throws(ProbeRefusal) {
            guard kind == .null || int64 != nil else { throw ProbeRefusal("n is an integer or null") }
            return int64
        }
    }

    /// Reads the condition of a batch: `[["n", "<", 5]]`. An empty array means every row.
    func probeCondition() throws(ProbeRefusal) -> Condition<ProbeItems>? {
        guard kind == .array else { throw ProbeRefusal("where is an array") }
        var condition: Condition<ProbeItems>?
        for term in elements {
            let parts = Array(term.elements)
            guard parts.count == 3, let column = parts[0].string, let comparison = parts[1].string else {
                throw ProbeRefusal("a condition is [column, comparison, constant]")
            }
            let next: Condition<ProbeItems>
            switch column {
            case "n": next = try ProbeItems.n.probeCondition(comparison, parts[2].probeInteger)
            case "a": next = try ProbeItems.a.probeCondition(comparison, parts[2].probeText)
            case "b": next = try ProbeItems.b.probeCondition(comparison, parts[2].probeText)
            case "c": next = try ProbeItems.c.probeCondition(comparison, parts[2].probeText)
            case "rank": next = try ProbeItems.rank.probeCondition(comparison, parts[2].probeText)
            default: throw ProbeRefusal("the table has no column \(column)")
            }
            condition = condition.map { $0 && next } ?? next
        }
        return condition
    }
}

extension TableColumn where Table == ProbeItems {
    fileprivate func probeCondition<Wrapped: ColumnValue & Comparable>(
        _ comparison: String, _ constant: Wrapped?
    ) throws(ProbeRefusal) -> Condition<ProbeItems> where Value == Wrapped? {
        switch (comparison, constant) {
        case ("=", _): return self == constant
        case ("!=", _): return self != constant
        case ("<", let constant?): return self < constant
        case ("<=", let constant?): return self <= constant
        case (">", let constant?): return self > constant
        case (">=", let constant?): return self >= constant
        default: throw ProbeRefusal("there is no comparison \(comparison) with this constant")
        }
    }
}

/// The texts of rows that are not readable from their UUIDs. They travel with the rows, so that every device shows a
/// row by its text.
enum ProbeNames: SyncedTable {
    static let name = "itemName"
    static let id = Column<UUID>("id"), space = Column<UUID>("space"), text = Column<String>("text", default: "")
    static let columns = TableColumns<Self>(id, space, text)
    static let sync = Synced(space: space)
}

/// The text of a row or a space as a UUID, which is the same on every device.
///
/// A UUID in lower case is itself, and a text of at most 13 bytes is readable from its UUID. The UUID of another text
/// is a hash.
enum ProbeName {
    static func identifier(of text: String) -> UUID {
        if let id = UUID(uuidString: text), self.text(of: id) == text { return id }
        let bytes = Array(text.utf8)
        if bytes.count > 13 {
            let id = Identifier.version5(of: bytes, in: Identifier(high: 0, low: 0))
            return UUID(uuidString: id.description) ?? UUID()
        }
        // A UUID of version 8 (RFC 9562 §5.8): the length is beside the version.
        var id = bytes + Array(repeating: 0, count: 13 - bytes.count)
        id.insert(0x80 | UInt8(bytes.count), at: 6)
        id.insert(contentsOf: [0x80, 0], at: 8)
        return id.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    /// Returns the readable text of a UUID, or the UUID in lower case if it is not one of ``identifier(of:)``.
    static func text(of id: UUID) -> String {
        var bytes = withUnsafeBytes(of: id.uuid) { Array($0) }
        let (description, count) = (id.uuidString.lowercased(), Int(bytes[6] & 0xF))
        guard bytes[6] >> 4 == 8, bytes[8] == 0x80, bytes[9] == 0 else { return description }
        bytes.removeSubrange(8...9)
        bytes.remove(at: 6)
        guard bytes.dropFirst(count).allSatisfy({ $0 == 0 }) else { return description }
        return String(validating: bytes.prefix(count), as: UTF8.self) ?? description
    }

    /// Returns the values that store the text of a row; `nil` if it is readable from the UUID.
    static func values(of text: String, in space: UUID) -> Values<ProbeNames>? {
        let id = identifier(of: text)
        if self.text(of: id) == text { return nil }
        var values = Values<ProbeNames>()
        (values[ProbeNames.id], values[ProbeNames.space], values[ProbeNames.text]) = (id, space, text)
        return values
    }
}
