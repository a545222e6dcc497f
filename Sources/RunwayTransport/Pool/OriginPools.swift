import NIOPosix
import Runway
import Synchronization

/// The pools of a transport, one per origin. At ``maximumPools``, the least recently used pool without leases is
/// evicted.
final class OriginPools: Sendable {
    fileprivate struct Entry {
        let pool: OriginPool
        /// The number of leases.
        var userCount = 0
        /// The sequence number of the last use.
        var lastUse: UInt64 = 0
    }

    fileprivate struct Key: Hashable {
        let origin: Origin
        /// Whether this is the spare pool for hedged requests, which avoids the addresses of the main pool.
        let isSpare: Bool
    }

    fileprivate struct State {
        var entries: [Key: Entry] = [:]
        var entryCount: UInt64 = 0
        var isShutDown = false
    }

    /// The number of pools at which a new pool evicts an unused one.
    static let maximumPools = 64

    private let dialer: Dialer
    private let configuration: TransportConfiguration
    private let http1: HTTP1Origins
    /// Guards the pools and the number of their leases.
    private let state = Mutex(State())

    init(_ configuration: TransportConfiguration, dialer: Dialer, _ http1: HTTP1Origins) {
        self.configuration = configuration
        self.dialer = dialer
        self.http1 = http1
    }

    /// Returns the pool of an origin for one exchange. The exchange must later call ``leave(_:isSpare:)``. Returns
    /// `nil` after the shutdown, or if the origin has no pool and `makesPool` is `false`.
    func enter(_ origin: Origin, isSpare: Bool = false, makesPool: Bool = true) -> OriginPool? {
        let key = Key(origin: origin, isSpare: isSpare)
        let (pool, evicted) = state.withLock { state -> (OriginPool?, OriginPool?) in
            if state.isShutDown || (!makesPool && state.entries[key] == nil) { return (nil, nil) }
            state.entryCount += 1
            var evicted: OriginPool?
            if state.entries[key] == nil {
                if state.entries.count >= Self.maximumPools { evicted = state.evict() }
                let main = { @Sendable [weak self] in self?.main(of: origin) }
                // All connections and exchanges of a pool share one event loop.
                let pool = OriginPool(
                    origin, on: MultiThreadedEventLoopGroup.singleton.next(), dialer: dialer, configuration, http1,
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

    private func main(of origin: Origin) -> OriginPool? {
        state.withLock { $0.entries[Key(origin: origin, isSpare: false)]?.pool }
    }

    /// Ends the use of an origin's pool by one exchange.
    func leave(_ origin: Origin, isSpare: Bool = false) {
        state.withLock { $0.entries[Key(origin: origin, isSpare: isSpare)]?.userCount -= 1 }
    }

    /// Returns the most recently used origins, the latest first.
    func recentOrigins(_ maximumCount: Int) -> [Origin] {
        let entries = state.withLock { $0.entries.filter { !$0.key.isSpare } }
        return entries.sorted { $0.value.lastUse > $1.value.lastUse }.prefix(maximumCount).map(\.key.origin)
    }

    func drainAll() {
        for pool in state.withLock({ $0.entries.values.map(\.pool) }) { pool.drainAll() }
    }

    /// Closes all connections immediately. ``enter(_:isSpare:)`` returns `nil` from now on.
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
    /// Removes the least recently used pool without leases. Returns `nil` if all pools are in use.
    fileprivate mutating func evict() -> OriginPool? {
        guard let oldest = entries.filter({ $0.value.userCount == 0 }).min(by: { $0.value.lastUse < $1.value.lastUse })
        else { return nil }
        return entries.removeValue(forKey: oldest.key)?.pool
    }
}
