/// Decides whether the responses of an endpoint are stored, where (in memory, on disk, or both), and for how long.
///
/// ```swift
/// static let cache = CachePolicy.timeToLive(.seconds(60), staleIfError: .seconds(3600))
/// ```
///
/// A response is stored only if the service and the endpoint's own check have accepted it. Under ``http(onDisk:)`` the
/// server decides, and may also allow other responses, such as a 404 with a lifetime. A stored response is returned
/// only to calls with the same service, environment, account, endpoint and parameters.
///
/// A response to GET or HEAD with a validator (`ETag` or `Last-Modified`) is revalidated after its lifetime: a 304
/// makes the stored response fresh again.
///
/// Responses to GET and HEAD can be stored. Policies by time and until evicted also store responses to QUERY and POST.
/// Some APIs use POST for reading; such a policy declares that the endpoint changes nothing. Streamed responses are
/// stored only under ``http(onDisk:)``. Responses to all other methods are never stored.
public struct CachePolicy: Sendable, Hashable {
    /// Determines who decides how long a response is fresh.
    package enum Rule: Sendable, Hashable {
        /// No response is stored.
        case none
        /// The client decides: a response is fresh for the lifetime in the policy.
        case timeToLive
        /// A response is fresh until it is evicted.
        case untilEvicted
        /// The server decides, with the header fields of HTTP caching (RFC 9111).
        case http
    }

    /// Determines who decides how long a response is fresh.
    package let rule: Rule
    /// The storage tiers under rules other than ``Rule/timeToLive``.
    private let untimedTiers: CacheTiers
    /// The freshness lifetime in memory under ``timeToLive(_:onDisk:staleWhileRevalidate:staleIfError:)``. The default
    /// is three minutes; `.zero` stores no response in memory. Under all other policies it is `.zero` and has no
    /// effect.
    public var memoryLifetime: Duration = .zero
    /// The freshness lifetime on disk under ``timeToLive(_:diskLifetime:staleWhileRevalidate:staleIfError:)``. The
    /// default, `.zero`, stores no response on disk.
    public var diskLifetime: Duration = .zero
    /// The time after the freshness lifetime during which a stale response may be delivered while a fresh one is
    /// fetched. Used under ``timeToLive(_:onDisk:staleWhileRevalidate:staleIfError:)``. The default is zero.
    public var staleWhileRevalidate: Duration = .zero
    /// The time after the freshness lifetime during which a stale response may be delivered if no fresh one is
    /// available. Used under ``timeToLive(_:onDisk:staleWhileRevalidate:staleIfError:)``. The default is zero.
    public var staleIfError: Duration = .zero
    /// Whether ``http(onDisk:)`` may store a response that sets cookies. The default is `true`: `Set-Cookie` does not
    /// forbid storing, and the server marks private responses itself (RFC 9111 §7.3). Set it to `false` if several
    /// users share a layer, as in a proxy. A user then never receives a cookie that was set for another user.
    public var storesSetCookie = true

    /// No response is stored.
    public static let off = CachePolicy(rule: .none, tiers: [])

    /// The client decides: a response is fresh for a lifetime.
    ///
    /// - Parameters:
    ///   - lifetime: The freshness lifetime. The default is three minutes.
    ///   - onDisk: Whether responses are also stored on disk. The default is `false`.
    ///   - staleWhileRevalidate: The time after the lifetime during which a stale response may be delivered while a
    ///     fresh one is fetched. The default is zero.
    ///   - staleIfError: The time after the lifetime during which a stale response may be delivered if no fresh one is
    ///     available. The default is zero.
    public static func timeToLive(
        _ lifetime: Duration = .seconds(180), onDisk: Bool = false, staleWhileRevalidate: Duration = .zero,
        staleIfError: Duration = .zero
    ) -> CachePolicy {
        timeToLive(
            lifetime, diskLifetime: onDisk ? lifetime : .zero, staleWhileRevalidate: staleWhileRevalidate,
            staleIfError: staleIfError)
    }

    /// The client decides: a response is fresh for a lifetime in memory, and for a separate lifetime on disk.
    ///
    /// - Parameters:
    ///   - lifetime: The freshness lifetime in memory. The default is three minutes; `.zero` stores no response in
    ///     memory.
    ///   - diskLifetime: The freshness lifetime on disk; `.zero` stores no response on disk.
    ///   - staleWhileRevalidate: The time after the lifetime during which a stale response may be delivered while a
    ///     fresh one is fetched. The default is zero.
    ///   - staleIfError: The time after the lifetime during which a stale response may be delivered if no fresh one is
    ///     available. The default is zero.
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

    /// A response is fresh until it is evicted. For content that never changes, such as images.
    ///
    /// - Parameters:
    ///   - inMemory: Whether responses are stored in memory. The default is `true`.
    ///   - onDisk: Whether responses are stored on disk. The default is `false`.
    public static func untilEvicted(inMemory: Bool = true, onDisk: Bool = false) -> CachePolicy {
        CachePolicy(rule: .untilEvicted, tiers: CacheTiers(memory: inMemory, disk: onDisk))
    }

    /// The server decides, with the header fields of HTTP caching (RFC 9111), including those of RFC 5861 and RFC 8246.
    ///
    /// Responses on disk are loaded into memory for use: a response that exceeds the memory limits is fetched again.
    /// Partial responses are stored only in memory, and so are responses whose `Cache-Control` lists fields in
    /// `no-cache`.
    ///
    /// - Parameter onDisk: Whether responses are also stored on disk. The default is `false`.
    public static func http(onDisk: Bool = false) -> CachePolicy {
        CachePolicy(rule: .http, tiers: CacheTiers(memory: true, disk: onDisk))
    }

    /// The storage tiers: memory, disk, or both.
    package var tiers: CacheTiers {
        guard rule == .timeToLive else { return untimedTiers }
        return CacheTiers(memory: memoryLifetime > .zero, disk: diskLifetime > .zero)
    }

    /// Whether the client, not the server, decides how long a response is used.
    var isClientDefined: Bool { rule == .timeToLive || rule == .untilEvicted }

    private init(rule: Rule, tiers: CacheTiers) {
        self.rule = rule
        untimedTiers = tiers
    }
}

/// The storage tiers: memory, disk, or both.
package struct CacheTiers: OptionSet, Sendable, Hashable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    fileprivate init(memory: Bool, disk: Bool) { self.init(rawValue: (memory ? 1 : 0) | (disk ? 2 : 0)) }

    package static let memory = CacheTiers(rawValue: 1)
    package static let disk = CacheTiers(rawValue: 2)
}

/// Determines how one call uses stored responses.
public enum CacheUse: Sendable, Hashable {
    /// A fresh stored response is used if the policy allows it.
    case standard
    /// A stored response is neither used nor revalidated. The new response replaces it.
    case refresh
    /// A stored response is used, fresh or stale, and no request is sent. If none is stored, the call fails as
    /// ``NetworkError/Kind/notCached``.
    case onlyIfCached
}
