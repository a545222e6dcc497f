/// How new an answer has to be to be kept, after clears and after answers that are newer.
///
/// Requests, and operations that clear, draw their orders from one counter. It is bounded: where there is no room for
/// one more floor, all are forgotten, and nothing is kept that is as old as the calls in the air at that moment. That
/// can only keep too little, never too much.
struct CacheFloors {
    /// The most floors of clears, and the most of answers, that are remembered one by one.
    static let maximumCount = 1024

    private var general: UInt64 = 0
    private var scopes: [CacheScope: UInt64] = [:]
    private var keys: [CacheKey: UInt64] = [:]
    /// The orders of the answers that were kept last, and of those before them, which are forgotten together.
    private var newest: [CacheKey: UInt64] = [:]
    private var newestBefore: [CacheKey: UInt64] = [:]

    /// Nothing that took off before `order` is kept in `scope`.
    mutating func raise(_ scope: CacheScope, to order: UInt64) {
        if scope == .everything { return forget(upTo: order) }
        makeRoom(order)
        scopes[scope] = order
    }

    /// Nothing that took off before `order` is kept for `key`.
    mutating func raise(_ key: CacheKey, to order: UInt64) {
        makeRoom(order)
        keys[key] = order
    }

    /// The answer of a request of this order came: no older one may follow, also where memory has let go of it.
    mutating func kept(_ key: CacheKey, order: UInt64) {
        if newest.count >= Self.maximumCount / 2, newest[key] == nil {
            // What is forgotten of some keys holds for all.
            general = max(general, newestBefore.values.max() ?? 0)
            newestBefore = newest
            newest = [:]
        }
        newest[key] = order
    }

    /// Whether an answer may be kept.
    ///
    /// - Parameters:
    ///   - order: The order of the request that fetched it.
    ///   - mark: The counter when the call took off that asks.
    func allow(_ key: CacheKey, order: UInt64, mark: UInt64) -> Bool {
        // A call that joined the request of an earlier one brings an answer that is older than itself.
        let oldest = min(order, mark)
        let known = newest[key] ?? newestBefore[key] ?? 0
        if oldest < general || order < known || oldest < keys[key] ?? 0 { return false }
        return scopes.isEmpty || key.scopes.allSatisfy { (scopes[$0] ?? 0) <= oldest }
    }

    private mutating func makeRoom(_ order: UInt64) {
        if scopes.count + keys.count >= Self.maximumCount { forget(upTo: order) }
    }

    private mutating func forget(upTo order: UInt64) {
        general = order
        scopes = [:]
        keys = [:]
        newest = [:]
        newestBefore = [:]
    }
}
