#if Command
    import Foundation
    import RunwayServer
    import RunwayServerStorage
    import RunwaySync

    extension SQLiteSyncStore {
        /// Returns the values of a space's log that lost against a concurrent change, under the policy `ask`.
        func losers(in space: UUID) async throws -> [String] {
            try await transaction(.reading, in: Identifier(space), byteCount: 0) { tables in
                var needs = SpaceNeeds()
                needs.entries = .init(first: 1, limit: 1_000)
                return try tables.content(for: needs).entries.flatMap(\.changes).flatMap { change in
                    change.losers.map { loser in if case .text(let text) = loser.value { text } else { "\(loser)" } }
                }
            } ?? []
        }
    }
#endif
