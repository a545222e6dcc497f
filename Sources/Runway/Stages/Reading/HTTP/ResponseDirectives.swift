import HTTPTypes

/// The `Cache-Control` directives of a response, as they apply to a private cache (RFC 9111 §5.2.2, RFC 5861, RFC
/// 8246).
///
/// Some directives have no effect here: `s-maxage` and `proxy-revalidate` are for shared caches, and `no-transform` is
/// for caches that transform responses. The fields of RFC 9213, such as `CDN-Cache-Control`, also have no effect here,
/// because they are for the caches that they name. These fields are stored like any other field.
struct ResponseDirectives: Sendable {
    /// The freshness lifetime; zero if it is invalid, `nil` if it is absent.
    var maxAge: Duration?
    /// Whether the response must not be stored.
    var isNoStore = false
    /// Whether the response must be validated before it is used again.
    var isNoCache = false
    /// The fields that must not be reused without validation, in lower case.
    var noCacheFields: [String] = []
    /// Whether the response must not be used stale.
    var mustRevalidate = false
    /// Whether the response may be stored only by a cache that understands its status.
    var mustUnderstand = false
    /// Whether the response may be stored regardless of its status.
    var isPublic = false
    /// Whether a private cache may store the response regardless of its status.
    var isPrivate = false
    /// Whether the response does not change while it is fresh.
    var isImmutable = false
    /// The maximum time for which a stale response may have been stale if a fresh one is fetched at the same time;
    /// `nil` if the response does not state it.
    var staleWhileRevalidate: Duration?
    /// The maximum time for which a stale response may have been stale if no fresh one is available; `nil` if the
    /// response does not state it.
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
