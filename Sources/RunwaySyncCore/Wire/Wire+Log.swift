package import RunwayJSON

extension Cursor: WireCodable {
    package func write(to writer: inout JSONWriter) {
        writer.object {
            $0.member("epoch", epoch)
            $0.member("number", number)
            $0.member("tag", HexWord(tag))
        }
    }

    package init(_ value: JSONValue) throws(WireError) {
        try self.init(
            epoch: value.read("epoch"), number: value.read("number"), tag: value.read("tag", as: HexWord.self).word)
    }
}

extension Digest: WireCodable {
    package func write(to writer: inout JSONWriter) { HexWord(sum).write(to: &writer) }
    package init(_ value: JSONValue) throws(WireError) { try self.init(sum: HexWord(value).word) }
}

/// The cells of a row, grouped by their stamp, since a row mostly has one or two: `[number, time, operation, device,
/// {values}]`.
struct CellGroup: WireCodable {
    let stamp: Stamp
    var values: Columns<SyncValue> = [:]

    /// Groups cells in the order of the first column of each group.
    static func list(_ columns: Columns<Cell>) -> [CellGroup] {
        var groups: [CellGroup] = []
        for (name, cell) in columns {
            let index = groups.firstIndex { $0.stamp.isSame(as: cell.stamp) } ?? groups.endIndex
            if index == groups.endIndex { groups.append(CellGroup(stamp: cell.stamp)) }
            groups[index].values[name] = cell.value
        }
        return groups
    }

    private init(stamp: Stamp) { self.stamp = stamp }

    func write(to writer: inout JSONWriter) {
        writer.beginArray()
        stamp.number.write(to: &writer)
        stamp.time.write(to: &writer)
        stamp.operation.write(to: &writer)
        stamp.device.write(to: &writer)
        values.write(to: &writer)
        writer.endArray()
    }

    init(_ value: JSONValue) throws(WireError) {
        let parts = try value.tuple(5)
        stamp = try Stamp(
            number: Int64(parts[0]), time: HybridTime(parts[1]), operation: Identifier(parts[2]),
            device: Identifier(parts[3]))
        values = try Columns(parts[4])
    }
}

extension Stamp {
    fileprivate func isSame(as other: Stamp) -> Bool {
        number == other.number && time == other.time && operation == other.operation && device == other.device
    }
}

extension JSONValue {
    /// Returns the cells of a member; none if it is absent.
    fileprivate func readCells(_ name: String) throws(WireError) -> Columns<Cell> {
        var cells: Columns<Cell> = [:]
        guard let list = memberIfPresent(name) else { return cells }
        for group: CellGroup in try list.readElements(limit: WireBounds.columns) {
            for (name, value) in group.values {
                guard cells[name] == nil, cells.count < WireBounds.columns else {
                    throw WireError(self, expected: "at most \(WireBounds.columns) columns, each once")
                }
                cells[name] = Cell(value, group.stamp)
            }
        }
        return cells
    }
}

extension Row: WireCodable {
    package func write(to writer: inout JSONWriter) { writer.object { write(members: &$0) } }

    fileprivate func write(members writer: inout JSONWriter) {
        writer.member("life", life)
        writer.member("number", number)
        if !columns.isEmpty { writer.list("cells", CellGroup.list(columns)) }
    }

    package init(_ value: JSONValue) throws(WireError) {
        try self.init(
            life: value.read("life"), number: value.read("number"), columns: value.readCells("cells"))
        if !isLive, !columns.isEmpty { throw WireError(value, expected: "a tombstone without columns") }
    }
}

extension KeyedRow: WireCodable {
    package func write(to writer: inout JSONWriter) {
        writer.object {
            $0.member("key", key)
            row.write(members: &$0)
        }
    }

    package init(_ value: JSONValue) throws(WireError) { try self.init(value.read("key"), Row(value)) }
}

extension RowChange: WireCodable {
    package func write(to writer: inout JSONWriter) {
        writer.object {
            $0.member("key", key)
            $0.member("life", life)
            if !columns.isEmpty { $0.list("cells", CellGroup.list(columns)) }
            if !losers.isEmpty { $0.member("losers", losers) }
            $0.member("movedTo", ifPresent: movedTo)
        }
    }

    package init(_ value: JSONValue) throws(WireError) {
        try self.init(
            key: value.read("key"), life: value.read("life"), columns: value.readCells("cells"),
            losers: value.readIfPresent("losers") ?? [:], movedTo: value.readIfPresent("movedTo"))
    }
}

extension LogEntry: WireCodable {
    /// The largest number of changes of an entry: a batch update changes 10,000 rows, and operations that waited may
    /// come with it.
    package static let maximumChanges = 100_000

    package func write(to writer: inout JSONWriter) { writer.object { write(members: &$0) } }

    fileprivate func write(members writer: inout JSONWriter) {
        writer.member("number", number)
        writer.member("tag", HexWord(tag))
        writer.member("device", device)
        writer.member("transaction", transaction)
        writer.member("end", end)
        writer.list("changes", changes)
    }

    package init(_ value: JSONValue) throws(WireError) {
        try self.init(
            number: value.read("number"), tag: value.read("tag", as: HexWord.self).word, device: value.read("device"),
            transaction: value.read("transaction"), end: value.read("end"),
            changes: value.readList("changes", limit: Self.maximumChanges))
    }
}

extension LogPart: WireCodable {
    package func write(to writer: inout JSONWriter) {
        writer.object {
            entry.write(members: &$0)
            if offset > 0 { $0.member("offset", Int64(offset)) }
            $0.flag("more", !isLast)
        }
    }

    package init(_ value: JSONValue) throws(WireError) {
        let offset: Int64 = try value.readIfPresent("offset") ?? 0
        guard offset <= LogEntry.maximumChanges else { throw WireError(value["offset"], expected: "a smaller offset") }
        try self.init(entry: LogEntry(value), offset: Int(clamping: offset), isLast: !value.readFlag("more"))
    }
}

extension Verdict: WireCodable {
    package func write(to writer: inout JSONWriter) {
        writer.object {
            switch self {
            case .applied(let number): $0.member("applied", number)
            case .conflict(let number): $0.member("conflict", number)
            case .superseded(let head): $0.member("superseded", head)
            case .refused(let refusal, let head):
                $0.member("refused", head)
                $0.text("reason", refusal.name)
            }
        }
    }

    package init(_ value: JSONValue) throws(WireError) {
        if let number: Int64 = try value.readIfPresent("applied") {
            self = .applied(number)
        } else if let number: Int64 = try value.readIfPresent("conflict") {
            self = .conflict(number)
        } else if let head: Int64 = try value.readIfPresent("superseded") {
            self = .superseded(head: head)
        } else {
            self = .refused(try Refusal(name: value.member("reason").name()), head: try value.read("refused"))
        }
    }
}

extension Decision: WireCodable {
    package func write(to writer: inout JSONWriter) {
        writer.object {
            $0.member("transaction", transaction)
            $0.member("number", number)
            $0.member("verdict", verdict)
        }
    }

    package init(_ value: JSONValue) throws(WireError) {
        try self.init(
            transaction: value.read("transaction"), number: value.read("number"), verdict: value.read("verdict"))
    }
}
