import GRDB
import RunwayJSON

/// The values of one row, or of a part of it, without the type of the table.
struct RowValues: Sendable {
    /// The value of one column.
    enum Slot: Sendable, Hashable {
        case absent
        /// A value that can't be stored without loss. A write of it is refused.
        case unstorable
        case stored(DatabaseValue)

        var stored: DatabaseValue? { if case .stored(let value) = self { value } else { nil } }
        var isAbsent: Bool { if case .absent = self { true } else { false } }
    }

    let layout: TableLayout
    /// One for each column, in the order of the layout.
    var slots: [Slot]

    init(_ layout: TableLayout) {
        self.layout = layout
        slots = Array(repeating: .absent, count: layout.columns.count)
    }

    /// The positions of the columns that have a value.
    var positions: [Int] { slots.indices.filter { !slots[$0].isAbsent } }

    /// Returns the values of the key.
    ///
    /// - Throws: ``TableError/Kind/rejected`` if one is absent.
    func key() throws -> [DatabaseValue] {
        try (0..<layout.keyCount).map { position in
            guard let value = slots[position].stored, !value.isNull else {
                throw TableError(.rejected, "A row of \(layout.name) has no \(layout.columns[position].name), its key.")
            }
            return value
        }
    }

    /// Takes the values of another row of the same table.
    mutating func merge(_ other: RowValues, overriding: Bool) {
        for position in slots.indices where !other.slots[position].isAbsent {
            if overriding || slots[position].isAbsent { slots[position] = other.slots[position] }
        }
    }

    /// The values, with secrets redacted.
    var description: String {
        let texts = positions.map { position in
            let column = layout.columns[position]
            let text =
                switch slots[position] {
                case .absent: ""
                case .unstorable: "a value that can't be stored"
                case .stored(let value): column.isSecret && !value.isNull ? JSONRedaction.mask : value.description
                }
            return "\(column.name): \(text)"
        }
        return "\(layout.name)(\(texts.joined(separator: ", ")))"
    }
}

extension RowValues: Hashable {
    static func == (first: RowValues, second: RowValues) -> Bool {
        first.layout === second.layout && first.slots == second.slots
    }

    func hash(into hasher: inout Hasher) { hasher.combine(slots) }
}
