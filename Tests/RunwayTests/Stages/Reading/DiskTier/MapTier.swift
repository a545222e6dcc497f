import Runway
import Synchronization

/// A tier in memory, which performs every operation at once.
final class MapTier: CacheTier {
    /// Guards the entries.
    private let entries = Mutex<[CacheTierKey: CacheTierEntry]>([:])

    var count: Int { entries.withLock { $0.count } }

    func find(_ key: CacheTierKey) async throws -> CacheTierEntry? { entries.withLock { $0[key] } }

    func apply(_ changes: [CacheTierChange]) async throws {
        entries.withLock { entries in
            for change in changes {
                if case .store(let entry, let key) = change { entries[key] = entry }
                entries = entries.filter { !change.removes($0.key) }
            }
        }
    }
}
