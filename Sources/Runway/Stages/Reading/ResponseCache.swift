import Synchronization

/// Stores the responses of a ``NetworkLayer`` in memory, and in its disk tier if it has one.
///
/// ```swift
/// network.cache.clear(RentalList.self)        // a home was sold
/// network.cache.trim(byteCount: 8 << 20)      // the app moved to the background
/// ```
///
/// Entries are limited by count and by bytes. The least recently used entries of the same ``CacheKind`` are evicted
/// first.
///
/// The responses of endpoints with ``CachePolicy/http(onDisk:)`` have their own limits in ``CacheLimits``. They belong
/// to targets, and are returned only to calls of the same service, environment and account whose requests have equal
/// values in all authenticating header fields. These are the fields in ``APIService/authenticatingFields``, the fields
/// that ``Credentials`` set, and fields whose names indicate a secret.
///
/// Responses to calls that started before a clear are not stored afterwards. An older response never replaces a newer
/// one. The order in which their requests were sent decides; under ``CachePolicy/http(onDisk:)`` the `Date` decides if
/// both requests were in flight at the same time.
public final class ResponseCache: Sendable {
    /// The maximum time that a call waits for the disk tier. After it, the call continues as if the tier contained
    /// nothing.
    public static let maximumTierWait = Duration.seconds(2)
    /// The maximum time that ``flush()`` waits for the disk tier.
    public static let maximumFlushWait = Duration.seconds(10)
    /// The maximum number of lookups in the disk tier that continue although their calls no longer wait. While that
    /// many continue, the tier is not searched.
    static let maximumAbandonedLookups = 16

    /// The limits for stored responses and for shared requests.
    public let limits: CacheLimits

    /// The reads in flight that calls can share. The lock of this object may be taken while ``state`` is locked, but
    /// ``state`` must not be locked while the lock of this object is held.
    let reads: SharedWork<ReadKey, ReadOutcome>
    let background = BackgroundFlights()
    let tier: (any CacheTier)?
    /// Counts for the report how calls used stored responses.
    let usage = CacheUsage()
    let clock: LayerClock
    let timer: DeadlineTimer
    /// Identifies this launch in the records of the disk tier. Sequence numbers and times of another launch have no
    /// meaning in it.
    let launch = UInt64.random(in: .min ... .max)
    private let sequence = Atomic<UInt64>(0)

    struct State {
        /// The responses that are stored for their time to live, or without a time limit until they are evicted.
        var entries: ValuesByKind<CacheKind, CacheKey, TimeToLiveResponse>
        /// The responses stored by the rules of HTTP caching.
        var targets: ValuesByKind<CacheKind, HTTPCacheURI, HTTPCacheTarget>
        /// The number of changes of targets. When a target changes, this number becomes its version.
        var targetChangeCount: UInt64 = 0
        var generations = ClearGenerations()
        var writeBehind: WriteBehindQueue
        var writing: Task<Void, Never>?
        var tierFailureCount = 0
        /// The number of lookups in the tier that are in flight. `waitingLookupCount` is the number of calls that wait
        /// for a lookup.
        var lookupCount = 0
        var waitingLookupCount = 0
    }

    /// Guards the entries of both policies, the records of clears, and the pending operations of the tier.
    let state: Mutex<State>

    init(
        limits: CacheLimits = CacheLimits(), tier: (any CacheTier)? = nil, clock: LayerClock, timer: DeadlineTimer
    ) {
        self.limits = limits
        self.tier = tier
        self.clock = clock
        self.timer = timer
        reads = SharedWork(
            in: .reading, limits.sharing, onStart: { $0.beginLeading($1) }, onEnd: { $0.endLeading() })
        state = Mutex(
            State(
                entries: ValuesByKind(
                    maximumCount: limits.maximumCount, maximumByteCount: limits.maximumByteCount,
                    byteCounts: limits.maximumByteCountByKind),
                targets: ValuesByKind(
                    maximumCount: limits.maximumHTTPTargets, maximumByteCount: limits.maximumHTTPByteCount,
                    byteCounts: limits.maximumByteCountByKind),
                writeBehind: WriteBehindQueue(
                    maximumByteCount: max(
                        limits.maximumByteCount, limits.maximumByteCountByKind.values.max() ?? 0))))
    }

    /// The number of responses in memory. Counting takes time in proportion to the number of targets stored by the
    /// rules of HTTP caching.
    public var count: Int { state.withLock(\.count) }

    /// The number of bytes that the responses in memory occupy.
    public var byteCount: Int { state.withLock { $0.entries.byteCount + $0.targets.byteCount } }

    /// The number of failed operations of the disk tier.
    public var tierFailureCount: Int { state.withLock { $0.tierFailureCount } }

    /// The sequence number that was assigned last. A call that starts now is older than every later operation.
    var lastSequenceNumber: UInt64 { sequence.load(ordering: .relaxed) }

    /// Returns a new sequence number for a request that is about to be sent, or for a clear. A larger number means a
    /// later operation. The first number is 1.
    func nextSequenceNumber() -> UInt64 { sequence.wrappingAdd(1, ordering: .relaxed).newValue }
}

extension ResponseCache {
    /// The result of a lookup. A call that starts a request uses it to check whether the result is still valid.
    ///
    /// `changes` is the change count of the whole cache at the time of the lookup. The key is looked up again only if
    /// that count has changed.
    enum Snapshot {
        /// The call must not use a stored response.
        case none
        /// The stored response under a key; `nil` if there was none.
        case entry(CacheKey, TimeToLiveResponse?, changes: UInt64)
        /// The version of a target; 0 if nothing was stored.
        case target(HTTPCacheURI, version: UInt64, changes: UInt64)
    }

    /// Returns whether a new lookup would have the same result.
    func isCurrent(_ snapshot: Snapshot) -> Bool { state.withLock { $0.isCurrent(snapshot) } }

    /// Makes a call the leader of a shared read, which sends the request, or a follower, which waits for it. Does
    /// neither if the result of the call's lookup has changed.
    ///
    /// A leader stores its response before its read ends. This function checks both under one lock, so a caller always
    /// finds either the request in flight or the cached entry.
    ///
    /// - Returns: The role of the call in the read, or `nil` if the call must look up again.
    /// - Throws: The errors of ``SharedWork/enter(_:for:isJoinable:endsInTime:)``.
    func enter(
        _ key: ReadKey, for flight: Flight, after snapshot: Snapshot, isJoinable: Bool, endsInTime: Bool
    ) throws(NetworkError) -> SharedWork<ReadKey, ReadOutcome>.Role? {
        try state.withLock { state throws(NetworkError) in
            guard state.isCurrent(snapshot) else { return nil }
            return try reads.enter(key, for: flight, isJoinable: isJoinable, endsInTime: endsInTime)
        }
    }
}

extension ResponseCache.State {
    var count: Int { entries.count + targets.keys.reduce(0) { $0 + (targets.peek($1)?.responses.count ?? 0) } }

    fileprivate func isCurrent(_ snapshot: ResponseCache.Snapshot) -> Bool {
        switch snapshot {
        case .none: true
        case .entry(let key, let found, let changes): entries.changeCount == changes || entries.peek(key) === found
        case .target(let uri, let version, let changes):
            targets.changeCount == changes || targets.peek(uri)?.version ?? 0 == version
        }
    }
}
