/// Any object that stands for rows: a struct, a class, a view or a cell. It writes its values, and reads them.
///
/// ```swift
/// extension TaskCell: @MainActor VirtualRecord {
///     func write(to draft: inout Draft) { draft[Tasks.title] = titleLabel.text }
///     func read(from draft: Draft) { titleLabel.text = draft[Tasks.title] }
/// }
/// ```
///
/// It has no connection, and no method that saves: a type above the tables writes what a record gives. One record may
/// stand over several tables, and knows only the columns that it has. Which type comes out of a read is chosen at the
/// read.
public protocol VirtualRecord {
    /// Writes the record's values. A column that it does not know stays absent, and is not changed by a save.
    func write(to draft: inout Draft)

    /// Takes values. An absent value leaves what the record has only if the record says so.
    mutating func read(from draft: Draft)
}

extension VirtualRecord {
    /// Takes only the values that the record does not have: those that it does not write.
    public mutating func fill(from draft: Draft) {
        var filled = Draft(self)
        filled.merge(draft, overriding: false)
        read(from: filled)
    }

    /// Takes values; a former value stays if it has no other.
    public mutating func override(from draft: Draft) {
        var overridden = Draft(self)
        overridden.merge(draft, overriding: true)
        read(from: overridden)
    }
}

extension Sequence {
    /// Makes a record of each row.
    ///
    /// ```swift
    /// let cells = rows.records { TaskCell() }
    /// ```
    ///
    /// - Parameter make: Makes an empty record: of which type is chosen here.
    public func records<Table, Record: VirtualRecord>(as make: () -> Record) -> [Record]
    where Element == Values<Table> {
        map { row in
            var record = make()
            record.read(from: Draft(row))
            return record
        }
    }

    /// Makes a record of each draft, which may have the values of several tables.
    public func records<Record: VirtualRecord>(as make: () -> Record) -> [Record] where Element == Draft {
        map { draft in
            var record = make()
            record.read(from: draft)
            return record
        }
    }
}
