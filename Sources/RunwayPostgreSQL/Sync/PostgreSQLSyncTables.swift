#if PostgreSQL
    import Foundation
    import RunwayLibPQ
    import RunwayServer
    import RunwaySyncCore

    /// The tables of one space within a transaction of the database, which several requests share.
    ///
    /// The data that the requests read is loaded together. They are then decided on in memory, one after another, and
    /// their changes are sent together. A request with a hook, or one that reads more than single rows, has its changes
    /// sent separately, after a savepoint, to which the transaction returns if the request fails.
    final class PostgreSQLSyncTables {
        typealias Body = @Sendable (inout any SyncTables) throws -> any Sendable

        private let connection: PostgreSQLConnection
        /// The tenant and the space.
        private let key: [PostgreSQLParameter]
        private let hook: SyncStore.PostgreSQLHook?
        private(set) var history: History
        let now: Int64
        /// The size of all entries of the log that were ever stored.
        private var total: Int64
        private var cache = SyncCache()
        /// The changes of earlier requests that were not sent yet.
        private var unsent = SyncChanges()
        /// The changes of the current request that were not sent yet.
        private var changes = SyncChanges()
        /// Whether the current request has a savepoint.
        private var hasSavepoint = false

        /// Begins to read or to write a space. A writer locks the counter row of the space, and creates it if the space
        /// does not exist.
        ///
        /// - Returns: `nil` if the space does not exist, and is only read.
        static func begin(
            _ access: SyncTransactionAccess, _ tenant: String, _ space: Identifier, hook: SyncStore.PostgreSQLHook?,
            on connection: PostgreSQLConnection
        ) throws(PostgreSQLError) -> PostgreSQLSyncTables? {
            let key = [PostgreSQLParameter.text(tenant), .id(space)]
            let isWriting = access == .writing
            let lock = PostgreSQLCommand(isWriting ? SyncStatements.lockedSpace : SyncStatements.space, key)
            let isolation = isWriting ? SyncStatements.isolation : SyncStatements.readOneMoment
            let time = PostgreSQLCommand(SyncStatements.time)
            var results = try connection.run([PostgreSQLCommand(isolation), lock, time])
            if results[1].count == 0, isWriting {
                let history = History(epoch: Identifier(UUID())).encoded()
                let begin = PostgreSQLCommand(SyncStatements.begin, key + [.bytes(history)])
                results = try connection.run([begin, lock, time])
            }
            guard let history = results[1].count == 0 ? nil : results[1].bytes(0, 0) else { return nil }
            guard let history = try? History(encoded: history) else {
                throw PostgreSQLError(state: "P0002", "The record of a space can't be read.")
            }
            return PostgreSQLSyncTables(
                connection, key, hook, history, total: results[1].integer(0, 1), now: results[2].integer(0, 0))
        }

        private init(
            _ connection: PostgreSQLConnection, _ key: [PostgreSQLParameter], _ hook: SyncStore.PostgreSQLHook?,
            _ history: History, total: Int64, now: Int64
        ) {
            (self.connection, self.key, self.hook) = (connection, key, hook)
            (self.history, self.total, self.now) = (history, total, now)
        }

        /// Runs requests one after another, and sends their changes.
        ///
        /// - Throws: An error that ends the transaction. The error of one request is its result.
        func run(_ bodies: [Body]) throws(PostgreSQLError) -> [Result<any Sendable, any Error>] {
            let probe = SyncProbe(history: history, now: now)
            for body in bodies {
                var tables: any SyncTables = probe
                _ = try? body(&tables)
            }
            do { try load(probe.needs) } catch let error as PostgreSQLError {
                throw error
            } catch {
                // A record is damaged. The request that needs it finds out again.
            }
            var results: [Result<any Sendable, any Error>] = []
            for body in bodies { results.append(try run(body)) }
            try connection.run(unsent.commands(key, at: now))
            return results
        }

        private func run(_ body: Body) throws(PostgreSQLError) -> Result<any Sendable, any Error> {
            let before = (history, total)
            hasSavepoint = false
            do {
                var tables: any SyncTables = self
                let value = try body(&tables)
                unsent.add(changes)
                changes = SyncChanges()
                return .success(value)
            } catch {
                if let error = error as? PostgreSQLError, error.isTransient || error.isConnectionLoss || !hasSavepoint {
                    throw error
                }
                if hasSavepoint { try connection.run("ROLLBACK TO SAVEPOINT request") }
                changes = SyncChanges()
                (history, total) = before
                // The loaded rows have changes that are undone now. They are loaded again.
                try connection.run(unsent.commands(key, at: now))
                (unsent, cache) = (SyncChanges(), SyncCache())
                return .failure(error)
            }
        }

        /// Sends the changes of earlier requests, and marks the place to which a failure of the current one returns.
        private func setSavepoint() throws(PostgreSQLError) {
            if hasSavepoint { return }
            try connection.run(unsent.commands(key, at: now) + [PostgreSQLCommand("SAVEPOINT request")])
            (unsent, hasSavepoint) = (SyncChanges(), true)
        }

        /// Sends all changes, so that the next statement reads them.
        private func sendChanges() throws(PostgreSQLError) {
            let commands = changes.commands(key, at: now)
            if !commands.isEmpty { try setSavepoint() }
            try connection.run(unsent.commands(key, at: now) + commands)
            (unsent, changes) = (SyncChanges(), SyncChanges())
        }

        private func run(
            _ statement: String, _ parameters: [PostgreSQLParameter]
        ) throws(PostgreSQLError) -> PostgreSQLResult {
            try connection.run([PostgreSQLCommand(statement, key + parameters)])[0]
        }
    }

    extension PostgreSQLSyncTables: SyncTables {
        func content(for needs: SpaceNeeds) throws -> SpaceContent {
            try load(needs)
            var content = cache.content(for: needs)
            if needs.batches.isEmpty, needs.entries == nil, needs.page == nil { return content }
            try sendChanges()
            for need in needs.batches { try load(need, into: &content) }
            if let need = needs.entries { content.entries = try entries(need) }
            if let need = needs.page { content.page = try page(need) }
            return content
        }

        /// Loads records and rows that are not loaded yet, in one round trip.
        private func load(_ needs: SpaceNeeds) throws {
            let missing = cache.missing(needs)
            let (devices, transactions) = (Array(missing.devices), Array(missing.transactions))
            let rows = Array(missing.rows)
            var commands: [PostgreSQLCommand] = []
            var readers: [(PostgreSQLResult) throws -> Void] = []
            if !devices.isEmpty {
                commands.append(PostgreSQLCommand(SyncStatements.devices, key + [.ids(devices)]))
                readers.append { [self] result in
                    for row in 0..<result.count {
                        cache.devices[devices[Int(result.integer(row, 0)) - 1]] = SyncCache.Device(
                            record: try result.decoded(row, 1),
                            subject: result.bytes(row, 2).map { String(decoding: $0, as: UTF8.self) })
                    }
                }
            }
            if !transactions.isEmpty {
                commands.append(PostgreSQLCommand(SyncStatements.verdicts, key + [.ids(transactions)]))
                readers.append { [self] result in
                    for row in 0..<result.count {
                        let id = transactions[Int(result.integer(row, 0)) - 1]
                        cache.verdicts.updateValue(try result.decoded(row, 1), forKey: id)
                    }
                }
            }
            if !rows.isEmpty {
                commands.append(PostgreSQLCommand(SyncStatements.rows, key + rows.parameters))
                readers.append { [self] result in
                    for row in 0..<result.count {
                        let list: WaitingList? = try result.decoded(row, 2)
                        cache.rows[rows[Int(result.integer(row, 0)) - 1]] = SyncCache.Place(
                            row: try result.decoded(row, 1), waiting: list?.operations ?? [])
                    }
                }
            }
            for (reader, result) in zip(readers, try connection.run(commands)) { try reader(result) }
        }

        /// Loads the rows that a batch update matches. Only they stay in memory.
        private func load(_ need: SpaceNeeds.Matches, into content: inout SpaceContent) throws {
            var (count, last) = (0, Identifier?.none)
            repeat {
                let page = try run(
                    SyncStatements.liveRows,
                    [
                        .bytes(Array(need.batch.table.utf8)), .id(last), .integer(Self.pageCount),
                        .integer(Self.pageByteCount), .bytes(need.batch.needle),
                    ])
                last = page.count == 0 ? nil : page.id(page.count - 1, 0)
                for place in 0..<page.count where count < need.limit {
                    guard let row: Row = try page.decoded(place, 1), need.batch.matches(row) else { continue }
                    let key = RowKey(need.batch.table, page.id(place, 0))
                    let list: WaitingList? = try page.decoded(place, 2)
                    (content.rows[key], content.waiting[key]) = (row, list?.operations)
                    count += 1
                }
            } while last != nil && count < need.limit
        }

        /// The largest number of rows that are read at a time.
        private static let pageCount: Int64 = 1_000
        /// The size in bytes at which no more rows are read at a time.
        private static let pageByteCount: Int64 = 4 << 20

        private func entries(_ need: SpaceNeeds.Entries) throws -> [LogEntry] {
            try read(need.limit) { last, limit in
                try run(
                    SyncStatements.entries,
                    [.integer(last.map { $0.number + 1 } ?? need.first), .integer(limit), .integer(Self.pageByteCount)])
            } element: { page, place in
                try page.decoded(place, 0)
            } size: {
                $0.byteCount
            }
        }

        private func page(_ need: SpaceNeeds.Page) throws -> [KeyedRow] {
            try read(need.limit) { last, limit in
                let after = last?.key ?? need.after
                return try run(
                    SyncStatements.page,
                    [
                        .bytes(after.map { Array($0.table.utf8) }), .id(after?.id), .integer(limit),
                        .integer(Self.pageByteCount),
                    ])
            } element: { page, place in
                let row: Row? = try page.decoded(place, 2)
                let table = String(decoding: page.bytes(place, 0) ?? [], as: UTF8.self)
                return row.map { KeyedRow(RowKey(table, page.id(place, 1)), $0) }
            } size: {
                $0.row.byteCount
            }
        }

        /// Reads elements in their order, until their size exceeds that of a page.
        private func read<Element>(
            _ limit: Int, _ next: (Element?, Int64) throws -> PostgreSQLResult,
            element: (PostgreSQLResult, Int) throws -> Element?, size: (Element) -> Int
        ) throws -> [Element] {
            var (elements, byteCount) = ([Element](), 0)
            while elements.count < limit, byteCount <= SpaceNeeds.byteLimit {
                let count = min(Int64(limit - elements.count), Self.pageCount)
                let page = try next(elements.last, count)
                for place in 0..<page.count where byteCount <= SpaceNeeds.byteLimit {
                    guard let element = try element(page, place) else { continue }
                    elements.append(element)
                    byteCount += size(element)
                }
                // A page that ends for its size has at least that size.
                if page.count < count, page.byteCount < Self.pageByteCount { break }
            }
            return elements
        }

        func save(_ changes: SpaceContent) {
            cache.apply(changes)
            history = changes.history ?? history
            self.changes.add(changes, to: &total)
        }

        func subject(of device: Identifier) throws -> String? {
            var needs = SpaceNeeds()
            needs.devices = [device]
            try load(needs)
            return cache.devices[device]?.subject
        }

        func setSubject(_ subject: String, of device: Identifier) {
            changes.setSubject(subject, of: device, cache.devices[device]?.record)
            cache.setSubject(subject, of: device)
        }

        func deviceCount(of subject: String, upTo limit: Int) throws -> Int {
            if let count = cache.deviceCounts[subject] { return count }
            try sendChanges()
            let page = try run(SyncStatements.deviceCount, [.bytes(Array(subject.utf8)), .integer(Int64(limit))])
            let count = Int(page.integer(0, 0))
            cache.deviceCounts[subject] = count
            return count
        }

        func waitingRowCount(of subject: String, upTo limit: Int) throws -> Int {
            try sendChanges()
            let page = try run(
                SyncStatements.waitingRowCount, [.bytes(Array(subject.utf8)), .integer(Int64(limit))])
            return Int(page.integer(0, 0))
        }

        func devices(after device: Identifier?, limit: Int) throws -> [Identifier] {
            try sendChanges()
            let page = try run(SyncStatements.deviceIDs, [.id(device), .integer(Int64(limit))])
            return (0..<page.count).map { page.id($0, 0) }
        }

        func mark(of number: Int64) throws -> LogMark? {
            try sendChanges()
            let marks = try run(SyncStatements.mark, [.integer(number)])
            if marks.count == 0 { return nil }
            return LogMark(milliseconds: marks.integer(0, 0), byteCount: marks.integer(0, 1))
        }

        func removeEntries(through number: Int64) throws {
            try setSavepoint()
            try sendChanges()
            _ = try run(SyncStatements.removeEntries, [.integer(number)])
        }

        func notifyHook(of commit: SyncCommit) throws {
            guard let hook else { return }
            try setSavepoint()
            try hook(commit, PostgreSQLTransaction(connection))
            guard PQtransactionStatus(connection.connection) == PQTRANS_INTRANS else {
                throw PostgreSQLError(state: "25P02", "A statement of the hook has failed, or ended the transaction.")
            }
        }
    }

    extension PostgreSQLResult {
        /// Decodes a value; `nil` for NULL.
        fileprivate func decoded<Value: WireCodable>(_ row: Int, _ column: Int) throws -> Value? {
            try bytes(row, column).map { try Value(encoded: $0) }
        }

        /// The size of the values of the last column.
        fileprivate var byteCount: Int64 {
            (0..<count).reduce(0) { $0 + Int64(length($1, columnCount - 1)) }
        }
    }
#endif
