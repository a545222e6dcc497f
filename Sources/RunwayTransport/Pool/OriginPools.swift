import NIOPosix
import Runway
import Synchronization

/// The pools of a transport, one for each origin. At most ``maximumPools`` are kept that nobody uses.
final class OriginPools: Sendable {
    fileprivate struct Entry {
        let pool: OriginPool
        /// How many exchanges use it.
        var userCount = 0
        /// When it was entered last, counted in entries.
        var lastUse: UInt64 = 0
    }

    /// What a pool is for.
    fileprivate struct Key: Hashable {
        let origin: Origin
        /// Whether its connections lead elsewhere than those of the origin's own pool, for hedged requests.
        let isSpare: Bool
    }

    fileprivate struct State {
        var entries: [Key: Entry] = [:]
        var entryCount: UInt64 = 0
        var isShutDown = false
    }

    /// So many pools may be there before one that nobody uses makes room for another.
    static let maximumPools = 64

    private let dialer: Dialer
    private let configuration: TransportConfiguration
    /// Guards the pools and who uses them.
    private let state = Mutex(State())

    init(_ configuration: TransportConfiguration, dialer: Dialer) {
        self.configuration = configuration
        self.dialer = dialer
    }

    /// The pool of an origin for one exchange, which has to ``leave(_:isSpare:)`` it; `nil` after the shutdown.
    func enter(_ origin: Origin, isSpare: Bool = false) -> OriginPool? {
        let key = Key(origin: origin, isSpare: isSpare)
        let (pool, evicted) = state.withLock { state -> (OriginPool?, OriginPool?) in
            if state.isShutDown { return (nil, nil) }
            state.entryCount += 1
            var evicted: OriginPool?
            if state.entries[key] == nil {
                if state.entries.count >= Self.maximumPools { evicted = state.evict() }
                let main = { @Sendable [weak self] in self?.main(of: origin) }
                // All connections of a pool share one loop, and its exchanges with them.
                let pool = OriginPool(
                    origin, on: MultiThreadedEventLoopGroup.singleton.next(), dialer: dialer, configuration,
                    beside: isSpare ? main : nil)
                state.entries[key] = Entry(pool: pool)
            }
            state.entries[key]?.userCount += 1
            state.entries[key]?.lastUse = state.entryCount
            return (state.entries[key]?.pool, evicted)
        }
        evicted?.shutDown()
        return pool
    }

    /// The pool of an origin that is no spare one; `nil` where there is none.
    private func main(of origin: Origin) -> OriginPool? {
        state.withLock { $0.entries[Key(origin: origin, isSpare: false)]?.pool }
    }

    /// An exchange has left the pool.
    func leave(_ origin: Origin, isSpare: Bool = false) {
        state.withLock { $0.entries[Key(origin: origin, isSpare: isSpare)]?.userCount -= 1 }
    }

    /// The origins that were used last, at most so many, the last first.
    func recentOrigins(_ maximumCount: Int) -> [Origin] {
        let entries = state.withLock { $0.entries.filter { !$0.key.isSpare } }
        return entries.sorted { $0.value.lastUse > $1.value.lastUse }.prefix(maximumCount).map(\.key.origin)
    }

    /// Gives no further exchange to any connection that there is, and asks those that carry some whether they live.
    func drainAll() {
        for pool in state.withLock({ $0.entries.values.map(\.pool) }) { pool.drainAll() }
    }

    /// Cuts all connections. No pool is given any more.
    func shutDown() {
        let pools = state.withLock { state in
            defer { state.entries = [:] }
            state.isShutDown = true
            return state.entries.values.map(\.pool)
        }
        for pool in pools { pool.shutDown() }
    }
}

extension OriginPools.State {
    /// Takes out the pool that was not used for the longest time; `nil` where all are in use.
    fileprivate mutating func evict() -> OriginPool? {
        guard let oldest = entries.filter({ $0.value.userCount == 0 }).min(by: { $0.value.lastUse < $1.value.lastUse })
        else { return nil }
        return entries.removeValue(forKey: oldest.key)?.pool
    }
}
