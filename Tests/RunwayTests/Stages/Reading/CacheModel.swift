import RunwayTesting

@testable import Runway

/// One of the calls that a random sequence makes; with account and environment, it identifies a response.
struct ModelKey: Hashable {
    enum API: Int, CaseIterable { case work, artist, book }

    var api: API
    var id: Int
    var account: String?
    var environment: ServiceEnvironment

    var service: String { api == .book ? "library" : "gallery" }
    var endpoint: String { api == .work ? "Work" : api == .artist ? "Artist" : "Book" }

    func isIn(_ scope: CacheScope) -> Bool {
        switch scope {
        case .everything: true
        case .service(let service): service == self.service
        case .endpoint(let endpoint, let service): service == self.service && endpoint == self.endpoint
        case .account(let account, let service): account == self.account && (service ?? self.service) == self.service
        }
    }
}

/// The expected behaviour of a cache by time, as simple as possible: a list of responses, and a list of clears.
struct CacheModel {
    struct Cached {
        var key: ModelKey
        var number: Int
        var order: Int
        var fetched: Int
        /// When it came into memory, which is later for what came up from below.
        var entered: Int
    }

    struct Flight {
        var key: ModelKey
        var policy: CachePolicy
        var mark: Int
        var order: Int
        /// The number of the stale response that may land instead of an error, and since when it is stale.
        var fallback: (number: Int, since: Int)?
        /// The number of the stale response whose validator is sent.
        var validated: Int?
        var isBackground = false
    }

    /// What a call should do at once.
    enum Prediction: Equatable {
        case cached(String)
        /// It returns a stale response, and a background flight starts.
        case cachedAndSent(String)
        case sent
    }

    enum ServerResponse { case number(Int), notModified, refusedByTheEndpoint, serverError, notFound, noNetwork }

    /// Which responses have an entity tag.
    static func hasTag(_ number: Int) -> Bool { number.isMultiple(of: 2) }

    let maximumCount: Int
    let hasTier: Bool
    var now = 0
    /// Oldest use first.
    private(set) var cached: [Cached] = []
    /// What the tier below memory holds.
    private var below: [ModelKey: Cached] = [:]
    /// The newest order of a request whose response was received, whether it is still stored or not.
    private var newest: [ModelKey: Int] = [:]
    private var clears: [(scope: CacheScope, order: Int)] = []
    private var counter = 0

    init(maximumCount: Int, hasTier: Bool) {
        self.maximumCount = maximumCount
        self.hasTier = hasTier
    }

    private mutating func find(_ key: ModelKey) -> Cached? {
        guard let index = cached.firstIndex(where: { $0.key == key }) else { return nil }
        let found = cached.remove(at: index)
        cached.append(found)
        return found
    }

    private func staleness(inMemory cached: Cached, _ policy: CachePolicy) -> Int? {
        let (memory, disk) = (policy.memoryLifetime.components.seconds, policy.diskLifetime.components.seconds)
        let excess = max(now - cached.entered - Int(memory), now - cached.fetched - Int(max(memory, disk)))
        return policy.rule == .untilEvicted || excess < 0 ? nil : excess
    }

    private func staleness(below cached: Cached, _ policy: CachePolicy) -> Int? {
        let excess = now - cached.fetched - Int(policy.diskLifetime.components.seconds)
        return policy.rule == .untilEvicted || excess < 0 ? nil : excess
    }

    /// What is found for a call, and since when it is stale; what is fresh below memory comes up.
    private mutating func find(
        _ key: ModelKey, _ policy: CachePolicy, looksBelow: Bool
    ) -> (cached: Cached, excess: Int?)? {
        let inMemory = find(key).map { ($0, staleness(inMemory: $0, policy)) }
        if let inMemory, inMemory.1 == nil { return inMemory }
        guard looksBelow, hasTier, policy.tiers.contains(.disk), var stored = below[key] else { return inMemory }
        let excess = staleness(below: stored, policy)
        if let inMemory, inMemory.0.fetched >= stored.fetched, excess != nil { return inMemory }
        if excess == nil, inMemory.map({ $0.0.fetched <= stored.fetched }) ?? true {
            stored.order = 0
            stored.entered = now
            hold(stored)
        }
        return (stored, excess)
    }

