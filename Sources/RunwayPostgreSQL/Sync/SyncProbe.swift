#if PostgreSQL
    import RunwayServer
    import RunwaySyncCore

    /// Finds out what requests read first, so that it is loaded together. A request that runs over it ends at its first
    /// read of rows or records, and changes nothing.
    final class SyncProbe: SyncTables {
        private struct End: Error {}

        let history: History
        let now: Int64
        /// The devices, transactions and rows that the requests read.
        private(set) var needs = SpaceNeeds()

        init(history: History, now: Int64) { (self.history, self.now) = (history, now) }

        func content(for needs: SpaceNeeds) throws -> SpaceContent {
            self.needs.devices.formUnion(needs.devices)
            self.needs.transactions.formUnion(needs.transactions)
            self.needs.rows.formUnion(needs.rows)
            throw End()
        }

        /// Returns `nil`, as for an unknown device, so that the request goes on.
        func subject(of device: Identifier) -> String? {
            needs.devices.insert(device)
            return nil
        }

        /// Returns 0, so that the request goes on.
        func deviceCount(of subject: String, upTo limit: Int) -> Int { 0 }

        func waitingRowCount(of subject: String, upTo limit: Int) throws -> Int { throw End() }
        func save(_ changes: SpaceContent) throws { throw End() }
        func setSubject(_ subject: String, of device: Identifier) throws { throw End() }
        func devices(after device: Identifier?, limit: Int) throws -> [Identifier] { throw End() }
        func mark(of number: Int64) throws -> LogMark? { throw End() }
        func removeEntries(through number: Int64) throws { throw End() }
        func notifyHook(of commit: SyncCommit) throws { throw End() }
    }
#endif
