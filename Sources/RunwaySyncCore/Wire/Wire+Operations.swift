package import RunwayJSON

extension ChainEnd: WireCodable {
    package func write(to writer: inout JSONWriter) {
        writer.object {
            $0.member("number", number)
            $0.member("operation", ifPresent: operation)
        }
    }

    package init(_ value: JSONValue) throws(WireError) {
        try self.init(number: value.read("number"), operation: value.readIfPresent("operation"))
    }
}

extension Basis: WireCodable {
    package func write(to writer: inout JSONWriter) {
        writer.object {
            $0.member("epoch", epoch)
            $0.member("number", number)
        }
    }

    package init(_ value: JSONValue) throws(WireError) {
        try self.init(epoch: value.read("epoch"), number: value.read("number"))
    }
}

extension Operation: WireCodable {
    package func write(to writer: inout JSONWriter) {
        writer.object {
            $0.member("id", id)
            switch action {
            case .insert(let key, let life, let values): $0.write("insert", key, life, values)
            case .update(let key, let life, let values): $0.write("update", key, life, values)
            case .delete(let key, let life, let space):
                $0.write("delete", key, life, nil)
                $0.member("movedTo", ifPresent: space)
            case .batch(let batch): $0.member("batch", batch)
            case .void: $0.flag("void", true)
            }
        }
    }

    package init(_ value: JSONValue) throws(WireError) {
        let id: Identifier = try value.read("id")
        if let key: RowKey = try value.readIfPresent("insert") {
            try self.init(id: id, action: .insert(key, life: value.read("life"), value.read("values")))
        } else if let key: RowKey = try value.readIfPresent("update") {
            try self.init(id: id, action: .update(key, life: value.read("life"), value.read("values")))
        } else if let key: RowKey = try value.readIfPresent("delete") {
            try self.init(
                id: id, action: .delete(key, life: value.read("life"), movedTo: value.readIfPresent("movedTo")))
        } else if let batch: BatchUpdate = try value.readIfPresent("batch") {
            self.init(id: id, action: .batch(batch))
        } else if try value.readFlag("void") {
            self.init(id: id, action: .void)
        } else {
            throw WireError(value, expected: "an insert, update, delete, batch or void")
        }
    }
}

extension JSONWriter {
    fileprivate mutating func write(_ kind: String, _ key: RowKey, _ life: Int64, _ values: Columns<SyncValue>?) {
        member(kind, key)
        member("life", life)
        member("values", ifPresent: values)
    }
}

extension BatchUpdate: WireCodable {
    package func write(to writer: inout JSONWriter) {
        writer.object {
            $0.text("table", table)
            $0.list("where", conditions)
            $0.member("values", values)
        }
    }

    package init(_ value: JSONValue) throws(WireError) {
        try self.init(
            table: value.member("table").name(), where: value.readList("where", limit: WireBounds.conditions),
            set: value.read("values"))
    }
}

extension BatchUpdate.Condition: WireCodable {
    package func write(to writer: inout JSONWriter) {
        writer.beginArray()
        writer.string(column)
        writer.string(comparison.rawValue)
        constant.write(to: &writer)
        writer.endArray()
    }

    package init(_ value: JSONValue) throws(WireError) {
        let parts = try value.tuple(3)
        guard let comparison = parts[1].string.flatMap(BatchUpdate.Comparison.init) else {
            throw WireError(parts[1], expected: "a comparison")
        }
        try self.init(parts[0].name(), comparison, SyncValue(parts[2]))
    }
}

extension Transaction: WireCodable {
    package func write(to writer: inout JSONWriter) {
        writer.object {
            $0.member("number", number)
            $0.member("previous", ifPresent: previous)
            $0.member("time", time)
            $0.member("basis", basis)
            $0.flag("acknowledged", wasAcknowledged)
            $0.list("operations", operations)
        }
    }

    package init(_ value: JSONValue) throws(WireError) {
        let operations: [Operation] = try value.readList("operations", limit: Self.maximumOperations)
        if operations.isEmpty { throw WireError(value, expected: "an operation") }
        try self.init(
            number: value.read("number"), previous: value.readIfPresent("previous"), time: value.read("time"),
            basis: value.read("basis"), operations: operations)
        wasAcknowledged = try value.readFlag("acknowledged")
    }
}

extension Packet: WireCodable {
    package func write(to writer: inout JSONWriter) {
        writer.object {
            $0.member("device", device)
            $0.list("transactions", transactions)
            $0.member("schema", schema)
        }
    }

    package init(_ value: JSONValue) throws(WireError) {
        try self.init(
            device: value.read("device"), transactions: value.readList("transactions", limit: WireBounds.transactions),
            schema: value.read("schema"))
    }
}