    private mutating func hold(_ response: Cached) {
        cached.removeAll { $0.key == response.key }
        cached.append(response)
        if cached.count > maximumCount { cached.removeFirst() }
    }

    /// What a call does, and its flight if it has one.
    mutating func call(
        _ key: ModelKey, _ policy: CachePolicy, _ use: CacheUse, isFetchedAlready: Bool, isPrefetch: Bool = false
    ) -> (Prediction, Flight?) {
        let mark = counter
        let found =
            policy.rule == .none || use == .refresh
            ? nil : find(key, policy, looksBelow: !isPrefetch || !isFetchedAlready)
        func flight(_ fallback: (Int, Int)? = nil, isBackground: Bool = false) -> Flight {
            counter += 1
            return Flight(
                key: key, policy: policy, mark: mark, order: counter, fallback: fallback,
                validated: (found?.cached.number).flatMap { Self.hasTag($0) ? $0 : nil }, isBackground: isBackground)
        }
        guard let found else {
            if use == .onlyIfCached { return (.cached("notCached"), nil) }
            if isPrefetch, isFetchedAlready { return (.cached(""), nil) }
            return (.sent, flight(isBackground: isPrefetch))
        }
        guard let excess = found.excess else { return (.cached("cache \(found.cached.number)"), nil) }
        let stale = "staleCache \(found.cached.number)"
        if use == .onlyIfCached { return (.cached(stale), nil) }
        if isPrefetch {
            return isFetchedAlready
                ? (.cached(""), nil) : (.sent, flight((found.cached.number, now - excess), isBackground: true))
        }
        if excess < Int(policy.staleWhileRevalidate.components.seconds) {
            return isFetchedAlready ? (.cached(stale), nil) : (.cachedAndSent(stale), flight(isBackground: true))
        }
        return (.sent, flight((found.cached.number, now - excess)))
    }

    /// What a flight lands with.
    mutating func land(_ flight: Flight, _ response: ServerResponse) -> String {
        switch response {
        case .number(let number):
            store(Cached(key: flight.key, number: number, order: flight.order, fetched: now, entered: now), flight)
            return "network \(number)"
        case .notModified:
            let number = flight.validated ?? 0
            store(Cached(key: flight.key, number: number, order: flight.order, fetched: now, entered: now), flight)
            return "cache \(number)"
        case .refusedByTheEndpoint: return "invalidResponse"
        case .notFound: return "refused"
        case .serverError, .noNetwork:
            if let fallback = flight.fallback, now - fallback.since < Int(flight.policy.staleIfError.components.seconds)
            {
                return "staleCache \(fallback.number)"
            }
            if case .noNetwork = response { return "noNetwork" } else { return "refused" }
        }
    }

    private mutating func store(_ response: Cached, _ flight: Flight) {
        if flight.policy.rule == .none { return }
        if clears.contains(where: { response.key.isIn($0.scope) && $0.order > min(flight.mark, flight.order) }) {
            return
        }
        if newest[response.key] ?? 0 > response.order { return }
        newest[response.key] = response.order
        hold(response)
        if hasTier, flight.policy.tiers.contains(.disk) { below[response.key] = response }
    }

    mutating func clear(_ scope: CacheScope) {
        counter += 1
        clears.append((scope, counter))
        cached.removeAll { $0.key.isIn(scope) }
        below = below.filter { !$0.key.isIn(scope) }
    }

    /// The next launch of the app, or memory that the system wants back.
    mutating func forgetMemory() { cached = [] }

    mutating func trim(toCount count: Int) {
        if cached.count > count { cached.removeFirst(cached.count - count) }
    }
}
