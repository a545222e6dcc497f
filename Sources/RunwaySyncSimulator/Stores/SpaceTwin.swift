package import RunwaySyncCore

/// A second store of the server, such as a database, which has to agree with the store in memory at each step.
package protocol SpaceTwin {
    /// Runs one transaction on the tables of the space.
    func transaction<Value>(_ body: (inout any SpaceTables) throws -> Value) throws -> Value
    /// Removes entries of the log. The history is saved separately.
    func removeEntries(through number: Int64) throws
    func backUp() throws
    func restore() throws
}

/// The error of two stores that do not agree.
package struct StoreDifference: Error, CustomStringConvertible {
    package let description: String
}

extension SpaceTwin {
    func save(_ fill: (inout SpaceContent) throws -> Void) throws {
        try transaction { tables in
            var changes = SpaceContent()
            try fill(&changes)
            try tables.save(changes)
        }
    }

    /// Handles a request, and compares the response.
    func handle(_ request: SyncRequest, by core: SpaceServer, at now: Int64, expecting first: SyncResponse) throws {
        let second = try transaction { try core.handle(request, at: now, over: &$0).response }
        if first != second { throw StoreDifference(description: "\(request)\n  \(first)\n  \(second)") }
    }

    /// Compares all rows, and the history.
    func compare(with store: MemorySpace) throws {
        var needs = SpaceNeeds()
        needs.rows = Set(store.rows.keys)
        let (content, history) = try transaction { try ($0.content(for: needs), $0.history) }
        guard content.rows == store.rows, history == store.history else {
            throw StoreDifference(description: "the rows or the history")
        }
    }
}
