package import HTTPTypes

extension HTTPField.Name {
    /// A name that is a token by its spelling.
    package init(_ text: String, known: Void) {
        guard let name = HTTPField.Name(text) else { preconditionFailure("\(text) is the name of a header field") }
        self = name
    }

    /// Names a request, so that a server executes it once (draft-ietf-httpapi-idempotency-key-header).
    package static let idempotencyKey = HTTPField.Name("Idempotency-Key", known: ())
    /// Marks the stored response to an earlier request with the same key.
    package static let idempotencyReplayed = HTTPField.Name("Idempotency-Replayed", known: ())

    /// The last event that the client of an event stream has (WHATWG HTML §9.2.4).
    package static let lastEventID = HTTPField.Name("Last-Event-ID", known: ())
    /// The name of an event stream of Runway's servers.
    package static let runwayStream = HTTPField.Name("Runway-Stream", known: ())
    /// The number of seconds between heartbeats: as the client wants it, or as the server sends them.
    package static let runwayHeartbeat = HTTPField.Name("Runway-Heartbeat", known: ())
    /// The largest number of seconds between heartbeats.
    package static let runwayHeartbeatLimit = HTTPField.Name("Runway-Heartbeat-Limit", known: ())
    /// The number of seconds after which the server ends the response.
    package static let runwayLifetime = HTTPField.Name("Runway-Lifetime", known: ())
    /// The number of bytes that the client wants at the start of a stream, so that no proxy holds the first events
    /// back.
    package static let runwayPadding = HTTPField.Name("Runway-Padding", known: ())

    /// Whether the field is for one connection of HTTP/1.1, and may not be sent over HTTP/2 (RFC 9113 §8.2.2).
    package var isConnectionSpecific: Bool {
        switch canonicalName {
        case "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade": true
        default: false
        }
    }

    /// Whether the field is only for the next hop and not part of the message (RFC 9110 §7.6.1).
    ///
    /// Besides the fields of one connection, these are the ones between a client and its proxy (RFC 9110 §11.7), and
    /// `Trailer`, since no trailers are passed on. `Proxy-Status` is for all recipients (RFC 9209 §2).
    package var isHopByHop: Bool {
        switch canonicalName {
        case "te", "trailer", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization": true
        default: isConnectionSpecific
        }
    }
}
