#if PostgreSQL
    import RunwayServer
    import RunwaySyncCore
    import Synchronization

    /// Commits the requests that write. Those that arrive for one space while its former transaction is being committed
    /// share the next one, so that they share its round trips and its wait for the drive.
    final class SyncWrites: Sendable {
        typealias Body = PostgreSQLSyncTables.Body
        typealias Outcome = Result<any Sendable, any Error>

        private struct Waiter {
            let body: Body
            let byteCount: Int
            let continuation: CheckedContinuation<any Sendable, any Error>
        }

        private struct State {
            /// The pending requests. A space has a list while a task commits its requests.
            var waiters: [Identifier: [Waiter]] = [:]
            var count = 0
            var byteCount = 0
        }

        private static let maximumCount = 4_096
        private static let maximumByteCount = 64 << 20
        /// The maximum number of requests in one transaction.
        private static let maximumGroupCount = 256
        /// The maximum size of the requests in one transaction in bytes. A larger request has its own transaction.
        private static let maximumGroupByteCount = 4 << 20

        /// Guards the pending requests.
        private let state = Mutex(State())
        private let commit: @Sendable (Identifier, [Body]) async throws -> [Outcome]

        /// - Parameter commit: Runs requests for a space in one transaction, and returns their outcomes in order.
        init(commit: @escaping @Sendable (Identifier, [Body]) async throws -> [Outcome]) { self.commit = commit }

        /// Runs a request in a transaction, and returns its value after the commit.
        ///
        /// - Throws: `StoreRefusal.busy` if too many requests are pending; the error of the request or of the commit.
        func run(_ body: @escaping Body, in space: Identifier, byteCount: Int) async throws -> any Sendable {
            try await withCheckedThrowingContinuation { continuation in
                let waiter = Waiter(body: body, byteCount: 256 + byteCount, continuation: continuation)
                let isFirst = state.withLock { state -> Bool? in
                    guard state.count < Self.maximumCount, state.byteCount + waiter.byteCount <= Self.maximumByteCount
                    else { return nil }
                    state.count += 1
                    state.byteCount += waiter.byteCount
                    let isFirst = state.waiters[space] == nil
                    state.waiters[space, default: []].append(waiter)
                    return isFirst
                }
                switch isFirst {
                case true?: Task { await commitAll(in: space) }
                case false?: break
                case nil: continuation.resume(throwing: StoreRefusal.busy)
                }
            }
        }

        private func commitAll(in space: Identifier) async {
            while let group = nextGroup(in: space) {
                await commit(group, in: space)
                state.withLock { state in
                    state.count -= group.count
                    state.byteCount -= group.reduce(0) { $0 + $1.byteCount }
                }
            }
        }

        private func nextGroup(in space: Identifier) -> [Waiter]? {
            state.withLock { state in
                let waiters = state.waiters[space] ?? []
                var (count, byteCount) = (0, 0)
                while count < min(waiters.count, Self.maximumGroupCount),
                    count == 0 || byteCount + waiters[count].byteCount <= Self.maximumGroupByteCount
                {
                    byteCount += waiters[count].byteCount
                    count += 1
                }
                state.waiters[space] = count == 0 ? nil : Array(waiters.dropFirst(count))
                return count == 0 ? nil : Array(waiters.prefix(count))
            }
        }

        private func commit(_ group: [Waiter], in space: Identifier) async {
            do {
                let outcomes = try await commit(space, group.map(\.body))
                for (waiter, outcome) in zip(group, outcomes) { waiter.continuation.resume(with: outcome) }
            } catch let error as PostgreSQLError where group.count > 1 && error.isOfOneElement {
                for waiter in group { await commit([waiter], in: space) }
            } catch {
                for waiter in group { waiter.continuation.resume(throwing: error) }
            }
        }
    }
#endif
