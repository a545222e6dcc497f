import HTTPTypes

// What authenticates a request. Caching, redirects and merging read it here; `Redaction` only chooses what is shown.

extension HTTPField.Name {
    /// Whether a request field of this name may authenticate or identify who sends the request.
    ///
    /// Every field may, except those whose standard gives them another meaning. An API may invent a field for its token, and nobody
    /// declares such a field: only a list of the harmless ones can't forget it.
    var mayAuthenticate: Bool { !Self.impersonal.contains(canonicalName) }

    /// Fields that are the same for all users of a client, or say nothing about the user, by their canonical names.
    private static let impersonal: Set<String> = [
        // Content negotiation, preferences and ranges: RFC 9110 §12.5, §13.1 and §14.2, RFC 8942, RFC 9218, RFC 7240.
        "accept", "accept-charset", "accept-encoding", "accept-language", "accept-ranges", "dnt", "downlink", "dpr",
        "ect",
        "if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "prefer", "priority",
        "range",
        "rtt", "save-data", "upgrade-insecure-requests", "viewport-width", "width",
        // Caching: RFC 9111 §5.
        "age", "cache-control", "pragma",
        // The content and the connection: RFC 9110 §7.6, §8 and §10.1.
        "connection", "content-disposition", "content-encoding", "content-language", "content-length",
        "content-location",
        "content-range", "content-type", "date", "expect", "keep-alive", "max-forwards", "te", "trailer",
        "transfer-encoding",
        "upgrade", "user-agent", "via", "content-digest", "repr-digest", "want-content-digest", "want-repr-digest",
        // Where the request comes from on the web, and what kind of client it is: RFC 9110 §10.1.3, RFC 6454 §7, W3C Fetch Metadata,
        // RFC 8942.
        "origin", "referer", "sec-ch-ua", "sec-ch-ua-mobile", "sec-ch-ua-platform", "sec-fetch-dest", "sec-fetch-mode",
        "sec-fetch-site", "sec-fetch-user", "sec-gpc", "sec-purpose",
        // One request among many: W3C Trace Context, and the names that servers commonly use.
        "idempotency-key", "traceparent", "tracestate", "x-correlation-id", "x-request-id",
    ]
}

/// What authenticates a call apart from the fields whose names say so.
struct CallAuthentication: Sendable {
    /// The fields that ``Credentials`` set.
    var fields: Set<HTTPField.Name> = []
    /// Whether the body authenticates: it holds header fields of other calls, as that of a merged request does, or ``Credentials`` wrote it.
    var isInBody = false
}

extension Request {
    /// The fields that say who sends the request: every field that may authenticate, sorted by name.
    ///
    /// Two requests in which they differ may come from two users, whichever account the app has set.
    var senderFields: [HTTPField] {
        let fields = Array(head.headerFields).filter(\.name.mayAuthenticate)
        if fields.count < 2 { return fields }
        // Fields of one name keep their order, which has a meaning (RFC 9110 §5.3); that of different names has none.
        return fields.enumerated().sorted {
            ($0.element.name.canonicalName, $0.offset) < ($1.element.name.canonicalName, $1.offset)
        }.map(\.element)
    }

    /// Removes what authenticates the request to one origin, for a request that goes to another (RFC 9110 §15.4).
    ///
    /// - Parameter names: The fields that ``Credentials`` set in this call, whatever their names.
    mutating func removeAuthentication(_ names: Set<HTTPField.Name>) {
        head.headerFields = HTTPFields(
            head.headerFields.filter { !$0.name.mayAuthenticate && !names.contains($0.name) })
    }
}

extension RequestBody {
    /// Whether two bodies are equal. Two streams count as equal, since neither can be read to compare them.
    func isSame(as other: RequestBody) -> Bool {
        switch (self, other) {
        case (.none, .none), (.stream, .stream): true
        case (.bytes(let own), .bytes(let others)): own == others
        default: false
        }
    }
}
