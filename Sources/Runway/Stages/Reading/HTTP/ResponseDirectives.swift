import HTTPTypes

/// The `Cache-Control` of a response, as it applies to a private cache (RFC 9111 §5.2.2, RFC 5861, RFC 8246).
///
/// `s-maxage` and `proxy-revalidate` are for shared caches, `no-transform` for intermediaries that transform; they have
/// no effect here. The fields of RFC 9213 (`CDN-Cache-Control` and its like) are for the caches they name, and are
/// stored as any other field.
struct ResponseDirectives: Sendable {
    /// The freshness lifetime; zero if it is invalid.
    var maxAge: Duration?
    /// The response may not be stored.
    var isNoStore = false
    /// Whether the response may not be used again without validation.
    var isNoCache = false
    /// The fields that may not be used again without validation, in lower case.
    var noCacheFields: [String] = []
    /// Whether the response may not be used stale.
    var mustRevalidate = false
    /// Whether the response may be stored only by a cache that understands its status.
    var mustUnderstand = false
    /// Whether the response may be stored whatever its status is.
    var isPublic = false
    /// Whether a private cache may store the response whatever its status is.
    var isPrivate = false
    /// Whether the response does not change while it is fresh.
    var isImmutable = false
    /// The time after its freshness during which the response may be used while a fresh one is fetched.
    var staleWhileRevalidate: Duration?
    /// The time after its freshness during which the response may be used if no fresh one is available.
    var staleIfError: Duration?

    init(_ fields: HTTPFields) {
        let values = fields[values: .cacheControl]
        if values.isEmpty { return }
        let directives = CacheDirectives(values)
        maxAge = directives.duration("max-age")
        isNoStore = directives.has("no-store")
        if let names = directives.fieldNames("no-cache") {
            isNoCache = names.isEmpty
            noCacheFields = names
        }
        mustRevalidate = directives.has("must-revalidate")
        mustUnderstand = directives.has("must-understand")
        isPublic = directives.has("public")
        isPrivate = directives.has("private")
        isImmutable = directives.has("immutable")
        staleWhileRevalidate = directives.duration("stale-while-revalidate")
        staleIfError = directives.duration("stale-if-error")
    }
}
