/// Whether the answers of an endpoint are kept, where, and for how long.
///
/// ```swift
/// static let cache = CachePolicy.timeToLive(.seconds(60), staleIfError: .seconds(3600))
/// ```
///
/// Only an answer that the service judged fine and the endpoint's own check accepted is kept; by ``Rule/http``,
/// whatever the server lets be kept, such as a 404 with a lifetime. It is given to calls of the same service,
/// environment, account, endpoint and parameters, and to no others.
///
/// Where an answer to GET or HEAD has a validator, an `ETag` or `Last-Modified`, and its lifetime is over, it is sent
/// along: a 304 lands what is kept, which is then as fresh as a new answer.
///
/// Whole answers to GET, HEAD and QUERY can be kept. By the client's own rules so can those to POST, which some APIs
/// use for reading: giving such an endpoint a policy says that it changes nothing. Streams, and answers to all other
/// methods, are never kept.
public struct CachePolicy: Sendable, Hashable {
    /// Who decides how long an answer is fresh.
    public enum Rule: Sendable, Hashable {
        /// Nothing is kept.
        case none
        /// The client, by time.
        case timeToLive
        /// Nobody: it is fresh until there is no room for it. For what never changes, such as images.
        case untilEvicted
        /// The server, by the header fields of HTTP caching (RFC 9111).
        case http
    }

    /// Who decides how long an answer is fresh. The default is that of the function that made the policy, such as
    /// ``CachePolicy/http()``.
    public var rule: Rule
    /// How long an answer in memory is fresh by ``Rule/timeToLive``; `.zero` keeps none there. The default is three
    /// minutes in ``CachePolicy/timeToLive(_:onDisk:staleWhileRevalidate:staleIfError:)``, and `.zero` in all other
    /// policies.
    public var memoryLifetime: Duration = .zero
    /// How long an answer on disk is fresh by ``Rule/timeToLive``. The default, `.zero`, keeps none there.
    public var diskLifetime: Duration = .zero
    /// Where answers are kept. The default is memory alone, and nowhere in ``CachePolicy/off``; by ``Rule/timeToLive``
    /// it is wherever a lifetime is not `.zero`.
    ///
    /// By ``Rule/http`` it is memory, whatever is set here: a ``CacheTier`` holds one answer for a key, and not what
    /// decides by HTTP which of several answers to a target may be given.
    public var tiers: CacheTiers
    /// How long after its freshness an answer may land while a fresh one is fetched, by ``Rule/timeToLive``. The
    /// default is not at all.
    public var staleWhileRevalidate: Duration = .zero
    /// How long after its freshness an answer may land where no fresh one can be had, by ``Rule/timeToLive``. The
    /// default is not at all.
    public var staleIfError: Duration = .zero
    /// Whether ``Rule/http`` may store a response that sets cookies. The default is `true`: `Set-Cookie` does not forbid storing, and the
    /// server marks private responses itself (RFC 9111 §7.3). Set it to `false` if several users share a layer, as in a proxy: a cookie
    /// that was set for one user is then never returned to another.
    public var storesSetCookie = true

    /// Nothing is kept.
    public static let off = CachePolicy(rule: .none, tiers: [])

    /// The client decides by time.
    ///
    /// - Parameters:
    ///   - lifetime: How long an answer in memory is fresh. The default is three minutes; `.zero` keeps none there.
    ///   - diskLifetime: How long an answer on disk is fresh. The default, `.zero`, keeps none there.
    ///   - staleWhileRevalidate: How long after that it may land while a fresh one is fetched. The default is not at
    ///     all.
    ///   - staleIfError: How long after that it may land where no fresh one can be had. The default is not at all.
    public static func timeToLive(
        _ lifetime: Duration = .seconds(180), onDisk diskLifetime: Duration = .zero,
        staleWhileRevalidate: Duration = .zero, staleIfError: Duration = .zero
    ) -> CachePolicy {
        var policy = CachePolicy(rule: .timeToLive, tiers: [])
        policy.memoryLifetime = lifetime
        policy.diskLifetime = diskLifetime
        if lifetime > .zero { policy.tiers.insert(.memory) }
        if diskLifetime > .zero { policy.tiers.insert(.disk) }
        policy.staleWhileRevalidate = staleWhileRevalidate
        policy.staleIfError = staleIfError
        return policy
    }

    /// An answer is fresh until there is no room for it.
    public static func untilEvicted(in tiers: CacheTiers = .memory) -> CachePolicy {
        CachePolicy(rule: .untilEvicted, tiers: tiers)
    }

    /// The server decides, by the header fields of HTTP caching (RFC 9111), RFC 5861's and RFC 8246's among them. In memory alone.
    public static func http() -> CachePolicy { CachePolicy(rule: .http, tiers: .memory) }

    /// Whether the client decides, by time or by room.
    var isOfClient: Bool { rule == .timeToLive || rule == .untilEvicted }

    private init(rule: Rule, tiers: CacheTiers) {
        self.rule = rule
        self.tiers = tiers
    }
}

/// The places in which answers are kept.
public struct CacheTiers: OptionSet, Sendable, Hashable {
    /// The places, one bit each.
    public let rawValue: Int

    /// Makes a set of places.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The app's memory.
    public static let memory = CacheTiers(rawValue: 1)
    /// The device's disk.
    public static let disk = CacheTiers(rawValue: 2)
}

/// What one call makes of answers that are kept.
public enum CacheUse: Sendable, Hashable {
    /// A fresh one is taken, as the policy says.
    case standard
    /// None is taken, and no validator of it is sent; the new answer takes its place.
    case refresh
    /// A stored response is returned, fresh or stale, and nothing is sent; if none is stored, the call fails as
    /// ``NetworkError/Kind/notCached``.
    case onlyIfCached
}
