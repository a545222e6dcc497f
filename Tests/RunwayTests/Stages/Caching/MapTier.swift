import Runway
import Synchronization

/// A tier in memory, which does at once what it is told.
final class MapTier: CacheTier {
    /// Guards what is kept.
    private let answers = Mutex<[CacheKey: StoredAnswer]>([:])

    var count: Int { answers.withLock { $0.count } }

    func find(_ key: CacheKey) async throws -> StoredAnswer? { answers.withLock { $0[key] } }

    func keep(_ answer: StoredAnswer, for key: CacheKey) async throws { answers.withLock { $0[key] = answer } }

    func remove(_ key: CacheKey) async throws { answers.withLock { $0[key] = nil } }

    func clear(_ scope: CacheScope) async throws {
        answers.withLock { answers in answers = answers.filter { !scope.covers($0.key) } }
    }
}
