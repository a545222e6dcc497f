#if PostgreSQL
    public import RunwayServer

    extension PostgreSQLEventLog {
        /// The maximum length of a member's name in bytes of UTF-8, so that it fits in the key of a row.
        static let maximumMemberByteCount = 1024
        /// The maximum number of members that one transaction removes from an expired lease. A lease is the
        /// time-limited list of the members who are present at one server process.
        static let maximumRemovalCount = 256
        /// The maximum time for which a renewal removes the members of other processes' expired leases, so that the
        /// next renewal is in time.
        private static let maximumRemovalTime = Duration.seconds(5)

        /// Creates a lease for the members that are present at one server process. It expires by the clock of the
        /// database.
        ///
        /// - Throws: ``PostgreSQLError``, or `StoreRefusal.busy` if too many transactions are pending.
        public func beginPresence(under lease: String, for duration: Duration) async throws {
            let values = [tenant, name, lease, "\(duration / .seconds(1))"]
            try await writer.transaction(for: name) { connection throws(PostgreSQLError) in
                _ = try connection.run(PresenceStatements.begin, values)
            }
        }

        /// Renews a lease, and records the members that joined and left under it, in one transaction. Then removes
        /// members of expired leases in parts, until a part has members that no other lease has. These members have
        /// left.
        ///
        /// Members whose name has more than 1,024 bytes or contains U+0000 are not recorded.
        ///
        /// - Returns: The number of published changes, and whether no members of expired leases remain (`true` also if
        ///   removing failed).
        /// - Throws: `StoreRefusal.busy` if too many transactions are pending; ``PostgreSQLError``, with state `P0002`
        ///   if the lease has expired.
        @discardableResult
        public func renewPresence(
            under lease: String, for duration: Duration, _ changes: [PresenceChange], leaving maximumCount: Int
        ) async throws -> (publishedCount: Int, isComplete: Bool) {
            let values = [tenant, name, lease, "\(duration / .seconds(1))"]
            let recorded = try await store { [self] connection throws(PostgreSQLError) in
                let epoch = try lockLog(connection)
                guard try !connection.run(PresenceStatements.renew, values).isEmpty else {
                    throw PostgreSQLError(state: "P0002", "The lease of a process has ended.")
                }
                return try record(changes, under: lease, connection).map { $0.event(of: epoch) }
            }
            // A failed removal is repeated at a later renewal, so its error is ignored. If it were thrown, the caller
            // would create another lease.
            let removed = (try? await removeEnded(upTo: maximumCount)) ?? (publishedCount: 0, isComplete: true)
            return ((recorded?.count ?? 0) + removed.publishedCount, removed.isComplete)
        }

        /// Removes members of expired leases in parts, until a part has members that no other lease has. These members
        /// have left.
        private func removeEnded(upTo maximumCount: Int) async throws -> (publishedCount: Int, isComplete: Bool) {
            let end = ContinuousClock.now + Self.maximumRemovalTime
            while maximumCount > 0, ContinuousClock.now < end {
                guard let count = try await removePart(upTo: maximumCount) else { return (0, true) }
                if count > 0 { return (count, false) }
            }
            return (0, false)
        }

        /// Removes some members of an expired lease, or the lease itself if it has no members. Returns the number of
        /// removed members that no other lease has, so that they have left. Returns `nil` if no lease has expired.
        private func removePart(upTo maximumCount: Int) async throws -> Int? {
            let key = [tenant, name]
            let ended = try await writer.transaction(for: name) { connection throws(PostgreSQLError) in
                try connection.run(PresenceStatements.end, key).first?[0]
            }
            guard let ended else { return nil }
            let removed = try await store { [self] connection throws(PostgreSQLError) in
                let epoch = try lockLog(connection)
                let rows = try connection.run(
                    PresenceStatements.members, key + [ended, "\(min(maximumCount, Self.maximumRemovalCount))"])
                if rows.isEmpty { try connection.run(PresenceStatements.removeLease, key + [ended]) }
                let left = rows.map { PresenceChange(topic: $0[0] ?? "", member: $0[1] ?? "", isPresent: false) }
                return try record(left, under: ended, connection).map { $0.event(of: epoch) }
            }
            return removed?.count ?? 0
        }

        /// Returns the members that are present in a topic.
        ///
        /// - Throws: ``PostgreSQLError``, or `StoreRefusal.busy` if too many transactions are pending.
        public func present(in topic: String, upTo maximumCount: Int) async throws -> [String] {
            let values = [tenant, name, topic, "\(maximumCount)"]
            let rows = try await presenceReader.transaction(for: name) { connection throws(PostgreSQLError) in
                try connection.run(PresenceStatements.present, values)
            }
            return rows.compactMap { $0[0] }
        }

        /// Locks the log against appends of other processes, and returns its epoch.
        private func lockLog(_ connection: PostgreSQLConnection) throws(PostgreSQLError) -> String {
            try connection.run(PresenceStatements.isolation)
            return try connection.run(PresenceStatements.lockLog, [tenant, name]).first?[0] ?? ""
        }

        /// Records changes under a lease; the log must be locked. Returns the changes to publish: the first join and
        /// the last leave of a member across all leases.
        private func record(
            _ changes: [PresenceChange], under lease: String, _ connection: PostgreSQLConnection
        ) throws(PostgreSQLError) -> [PresenceChange] {
            var published: [PresenceChange] = []
            for isPresent in [true, false] {
                let part = changes.filter { $0.isPresent == isPresent && Self.isStorable($0.member) }
                if part.isEmpty { continue }
                let values = [tenant, name, lease] + part.flatMap { [$0.topic, $0.member] }
                let (change, search) =
                    isPresent
                    ? (PresenceStatements.insertion(of: part.count), PresenceStatements.lastingOthers(of: part.count))
                    : (PresenceStatements.removal(of: part.count), PresenceStatements.others(of: part.count))
                let changed = Set(try connection.run(change, values))
                let others = Set(try connection.run(search, values))
                let last = changed.subtracting(others)
                published += part.filter { last.contains([$0.topic, $0.member]) }
            }
            return published
        }

        private static func isStorable(_ member: String) -> Bool {
            member.utf8.count <= maximumMemberByteCount && !member.utf8.contains(0)
        }
    }
#endif
