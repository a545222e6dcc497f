import Runway
import Synchronization

/// A tier in memory, which performs every operation at once.
final class MapTier: CacheTier {
    /// Guards the entries.
    private let responses = Mutex<[CacheKey: CacheTierEntry]>([:])

    var count: Int { responses.withLock { $0.count } }

    func find(_ key: CacheKey) async throws -> CacheTierEntry? { responses.withLock { $0[key] } }

    func store(_ entry: CacheTierEntry, for key: CacheKey) async throws { responses.withLock { $0[key] = entry } }

    func remove(_ key: CacheKey) async throws { responses.withLock { $0[key] = nil } }

    func clear(_ scope: CacheScope) async throws {
        responses.withLock { responses in responses = responses.filter { !scope.covers($0.key) } }
    }
}
