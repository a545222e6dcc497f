public import Runway

/// A reformer for the network and the disk. It reads the rows of a response, and makes the same value for a view
/// whether the rows come from a response or from a table.
///
/// ```swift
/// struct RentalRows: RowReformer {
///     func drafts(in rawData: RawData, from endpoint: any Endpoint) throws -> [Draft] {
///         try rawData["items"].require([JSONValue].self).map { item in
///             var draft = Draft()
///             draft[Rentals.id] = try item["id"].require()
///             draft[Rentals.title] = try item["title"].require()
///
///             return draft
///         }
///     }
///
///     func reform(_ drafts: [Draft]) -> [String] { drafts.map { $0[Rentals.title] ?? "" } }
/// }
///
/// let fetched = try manager.fetch(RentalRows())                                   // from the network
/// let landing = network.land(RentalList.self, in: store, by: RentalRows())        // from there into the table
/// let stored = store.observe(by: RentalRows()) { try $0.fetch(Rentals.self) }     // from the disk
/// ```
public protocol RowReformer<Value>: Reformer {
    /// The type of the value that the reformer returns.
    associatedtype Value

    /// Returns the rows of a response, in their order. A draft may have rows of several tables.
    ///
    /// Rows that land in a table need their keys, and values of all columns that the table requires. Columns without
    /// a value stay as they are.
    ///
    /// - Throws: Any error; nothing of the response lands in a table.
    func drafts(in rawData: RawData, from endpoint: any Endpoint) throws -> [Draft]

    /// Returns the value for a view.
    ///
    /// - Throws: Any error; an observation ends with it, and `fetch` of a manager throws it in a `NetworkError`.
    func reform(_ drafts: [Draft]) throws -> Value
}

extension RowReformer {
    /// Returns the value for a view of a response.
    public func reform(_ rawData: RawData, from endpoint: any Endpoint) throws -> Value {
        try reform(drafts(in: rawData, from: endpoint))
    }

    /// Returns the value for a view of rows of one table.
    public func reform<Table>(_ rows: [Values<Table>]) throws -> Value { try reform(rows.map { Draft($0) }) }
}

extension RecordStore {
    /// Observes rows, and delivers a value that a reformer makes of them. The reformer runs off the main actor.
    ///
    /// - Parameters:
    ///   - reformer: Makes the value. If it throws, the observation ends with its error.
    ///   - fetch: Reads the rows, as in ``observe(_:)``.
    @MainActor public func observe<Table, R: RowReformer & Sendable>(
        by reformer: R, _ fetch: @escaping @Sendable (TableReader) throws -> [Values<Table>]
    ) -> Observed<R.Value> where R.Value: Sendable {
        observe(fetch, reforming: { try reformer.reform($0) }, converting: { $0 })
    }

    /// Observes drafts, each of which may have the values of several tables, and delivers a value that a reformer makes
    /// of them. The reformer runs off the main actor.
    @MainActor public func observe<R: RowReformer & Sendable>(
        by reformer: R, _ fetch: @escaping @Sendable (TableReader) throws -> [Draft]
    ) -> Observed<R.Value> where R.Value: Sendable {
        observe(fetch, reforming: { try reformer.reform($0) }, converting: { $0 })
    }
}
