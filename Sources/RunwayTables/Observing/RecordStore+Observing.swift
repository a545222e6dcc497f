import GRDB

extension RecordStore {
    /// Observes the result of a read, and delivers the newest one on the main actor.
    ///
    /// - Parameter fetch: Reads on a background thread, now and after each commit that may have changed its result. It
    ///   returns rows, drafts or another value that can be compared. Commits of other processes count, too, if the file
    ///   is shared (``Options/isShared``).
    @MainActor public func observe<Value: Sendable & Equatable>(
        _ fetch: @escaping @Sendable (TableReader) throws -> Value
    ) -> Observed<Value> {
        observe(fetch, converting: { $0 })
    }

    /// Observes rows, and makes a record of each on the main actor. The caller chooses the type of the records.
    ///
    /// - Parameters:
    ///   - make: Makes an empty record.
    ///   - fetch: Reads the rows, as in ``observe(_:)``.
    @MainActor public func observe<Table, Record: VirtualRecord>(
        as make: @escaping @MainActor () -> Record,
        _ fetch: @escaping @Sendable (TableReader) throws -> [Values<Table>]
    ) -> Observed<[Record]> {
        observe(fetch, converting: { $0.records(as: make) })
    }

    /// Observes drafts, each of which may have the values of several tables, and makes a record of each.
    @MainActor public func observe<Record: VirtualRecord>(
        as make: @escaping @MainActor () -> Record, _ fetch: @escaping @Sendable (TableReader) throws -> [Draft]
    ) -> Observed<[Record]> {
        observe(fetch, converting: { $0.records(as: make) })
    }

    /// Observes the result of a read, and delivers a value that is made of it on the main actor.
    ///
    /// - Parameters:
    ///   - fetch: Reads the result, as in ``observe(_:)``.
    ///   - convert: Makes the value that is delivered.
    @MainActor public func observe<Fetched: Sendable & Equatable, Value>(
        _ fetch: @escaping @Sendable (TableReader) throws -> Fetched,
        converting convert: @escaping @MainActor (Fetched) -> Value
    ) -> Observed<Value> {
        observe(fetch, reforming: { $0 }, converting: convert)
    }

    /// Observes the result of a read. `reform` runs on a background thread, for each result that differs from the last.
    @MainActor func observe<Fetched: Sendable & Equatable, Reformed: Sendable, Value>(
        _ fetch: @escaping @Sendable (TableReader) throws -> Fetched,
        reforming reform: @escaping @Sendable (Fetched) throws -> Reformed,
        converting convert: @escaping @MainActor (Reformed) -> Value
    ) -> Observed<Value> {
        Observed { [self, secrets, url] fail, land in
            let queue: DatabaseQueue
            do { queue = try self.queue() } catch {
                fail(error)
                return AnyDatabaseCancellable {}
            }
            return ValueObservation.tracking { try fetch(TableReader($0, secrets)) }
                .removeDuplicates()
                .map(reform)
                .start(in: queue) {
                    fail(TableError($0, at: url) ?? $0)
                } onChange: {
                    land(convert($0))
                }
        }
    }
}
