/// Any object that represents rows: a struct, a class, a view or a cell. It writes its values to a draft, and reads
/// them from one.
///
/// ```swift
/// extension TaskCell: @MainActor VirtualRecord {
///     func write(to draft: inout Draft) { draft[Tasks.title] = titleLabel.text }
///     func read(from draft: Draft) { titleLabel.text = draft[Tasks.title] }
/// }
/// ```
///
/// A record has no connection to the file, and no method that saves: a type above the tables writes the record's
/// values. One record may represent rows of several tables, and has only the columns that it needs. The type of the
/// records is chosen where they are read.
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
    /// - Parameter make: Makes an empty record. It determines the type of the records.
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
