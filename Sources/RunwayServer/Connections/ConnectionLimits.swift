public import HummingbirdCore
import NIOCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Limits for a server's connections: their number, and the time for which a connection may be idle.
///
/// ```swift
/// let limits = ConnectionLimits()
/// let app = Application(router: router, server: .http1(limits))
/// ```
///
/// Hummingbird has no such limits by default: clients that send nothing, or a byte now and then, hold connections and
/// memory for ever. A server with TLS passes the limits on itself:
///
/// ```swift
/// let builder = HTTPServerBuilder { responder in
///     let configuration = HTTP2ChannelConfiguration(
///         idleTimeout: limits.idleTime, streamConfiguration: limits.requests)
///
///     return LimitedChannel(
///         base: try HTTP2UpgradeChannel(tlsConfiguration: tls, configuration: configuration, responder: responder),
///         limits: limits)
/// }
/// ```
///
/// The body of any request may be silent for 30 s and must arrive at 500 bytes per second, whether a handler receives
/// it or not; otherwise its connection, or its stream over HTTP/2, is closed. ``BodyCollector/shared`` bounds how many
/// bytes of bodies are in memory.
public struct ConnectionLimits: Sendable {
    /// The most connections at a time; further ones are closed at once. Three quarters of the system's limit of open
    /// files is another limit for connections. The default is 1,000. Raise it with that limit and the memory.
    public var maximumConnectionCount = 1000
    /// The longest time for which a connection may wait for the head of a request. Over HTTP/2 a client that does not
    /// respond at its end is closed five seconds later. The default is a minute. Lower it if connections run out.
    public var idleTime = Duration.seconds(60)
    /// The slowest pace at which the body of any request may arrive, whether a handler receives it or not.
    var bodies: BodyTimeLimits = {
        var limits = BodyTimeLimits()
        // Longer than the limits of whole bodies, whose clients get a response of status 408.
        limits.maximumSilence = .seconds(30)
        limits.maximumDuration = nil
        return limits
    }()

    /// Creates limits with their defaults.
    public init() {}

    /// The limits of one request, for a channel of Hummingbird: a connection under HTTP/1.1, a stream under HTTP/2.
    public var requests: HTTP1Channel.Configuration {
        let bodies = bodies
        return HTTP1Channel.Configuration(
            additionalChannelHandlers: [RequestPaceHandler(bodies)], idleTimeout: TimeAmount(idleTime))
    }

    /// The number of connections that the limit of open files of this process allows.
    var affordableConnectionCount: Int {
        var limit = rlimit()
        #if canImport(Glibc)
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let resource = RLIMIT_NOFILE
        #endif
        guard getrlimit(resource, &limit) == 0 else { return maximumConnectionCount }
        return max(1, min(maximumConnectionCount, Int(clamping: limit.rlim_cur) / 4 * 3))
    }
}

extension HTTPServerBuilder {
    /// Returns a server for HTTP/1.1 without TLS with these limits.
    public static func http1(_ limits: ConnectionLimits) -> HTTPServerBuilder {
        HTTPServerBuilder { responder in
            LimitedChannel(base: HTTP1Channel(responder: responder, configuration: limits.requests), limits: limits)
        }
    }
}
