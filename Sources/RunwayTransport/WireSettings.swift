/// How ``NIOTransport`` speaks: windows, limits and the keeping alive of connections. Other transports do not read it.
public struct WireSettings: Sendable {
    /// How many bytes of one answer a server may send over HTTP/2 before they are read: from 64 KiB to 2 GiB, by default 8 MiB.
    ///
    /// It is offered with the first byte of a connection, so that the first answer is not slowed down. As the window is opened again
    /// only for what was read, it is also the most memory that an unread stream takes.
    public var streamWindowByteCount = 8 << 20
    /// How many bytes a server may send over one HTTP/2 connection before they have come in: from 64 KiB to 2 GiB, by default 16 MiB.
    ///
    /// It is opened again for what came in, read or not, so that an unread answer can't hold up the others; but not beyond
    /// ``maximumUnreadByteCount``.
    public var connectionWindowByteCount = 16 << 20
    /// The most bytes of streamed answers over one HTTP/2 connection that wait for their readers, those of answers that have ended
    /// included: at least 64 KiB, by default 64 MiB. It bounds what the connection takes of memory, whatever its callers leave unread;
    /// where that came in small parts it may take several times as much.
    ///
    /// Once the server has sent as much it sends nothing more, on any stream, until something is read or let go. Calls that wait
    /// meanwhile wait as long as their deadlines let them. Whole answers do not count: each has a bound of its own.
    public var maximumUnreadByteCount = 64 << 20
    /// The most requests at once on one HTTP/2 connection, even where its server takes more; further requests wait. The default is 256.
    public var maximumConcurrentStreams = 256
    /// The most requests that wait for a connection to one origin; one more fails as overloaded. The default is 4096.
    public var maximumWaitingRequests = 4096
    /// The largest head of an answer, and the largest trailers. The default is 64 KiB.
    public var maximumHeadByteCount = 64 << 10
    /// The most fields of a head. The default is 512.
    public var maximumFieldCount = 512
    /// The most answers of status 1xx before the final one. The default is 32.
    public var maximumInformationalResponses = 32
    /// The longest wait for the first byte of an answer after the request was sent. The default is `nil`:
    /// ``TransportConfiguration/idleTimeout`` alone.
    public var firstByteTimeout: Duration?
    /// How long an HTTP/2 connection that carries requests may be silent before it is asked with a PING whether it lives. The default
    /// is 15 s, the least 10 ms; `nil` never asks.
    public var pingInterval: Duration? = .seconds(15)
    /// How long the answer to a PING may take until the connection is given up. The default is 10 s.
    public var pingTimeout: Duration = .seconds(10)
    /// From how many bytes on a body waits for the server's word (`Expect: 100-continue`, RFC 9110 §10.1.1); one of unknown length
    /// always does. The default is `nil`: none does, unless its request says so itself.
    public var expectContinueByteCount: Int?
    /// How long a body waits for that word; then it is sent without. The default is 1 s.
    public var continueTimeout: Duration = .seconds(1)
    /// How many times its coded size a decoded answer may have, beyond its first MiB. The default is 250.
    public var maximumExpansion = 250
    /// The most bytes that a decoded answer may have, gathered or streamed. The default is 64 GiB: a whole answer has a bound of its
    /// own below that.
    public var maximumDecodedByteCount = 64 << 30

    /// Makes settings; see the properties for the defaults.
    public init() {}
}

extension WireSettings {
    /// How much an answer may grow when it is decoded.
    var decodingLimits: ContentDecoder.Limits {
        ContentDecoder.Limits(maximumByteCount: max(0, maximumDecodedByteCount), maximumRatio: max(1, maximumExpansion))
    }
}
