/// Decides whether the responses of an endpoint are stored, in which tiers, and for how long.
///
/// ```swift
/// static let cache = CachePolicy.timeToLive(.seconds(60), staleIfError: .seconds(3600))
/// ```
///
/// Only a response that the service and the endpoint's own check accepted is stored; under ``http(onDisk:)``,
/// whatever the server allows, such as a 404 with a lifetime. It is returned to calls of the same service,
/// environment, account, endpoint and parameters, and to no others.
///
/// If a response to GET or HEAD has a validator, an `ETag` or `Last-Modified`, it is validated after its lifetime: a
/// 304 makes the stored response as fresh as a new one.
///
/// Whole responses to GET, HEAD and QUERY can be stored. By a time to live or until evicted, so can those to POST,
/// which some APIs use for reading: such a policy declares that the endpoint changes nothing. Streams, and responses to
/// all other methods, are never stored.
public struct CachePolicy: Sendable, Hashable {
    /// Who decides how long a response is fresh.
    package enum Rule: Sendable, Hashable {
        /// Nothing is stored.
        case none
        /// The client, by time.
        case timeToLive
        /// A response is fresh until it is evicted.
        case untilEvicted
        /// The server, by the header fields of HTTP caching (RFC 9111).
        case http
    }

    /// Who decides how long a response is fresh.
    package let rule: Rule
    /// The tiers of the rules other than ``Rule/timeToLive``.
    private let untimedTiers: CacheTiers
    /// How long a response in memory is fresh under ``timeToLive(_:onDisk:staleWhileRevalidate:staleIfError:)``;
    /// `.zero` stores none there. The default is three minutes; in all other policies it is `.zero` and has no effect.
    public var memoryLifetime: Duration = .zero
    /// How long a response on disk is fresh under ``timeToLive(_:diskLifetime:staleWhileRevalidate:staleIfError:)``.
    /// The default, `.zero`, stores none there.
    public var diskLifetime: Duration = .zero
    /// How long after its freshness a response may land while a fresh one is fetched, under
    /// ``timeToLive(_:onDisk:staleWhileRevalidate:staleIfError:)``. The default is not at all.
    public var staleWhileRevalidate: Duration = .zero
    /// How long after its freshness a response may land if no fresh one is available, under
    /// ``timeToLive(_:onDisk:staleWhileRevalidate:staleIfError:)``. The default is not at all.
    public var staleIfError: Duration = .zero
    /// Whether ``http(onDisk:)`` may store a response that sets cookies. The default is `true`: `Set-Cookie` does not
    /// forbid storing, and the server marks private responses itself (RFC 9111 §7.3). Set it to `false` if several
    /// users share a layer, as in a proxy: a cookie that was set for one user is then never returned to another.
    public var storesSetCookie = true

    /// Nothing is stored.
    public static let off = CachePolicy(rule: .none, tiers: [])

    /// The client decides by time.
    ///
    /// - Parameters:
    ///   - lifetime: How long a response is fresh. The default is three minutes.
    ///   - onDisk: Whether it is also stored on disk. The default is `false`.
    ///   - staleWhileRevalidate: How long after that it may land while a fresh one is fetched. The default is not at
    ///     all.
    ///   - staleIfError: How long after that it may land if no fresh one is available. The default is not at all.
    public static func timeToLive(
        _ lifetime: Duration = .seconds(180), onDisk: Bool = false, staleWhileRevalidate: Duration = .zero,
        staleIfError: Duration = .zero
    ) -> CachePolicy {
        timeToLive(
            lifetime, diskLifetime: onDisk ? lifetime : .zero, staleWhileRevalidate: staleWhileRevalidate,
            staleIfError: staleIfError)
    }

    /// The client decides by time, and a response on disk is fresh for a time of its own.
    ///
    /// - Parameters:
    ///   - lifetime: How long a response in memory is fresh. The default is three minutes; `.zero` stores none there.
    ///   - diskLifetime: How long a response on disk is fresh; `.zero` stores none there.
    ///   - staleWhileRevalidate: How long after that it may land while a fresh one is fetched. The default is not at
    ///     all.
    ///   - staleIfError: How long after that it may land if no fresh one is available. The default is not at all.
    public static func timeToLive(
        _ lifetime: Duration = .seconds(180), diskLifetime: Duration, staleWhileRevalidate: Duration = .zero,
        staleIfError: Duration = .zero
    ) -> CachePolicy {
        var policy = CachePolicy(rule: .timeToLive, tiers: [])
        policy.memoryLifetime = lifetime
        policy.diskLifetime = diskLifetime
        policy.staleWhileRevalidate = staleWhileRevalidate
        policy.staleIfError = staleIfError
        return policy
    }

    /// A response is fresh until it is evicted. For what never changes, such as images.
    ///
    /// - Parameters:
    ///   - inMemory: Whether it is stored in memory. The default is `true`.
    ///   - onDisk: Whether it is stored on disk. The default is `false`.
    public static func untilEvicted(inMemory: Bool = true, onDisk: Bool = false) -> CachePolicy {
        CachePolicy(rule: .untilEvicted, tiers: CacheTiers(memory: inMemory, disk: onDisk))
    }

    /// The server decides, by the header fields of HTTP caching (RFC 9111), RFC 5861's and RFC 8246's among them.
    ///
    /// What is stored on disk is used through memory: a response that the bounds of memory refuse is fetched again.
    /// Partial responses, and those whose `Cache-Control` names fields in `no-cache`, are stored in memory alone.
    ///
    /// - Parameter onDisk: Whether responses are also stored on disk. The default is `false`.
    public static func http(onDisk: Bool = false) -> CachePolicy {
        CachePolicy(rule: .http, tiers: CacheTiers(memory: true, disk: onDisk))
    }

    /// Where responses are stored.
    package var tiers: CacheTiers {
        guard rule == .timeToLive else { return untimedTiers }
        return CacheTiers(memory: memoryLifetime > .zero, disk: diskLifetime > .zero)
    }

    /// Whether the client decides how long a response is used.
    var isClientDefined: Bool { rule == .timeToLive || rule == .untilEvicted }

    private init(rule: Rule, tiers: CacheTiers) {
        self.rule = rule
        untimedTiers = tiers
    }
}

/// The tiers in which responses are stored.
package struct CacheTiers: OptionSet, Sendable, Hashable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    fileprivate init(memory: Bool, disk: Bool) { self.init(rawValue: (memory ? 1 : 0) | (disk ? 2 : 0)) }

    /// The app's memory.
    package static let memory = CacheTiers(rawValue: 1)
    /// The device's disk.
    package static let disk = CacheTiers(rawValue: 2)
}

/// How one call uses stored responses.
public enum CacheUse: Sendable, Hashable {
    /// A fresh response is returned, as the policy allows.
    case standard
    /// No stored response is used, and no validator of one is sent; the new response replaces it.
    case refresh
    /// A stored response is returned, fresh or stale, and nothing is sent; if none is stored, the call fails as
    /// ``NetworkError/Kind/notCached``.
    case onlyIfCached
}
