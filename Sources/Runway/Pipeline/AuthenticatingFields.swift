import HTTPTypes

// The fields that authenticate a request. Caching, redirects, merging and records read them here. The settings of
// `Redaction` have no effect on them.
//
// Two questions are decided separately, each on its safe side:
// - Who may receive the response? The fields that authenticate (``Flight/isAuthenticating(_:)``) separate stored
//   responses. Adding other fields would only reduce cache hits: the response's `Vary` names the fields that select it
//   (RFC 9111 §4.1).
// - Which fields may be sent to another origin? Only fields that are known to be impersonal (`isImpersonal`), because
//   an API may use any field for its token.

extension HTTPField.Name {
    /// Whether the field may be sent to another origin. Its standard must define it for a purpose other than
    /// authenticating or identifying the sender.
    var isImpersonal: Bool { Self.impersonal.contains(canonicalName) }

    /// The canonical names of fields that are equal for all users of a client or say nothing about the user.
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
        // The origin of the request on the web, and the kind of client: RFC 9110 §10.1.3, RFC 6454 §7, W3C Fetch
        // Metadata, RFC 8942.
        "origin", "referer", "sec-ch-ua", "sec-ch-ua-mobile", "sec-ch-ua-platform", "sec-fetch-dest", "sec-fetch-mode",
        "sec-fetch-site", "sec-fetch-user", "sec-gpc", "sec-purpose",
        // Identifiers of a single request: W3C Trace Context, and the names that servers commonly use.
        "idempotency-key", "traceparent", "tracestate", "x-correlation-id", "x-request-id",
    ]
}

/// The fields and texts that authenticate a call, in addition to fields whose names indicate a secret.
struct CallAuthentication: Sendable {
    /// The fields that ``Credentials`` set or that the service declares.
    var fields: Set<HTTPField.Name> = []
    /// Whether the body authenticates the call. This is so if it contains header fields of other calls, like the body
    /// of a merged request, or if ``Credentials`` wrote it.
    var isInBody = false
}

extension Flight {
    /// Returns whether a request field authenticates the sender of the call.
    ///
    /// Such a field is declared by the service, set by its ``Credentials``, or has a name that indicates a secret, such
    /// as `Authorization`, `Cookie`, `X-API-Key` and `X-Vault-Token`. Names are compared with the words of the default
    /// redaction, even if the layer's records show such fields. They are also compared with the words that the layer
    /// adds to its redaction.
    func isAuthenticating(_ name: HTTPField.Name) -> Bool {
        if configuration.authenticatingFields.contains(name) { return true }
        return !name.isImpersonal && (Redaction.default.isSecret(name) || context.redaction.isSecret(name))
    }
}

extension Request {
    /// Returns the fields that separate the stored responses of different senders, sorted by name. These are the
    /// authenticating fields, and `Host`, which replaces the authority of the target (RFC 9112 §3.2).
    ///
    /// If two requests differ in these fields, they may come from two users, whichever account is signed in.
    func senderFields(in flight: Flight) -> [HTTPField] {
        let fields = Array(head.headerFields).filter {
            $0.name.canonicalName == "host" || flight.isAuthenticating($0.name)
        }
        if fields.count < 2 { return fields }
        // Fields with the same name must stay in order (RFC 9110 §5.3). The order of different names has no meaning.
        return fields.enumerated().sorted {
            ($0.element.name.canonicalName, $0.offset) < ($1.element.name.canonicalName, $1.offset)
        }.map(\.element)
    }

    /// Removes the authenticating fields, because the request will go to another origin (RFC 9110 §15.4).
    ///
    /// - Parameter names: Further fields that authenticate the call, whatever their names.
    mutating func removeAuthentication(_ names: Set<HTTPField.Name>) {
        head.headerFields = HTTPFields(head.headerFields.filter { $0.name.isImpersonal && !names.contains($0.name) })
    }
}

extension Credentials {
    /// Returns the fields that ``authorize(_:with:)`` sets in the request, including changed fields.
    func fields(setBy token: AccessToken, in request: inout Request) -> Set<HTTPField.Name> {
        let before = request.head.headerFields
        authorize(&request, with: token)
        let after = request.head.headerFields
        return Set(after.map(\.name).filter { before[values: $0] != after[values: $0] })
    }
}

extension RequestBody {
    /// Returns whether two bodies are equal. Two streams count as equal, since they can't be read for a comparison.
    func isSame(as other: RequestBody) -> Bool {
        switch (self, other) {
        case (.none, .none), (.stream, .stream): true
        case (.bytes(let own), .bytes(let others)): own == others
        default: false
        }
    }
}
