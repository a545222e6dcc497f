import HTTPTypes

// The fields that authenticate a request. Caching, redirects, merging and records read them here; the settings of
// `Redaction` change nothing.
//
// Two questions are decided apart, each on its safe side:
// - Who may get the response? The fields that authenticate (``Flight/isAuthenticating(_:)``) separate stored responses.
//   Any other field would only cost hits: the response's `Vary` names the fields that select it (RFC 9111 §4.1).
// - Which fields may be sent to another origin? Only fields that are known to be impersonal (`isImpersonal`): an API
//   may invent a field for its token.

extension HTTPField.Name {
    /// Whether the standard of a request field gives it a meaning other than to authenticate or identify the sender of
    /// the request, so that it may go to another origin.
    var isImpersonal: Bool { Self.impersonal.contains(canonicalName) }

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

/// The fields and texts that authenticate a call, in addition to fields with telling names.
struct CallAuthentication: Sendable {
    /// The fields that ``Credentials`` set, and those that the service declares.
    var fields: Set<HTTPField.Name> = []
    /// Whether the body authenticates: it contains header fields of other calls, like the body of a merged request, or
    /// ``Credentials`` wrote it.
    var isInBody = false
}

extension Flight {
    /// Returns whether a request field authenticates the sender of the call.
    ///
    /// These are the fields that the service declares or that its ``Credentials`` set, and fields with a name that
    /// indicates a secret, such as `Authorization`, `Cookie`, `X-API-Key` and `X-Vault-Token`: by the words of the
    /// default redaction, whatever the layer shows, and by the words that the layer adds.
    func isAuthenticating(_ name: HTTPField.Name) -> Bool {
        if configuration.authenticatingFields.contains(name) { return true }
        return !name.isImpersonal && (Redaction.default.isSecret(name) || context.redaction.isSecret(name))
    }
}

extension Request {
    /// Returns the fields that separate the stored responses of different senders, sorted by name: those that
    /// authenticate, and `Host`, which replaces the authority of the target (RFC 9112 §3.2).
    ///
    /// Two requests in which they differ may come from two users, whichever account the app has set.
    func senderFields(in flight: Flight) -> [HTTPField] {
        let fields = Array(head.headerFields).filter {
            $0.name.canonicalName == "host" || flight.isAuthenticating($0.name)
        }
        if fields.count < 2 { return fields }
        // Fields of one name keep their order, which has a meaning (RFC 9110 §5.3); the order of different names has
        // none.
        return fields.enumerated().sorted {
            ($0.element.name.canonicalName, $0.offset) < ($1.element.name.canonicalName, $1.offset)
        }.map(\.element)
    }

    /// Removes the fields that authenticate the request to one origin, for a request that goes to another (RFC 9110
    /// §15.4).
    ///
    /// - Parameter names: The fields that authenticate the call whatever their names.
    mutating func removeAuthentication(_ names: Set<HTTPField.Name>) {
        head.headerFields = HTTPFields(head.headerFields.filter { $0.name.isImpersonal && !names.contains($0.name) })
    }
}

extension Credentials {
    /// Returns the fields that a request gets from ``authorize(_:with:)``: those that differ afterwards.
    func fields(setBy token: AccessToken, in request: inout Request) -> Set<HTTPField.Name> {
        let before = request.head.headerFields
        authorize(&request, with: token)
        let after = request.head.headerFields
        return Set(after.map(\.name).filter { before[values: $0] != after[values: $0] })
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
