/// Windows, limits and time-outs of the connections of ``NIOTransport``. Other transports ignore them.
///
/// ```swift
/// var configuration = TransportConfiguration()
/// configuration.wire.firstByteTimeout = .seconds(20)
/// configuration.wire.maximumHeadByteCount = 16 << 10
/// let transport = try NIOTransport(configuration: configuration)
/// ```
public struct WireSettings: Sendable {
    /// The flow-control window of an HTTP/2 stream: how many unread bytes of one response a server may send. From 64
    /// KiB to 2 GiB; the default is 8 MiB.
    ///
    /// The size is part of the first settings, so that the first response is not slowed down. It also limits the memory
    /// for the unread bytes of a stream.
    public var streamWindowByteCount = 8 << 20
    /// The flow-control window of an HTTP/2 connection: from 64 KiB to 2 GiB; the default is 16 MiB.
    ///
    /// The window is opened again by received bytes, whether they are read or not, so that an unread response does not
    /// delay the others, but not beyond ``maximumUnreadByteCount``.
    public var connectionWindowByteCount = 16 << 20
    /// The most unread bytes of streamed responses over one HTTP/2 connection, including those of responses that have
    /// ended: at least 64 KiB; the default is 64 MiB. It limits the memory of a connection; bytes in small parts may
    /// take several times as much.
    ///
    /// At the limit the server may not send on any stream until a reader consumes bytes or is released. Other calls
    /// wait meanwhile, until their deadlines. Whole responses do not count: each has a limit of its own.
    public var maximumUnreadByteCount = 64 << 20
    /// The most requests at once on one HTTP/2 connection, even if its server allows more; further requests wait. The
    /// default is 256.
    public var maximumConcurrentStreams = 256
    /// The most requests that wait for a connection to one origin; one more fails as overloaded. The default is 4096.
    public var maximumWaitingRequests = 4096
    /// The largest head and the largest trailers of a response. The default is 64 KiB.
    public var maximumHeadByteCount = 64 << 10
    /// The most fields of a head. The default is 512.
    public var maximumFieldCount = 512
    /// The most responses of status 1xx to one request. The default is 32.
    public var maximumInformationalResponses = 32
    /// The longest time from the end of the request to the first byte of the response. The default, `nil`, is no limit
    /// but ``TransportConfiguration/idleTimeout``.
    public var firstByteTimeout: Duration?
    /// The time for which an HTTP/2 connection with requests in flight may be silent before a PING is sent (RFC 9113
    /// §6.7). The default is 15 s, the minimum 10 ms; `nil` sends no PING. None is sent while only event streams and
    /// WebSockets are open, which have heartbeats and pings of their own.
    public var pingInterval: Duration? = .seconds(15)
    /// The time within which the server has to acknowledge a PING; otherwise the connection is closed. The default is
    /// 10 s.
    public var pingTimeout: Duration = .seconds(10)
    /// The size from which on a body waits for status 100 (`Expect: 100-continue`, RFC 9110 §10.1.1), as any body of
    /// unknown length does then. The default, `nil`, is no size: a body waits only if its request has the field.
    public var expectContinueByteCount: Int?
    /// The time for which a body waits for status 100 before it is sent anyway. The default is 1 s.
    public var continueTimeout: Duration = .seconds(1)
    /// The largest ratio of a decoded response to its coded size, beyond its first MiB. The default is 250.
    public var maximumExpansion = 250
    /// The most bytes of a decoded response. The default is 64 GiB; a whole response has a lower limit of its own.
    public var maximumDecodedByteCount = Int(clamping: Int64(64) << 30)

    /// Tunes the wire; see the properties for the defaults.
    public init() {}
}

extension WireSettings {
    /// The limits for the growth of a response when it is decoded.
    var decodingLimits: ContentDecoder.Limits {
        ContentDecoder.Limits(maximumByteCount: max(0, maximumDecodedByteCount), maximumRatio: max(1, maximumExpansion))
    }
}
