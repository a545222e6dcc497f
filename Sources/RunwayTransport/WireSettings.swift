/// Limits and timeouts of the connections of ``NIOTransport``. Other transports ignore them.
///
/// These are the same for every transport:
///
/// - An HTTP/2 stream has a window of 8 MiB, its connection one of 16 MiB. A connection stores at most 64 MiB of unread
///   bytes of streamed responses. Beyond that, the server may not send until a reader consumes some.
/// - One HTTP/2 connection has at most 256 requests at once, even if its server allows more. Further requests wait. At
///   most 4,096 requests wait for a connection to one origin; further ones fail as overloaded.
/// - A head has at most 512 fields, and a request has at most 32 responses of status 1xx.
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
    /// The maximum size of a response's head, and of its trailers, in bytes. The default is 64 KiB. Raise it for a
    /// server that sets many cookies.
    public var maximumHeadByteCount = 64 << 10
    /// The maximum time from the end of the request to the first byte of the response. The default, `nil`, sets no
    /// limit besides ``TransportConfiguration/idleTimeout``. Set it if a silent server should fail sooner than a slow
    /// body.
    public var firstByteTimeout: Duration?
    /// The time without a received byte after which a PING is sent on an HTTP/2 connection with requests in flight (RFC
    /// 9113 §6.7). The default is 15 s, the minimum 10 ms; `nil` sends no PING. Lower it to detect a lost connection
    /// sooner.
    ///
    /// No PING is sent while only event streams and WebSockets are open, since they have their own heartbeats and
    /// pings.
    public var pingInterval: Duration? = .seconds(15)
    /// The minimum size of a body, in bytes, that is sent only after status 100 (`Expect: 100-continue`, RFC 9110
    /// §10.1.1). A body of unknown length then also waits. With `nil`, the default, a body waits only if its request
    /// has the field. Set it for a server that refuses large uploads by their header fields.
    public var expectContinueByteCount: Int?

    /// The flow-control window of an HTTP/2 stream in bytes, from 64 KiB to 2 GiB. The server may send this many bytes
    /// of a response before they are read.
    ///
    /// The size is part of the first settings, so that the first response is not slowed down. It also limits the memory
    /// for the unread bytes of a stream.
    package var streamWindowByteCount = 8 << 20
    /// The flow-control window of an HTTP/2 connection in bytes, from 64 KiB to 2 GiB.
    ///
    /// Received bytes reopen the window even if they are unread, so that an unread response does not delay other
    /// responses. While more than ``maximumUnreadByteCount`` bytes are unread, the window is not reopened.
    package var connectionWindowByteCount = 16 << 20
    /// The maximum number of unread bytes of streamed responses on one HTTP/2 connection, including ended responses: at
    /// least 64 KiB. It limits the memory of a connection; bytes in small parts may take several times as much.
    ///
    /// At the limit, the server may not send on any stream until a reader consumes bytes or is released. Other calls
    /// then wait, up to their deadlines. Responses that are collected do not count: each has its own limit.
    package var maximumUnreadByteCount = 64 << 20
    /// The maximum number of simultaneous requests on one HTTP/2 connection, even if its server permits more. Further
    /// requests wait.
    package var maximumConcurrentStreams = 256
    /// The maximum number of requests that wait for a connection to one origin. Further ones fail as overloaded.
    package var maximumWaitingRequests = 4096
    /// The maximum number of fields in a head.
    package var maximumFieldCount = 512
    /// The maximum number of 1xx responses to one request.
    package var maximumInformationalResponses = 32
    /// The maximum time for the server to acknowledge a PING. After it, the connection is closed.
    package var pingTimeout: Duration = .seconds(10)
    /// The maximum time for which a body waits for status 100. After it, the body is sent anyway.
    package var continueTimeout: Duration = .seconds(1)
    /// The maximum ratio of decoded to coded size of a response, after the first MiB.
    package var maximumExpansion = 250
    /// The maximum size of a decoded response in bytes. Responses that are collected have a lower limit.
    package var maximumDecodedByteCount = Int(clamping: Int64(64) << 30)

    /// Creates settings with the default values.
    public init() {}
}

extension WireSettings {
    var decodingLimits: ContentDecoder.Limits {
        ContentDecoder.Limits(maximumByteCount: max(0, maximumDecodedByteCount), maximumRatio: max(1, maximumExpansion))
    }
}
