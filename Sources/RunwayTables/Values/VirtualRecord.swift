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
/// A record has no connection to the file, and no method that saves it: a ``DataCenter``, for example, writes its
/// values. One record may represent rows of several tables, and has only the columns that it needs. Code that reads
/// rows chooses the type of their records.
public protocol VirtualRecord {
    /// Writes the record's values to a draft. Columns that the record does not write stay absent, and a save does not
    /// change them.
    func write(to draft: inout Draft)

    /// Reads values from a draft, whose subscript returns `nil` for an absent value. To leave a property unchanged if
    /// its value is absent, check ``Draft/contains(_:)``, or have callers use ``override(from:)``.
    mutating func read(from draft: Draft)
}

extension VirtualRecord {
    /// Reads only those values of a draft that the record lacks. A record has the values that ``write(to:)`` writes.
    public mutating func fill(from draft: Draft) {
        var filled = Draft(self)
        filled.merge(draft, overriding: false)
        read(from: filled)
    }

    /// Reads the values of a draft. A value of the record stays if it is absent in the draft.
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
