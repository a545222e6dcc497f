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
/// Hummingbird has no such limits by default: clients that send nothing, or only a byte now and then, occupy
/// connections and memory forever. A server with TLS has to pass the limits itself:
///
/// ```swift
/// let builder = HTTPServerBuilder { responder in
///     let configuration = HTTP2ChannelConfiguration(
///         idleTimeout: limits.idleTime, streamConfiguration: limits.requests)
///
///     return try HTTP2UpgradeChannel(tlsConfiguration: tls, configuration: configuration, responder: responder)
///         .limited(by: limits)
/// }
/// ```
///
/// The body of any request may be silent for 30 s, and must arrive at 500 bytes per second, even if no handler receives
/// it. Otherwise the server closes its connection, or only its stream in HTTP/2. ``BodyCollector/shared`` limits the
/// number of bytes of bodies in memory.
public struct ConnectionLimits: Sendable {
    /// The maximum number of simultaneous connections; further ones are closed immediately. The default is 1,000.
    ///
    /// Connections also use at most three quarters of the system's limit on open files. Raise both limits together, if
    /// the memory suffices.
    public var maximumConnectionCount = 1000
    /// The maximum time for which a connection may wait for the head of a request. The default is one minute. Lower it
    /// if connections run out.
    ///
    /// In HTTP/2, an idle client first gets GOAWAY and PING, and is disconnected at most five seconds later.
    public var idleTime = Duration.seconds(60)
    /// The slowest rate at which the body of any request may arrive, even if no handler receives the body.
    var bodies: BodyTimeLimits = {
        var limits = BodyTimeLimits()
        // These limits are longer than the limits for collected bodies, since a client whose collected body is too slow
        // gets a response with status 408 before it is disconnected.
        limits.maximumSilence = .seconds(30)
        limits.maximumDuration = nil
        return limits
    }()

    /// Creates limits with the default values.
    public init() {}

    /// The limits of one request, for a Hummingbird channel. The channel is a connection in HTTP/1.1 and a stream in
    /// HTTP/2.
    public var requests: HTTP1Channel.Configuration {
        let bodies = bodies
        return HTTP1Channel.Configuration(
            additionalChannelHandlers: [RequestPaceHandler(bodies)], idleTimeout: TimeAmount(idleTime))
    }

    /// The number of connections that this process's limit on open files permits.
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
    /// Returns a builder of an HTTP/1.1 server without TLS that has these limits.
    public static func http1(_ limits: ConnectionLimits) -> HTTPServerBuilder {
        HTTPServerBuilder { responder in
            HTTP1Channel(responder: responder, configuration: limits.requests).limited(by: limits)
        }
    }
}
