/// Limits and time-outs of the connections of ``NIOTransport``. Other transports ignore them.
///
/// These are the same for every transport:
///
/// - An HTTP/2 stream has a window of 8 MiB, its connection one of 16 MiB. A connection holds at most 64 MiB of unread
///   bytes of streamed responses; beyond that the server may not send until a reader consumes some.
/// - One HTTP/2 connection has at most 256 requests at once, even if its server allows more; further ones wait. At most
///   4,096 requests wait for a connection to one origin; one more fails as overloaded.
/// - A head has at most 512 fields, and a request gets at most 32 responses of status 1xx.
/// - A server acknowledges a PING within 10 s, or the connection is closed. A body waits 1 s for status 100.
/// - A decoded response has at most 250 times its coded size, beyond its first MiB, and at most 64 GiB.
///
/// ```swift
/// var configuration = TransportConfiguration()
/// configuration.wire.firstByteTimeout = .seconds(20)
/// configuration.wire.maximumHeadByteCount = 16 << 10
/// let transport = try NIOTransport(configuration: configuration)
/// ```
public struct WireSettings: Sendable {
    /// The largest head and the largest trailers of a response. The default is 64 KiB. Raise it for a server that sets
    /// many cookies.
    public var maximumHeadByteCount = 64 << 10
    /// The longest time from the end of the request to the first byte of the response. The default, `nil`, is no limit
    /// except ``TransportConfiguration/idleTimeout``. Set it if a silent server should fail sooner than a slow body.
    public var firstByteTimeout: Duration?
    /// The silence of an HTTP/2 connection with requests in flight after which a PING is sent (RFC 9113 §6.7). The
    /// default is 15 s, the minimum 10 ms; `nil` sends none. None is sent while only event streams and WebSockets are
    /// open, which have heartbeats and pings of their own. Lower it to find a lost connection sooner.
    public var pingInterval: Duration? = .seconds(15)
    /// The size of a body at which it waits for status 100 (`Expect: 100-continue`, RFC 9110 §10.1.1); a body of
    /// unknown length then waits, too. By default, `nil`, a body waits only if its request has the field. Set it for a
    /// server that refuses large uploads by their header fields.
    public var expectContinueByteCount: Int?

    /// The flow-control window of an HTTP/2 stream: the unread bytes of one response that a server may send. From 64
    /// KiB to 2 GiB.
    ///
    /// The size is part of the first settings, so that the first response is not slowed down. It also limits the memory
    /// for the unread bytes of a stream.
    package var streamWindowByteCount = 8 << 20
    /// The flow-control window of an HTTP/2 connection: from 64 KiB to 2 GiB.
    ///
    /// The window is opened again by received bytes, whether they are read or not, so that an unread response does not
    /// delay the others, but not beyond ``maximumUnreadByteCount``.
    package var connectionWindowByteCount = 16 << 20
    /// The most unread bytes of streamed responses over one HTTP/2 connection, including those of responses that have
    /// ended: at least 64 KiB. It limits the memory of a connection; bytes in small parts may take several times as
    /// much.
    ///
    /// At the limit the server may not send on any stream until a reader consumes bytes or is released. Other calls
    /// wait meanwhile, until their deadlines. Whole responses do not count: each has a limit of its own.
    package var maximumUnreadByteCount = 64 << 20
    /// The most requests at once on one HTTP/2 connection, even if its server allows more; further requests wait.
    package var maximumConcurrentStreams = 256
    /// The most requests that wait for a connection to one origin; one more fails as overloaded.
    package var maximumWaitingRequests = 4096
    /// The most fields of a head.
    package var maximumFieldCount = 512
    /// The most responses of status 1xx to one request.
    package var maximumInformationalResponses = 32
    /// The time that a server may take to acknowledge a PING before the connection is closed.
    package var pingTimeout: Duration = .seconds(10)
    /// The time for which a body waits for status 100 before it is sent anyway.
    package var continueTimeout: Duration = .seconds(1)
    /// The largest ratio of a decoded response to its coded size, beyond its first MiB.
    package var maximumExpansion = 250
    /// The most bytes of a decoded response; a whole response has a lower limit of its own.
    package var maximumDecodedByteCount = Int(clamping: Int64(64) << 30)

    /// Tunes the wire; see the properties for the defaults.
    public init() {}
}

extension WireSettings {
    /// The limits for the growth of a response when it is decoded.
    var decodingLimits: ContentDecoder.Limits {
        ContentDecoder.Limits(maximumByteCount: max(0, maximumDecodedByteCount), maximumRatio: max(1, maximumExpansion))
    }
}
