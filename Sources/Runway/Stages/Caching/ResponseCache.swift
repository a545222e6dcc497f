import Synchronization

/// The answers that a layer keeps in memory, and the way to the tier below. One for each ``NetworkLayer``.
///
/// It is bounded by count and by bytes; what was not used for longest goes first. A clear holds for what is in the air, too: no answer of
/// a call that took off before it is kept after it. Nor is an older answer ever put over a newer one, by the order in which the requests
/// left that fetched them.
public final class ResponseCache: Sendable {
    /// The longest that a call waits for the tier below memory; then it goes on as if nothing were there.
    public static let maximumTierWait = Duration.seconds(2)
    /// The longest that ``flush()`` waits for the tier below memory.
    public static let maximumFlushWait = Duration.seconds(10)
    /// The most looks into the tier below memory that may be under way though no call waits for them any more. As long as there are so
    /// many, the tier is taken for one that does not answer, and is not asked.
    static let maximumForsakenLooks = 16

    /// How much memory may hold.
    public let limits: CacheLimits
    /// What is kept by the rules of HTTP caching. Every clear reaches it, too; where it can't be as exact, more is let go.
    public let http: HTTPCacheStore

    let background = BackgroundFlights()
    let tier: (any CacheTier)?
    let clock: LayerClock
    let timer: DeadlineTimer
    let orders = RequestOrders()
    /// Told of every scope that is cleared.
    let onClear: @Sendable (CacheScope) -> Void

    struct Memory {
        var answers: LeastRecentlyUsed<CacheKey, KeptAnswer>
        var floors = CacheFloors()
        var writeBehind: WriteBehindQueue
        var performing: Task<Void, Never>?
        var tierFailureCount = 0
        /// The looks into the tier that are under way, and the calls that wait for one.
        var lookCount = 0
        var lookingCallCount = 0
    }

    /// Guards the answers, the floors and what the tier is still to do.
    let memory: Mutex<Memory>

    init(
        limits: CacheLimits, http: HTTPCacheLimits, tier: (any CacheTier)?, clock: LayerClock, timer: DeadlineTimer,
        onClear: @escaping @Sendable (CacheScope) -> Void = { _ in }
    ) {
        self.limits = limits
        self.http = HTTPCacheStore(limits: http, orders: orders)
        self.tier = tier
        self.clock = clock
        self.timer = timer
        self.onClear = onClear
        memory = Mutex(
            Memory(
                answers: LeastRecentlyUsed(
                    maximumCount: limits.maximumCount, maximumByteCount: limits.maximumByteCount),
                writeBehind: WriteBehindQueue(maximumByteCount: limits.maximumByteCount)))
    }

    /// The number of answers in memory.
    public var count: Int { memory.withLock { $0.answers.count } }

    /// The bytes that the answers in memory take.
    public var byteCount: Int { memory.withLock { $0.answers.byteCount } }

    /// How many operations of the tier below memory failed.
    public var tierFailureCount: Int { memory.withLock { $0.tierFailureCount } }
}

extension ResponseCache {
    /// What the counter of orders stands at: a call that takes off now is older than every operation after it.
    var mark: UInt64 { orders.last }

    /// Draws the order of a request or of an operation that clears.
    func drawOrder() -> UInt64 { orders.draw() }

    /// The answer in memory, which is then the most recently used.
    func find(_ key: CacheKey) -> KeptAnswer? { memory.withLock { $0.answers.value(for: key) } }

    /// What became of an answer that was to be kept.
    enum Keeping: Equatable {
        case kept
        /// A newer answer is there, or what it belongs to was cleared after its call took off.
        case outdated
        /// It is larger than all of memory may be.
        case tooLarge
    }

    /// Keeps an answer in the tiers that are named.
    ///
    /// - Parameter mark: What the counter stood at when the call took off that brings the answer.
    func keep(_ answer: KeptAnswer, from mark: UInt64, in tiers: CacheTiers) -> Keeping {
        let key = answer.key
        let isBelow = tiers.contains(.disk) && tier != nil && key.outlivesLaunch
        let keeping = memory.withLock { memory -> Keeping in
            guard memory.floors.allow(key, order: answer.order, mark: mark),
                memory.answers.peek(key)?.order ?? 0 <= answer.order
            else { return .outdated }
            // Memory may let go of it before an older one comes that is slow.
            memory.floors.kept(key, order: answer.order)
            if tiers.contains(.memory) {
                memory.answers.insert(answer, for: key, byteCount: answer.byteCount)
            } else {
                memory.answers.remove(key)
            }
            let isInMemory = memory.answers.peek(key) === answer
            if isBelow { memory.writeBehind.add(.keep(answer)) }
            return isInMemory || isBelow ? .kept : .tooLarge
        }
        if isBelow { startWriteBehind() }
        return keeping
    }

    /// Puts an answer from the tier below into memory, unless a newer one is there or it was cleared since the call took off.
    func bringUp(_ answer: KeptAnswer, from mark: UInt64) {
        memory.withLock { memory in
            guard memory.floors.allow(answer.key, order: mark, mark: mark),
                memory.answers.peek(answer.key).map({ $0.fetched <= answer.fetched }) ?? true
            else { return }
            memory.answers.insert(answer, for: answer.key, byteCount: answer.byteCount)
        }
    }

    /// Lets go of an answer that somebody refused, unless another has taken its place.
    func remove(_ refused: KeptAnswer) {
        memory.withLock { memory in
            if memory.answers.peek(refused.key).map({ $0.order > refused.order }) ?? false { return }
            memory.answers.remove(refused.key)
            if tier != nil, refused.key.outlivesLaunch { memory.writeBehind.add(.remove(refused.key)) }
        }
        startWriteBehind()
    }
}
