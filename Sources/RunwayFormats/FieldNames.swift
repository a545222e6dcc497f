package import HTTPTypes

extension HTTPField.Name {
    /// Creates a name from a text that is known to be a valid token.
    package init(_ text: String, known: Void) {
        guard let name = HTTPField.Name(text) else { preconditionFailure("\(text) is the name of a header field") }
        self = name
    }

    /// Identifies a request, so that a server executes it only once (draft-ietf-httpapi-idempotency-key-header).
    package static let idempotencyKey = HTTPField.Name("Idempotency-Key", known: ())
    /// Marks a response that was stored for an earlier request with the same idempotency key.
    package static let idempotencyReplayed = HTTPField.Name("Idempotency-Replayed", known: ())

    /// The id of the last event that the client of an event stream has received (WHATWG HTML §9.2.4).
    package static let lastEventID = HTTPField.Name("Last-Event-ID", known: ())
    /// The name of an event stream on a Runway server.
    package static let runwayStream = HTTPField.Name("Runway-Stream", known: ())
    /// The seconds between heartbeats: in a request, the client's wish; in a response, the server's choice.
    package static let runwayHeartbeat = HTTPField.Name("Runway-Heartbeat", known: ())
    /// The maximum number of seconds between heartbeats.
    package static let runwayHeartbeatLimit = HTTPField.Name("Runway-Heartbeat-Limit", known: ())
    /// The seconds after which the server ends the response.
    package static let runwayLifetime = HTTPField.Name("Runway-Lifetime", known: ())
    /// The number of padding bytes that the client wants first in a stream, so that no proxy buffers the events.
    package static let runwayPadding = HTTPField.Name("Runway-Padding", known: ())

    /// Whether the field describes an HTTP/1.1 connection, so that HTTP/2 does not allow it (RFC 9113 §8.2.2).
    package var isConnectionSpecific: Bool {
        switch canonicalName {
        case "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade": true
        default: false
        }
    }

    /// Whether the field is only for the next hop, and must not be forwarded (RFC 9110 §7.6.1).
    ///
    /// These are the connection-specific fields, the fields between a client and its proxy (RFC 9110 §11.7), and
    /// `Trailer`, since trailers are not forwarded. `Proxy-Status` is for all recipients (RFC 9209 §2).
    package var isHopByHop: Bool {
        switch canonicalName {
        case "te", "trailer", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization": true
        default: isConnectionSpecific
        }
    }
}
