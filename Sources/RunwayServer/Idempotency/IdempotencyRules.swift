public import HTTPTypes

/// The requirements of ``IdempotencyMiddleware`` for requests, and for the responses that it stores.
///
/// Requests by POST, PATCH, PUT and DELETE may have a key of at most 255 bytes; keys of other requests are ignored.
///
/// A response is not stored, and its key can be used again, if its status reports a problem before the execution: 400,
/// 401, 403, 404, 405, 406, 408, 411, 413, 414, 415, 417, 421, 422, 425, 426, 428, 429, 431 and 503. A handler that has
/// had an effect must not respond with one of them.
public struct IdempotencyRules: Sendable {
    /// The methods whose requests may have a key.
    ///
    /// PUT and DELETE are idempotent, but repeating one undoes the changes that others have made since the first.
    static let methods: Set<HTTPRequest.Method> = [.post, .patch, .put, .delete]
    /// The statuses that report a problem before the execution: the response is not stored, and the key can be used
    /// again.
    ///
    /// 502 and 504 are not among them, since a gateway may fail after the effect: they are stored and replayed.
    static let statusesBeforeExecution: Set<Int> = [
        400, 401, 403, 404, 405, 406, 408, 411, 413, 414, 415, 417, 421, 422, 425, 426, 428, 429, 431, 503,
    ]

    /// Returns whether a request must have a key. By default no request must.
    public var requiresKey: @Sendable (HTTPRequest) -> Bool = { _ in false }
    /// The time for which a response is stored and replayed; a server should publish it to its clients. The default is
    /// 31 days.
    ///
    /// The time must be longer, by a day, than the one for which clients repeat a request: 30 days for an
    /// `OfflineQueue` by default (`OfflineQueueOptions.maximumAge`). A request that a client sends again after that is
    /// executed again.
    public var lifetime = Duration.seconds(31 * 86_400)
    /// The time after which a running request counts as abandoned by a stopped server, so that another request with its
    /// key is executed. The default is 5 minutes. A request that takes longer is then executed twice, and its response
    /// is not stored. Raise it above the longest time that a handler takes.
    ///
    /// Leases of servers that share a store must not differ by more than a day minus the difference of their clocks. A
    /// server mistakes a longer lease of another server for a lease from before its clock was set back, and executes
    /// the request again.
    public var lease = Duration.seconds(300)
    /// The most bytes of a key.
    package var maximumKeyByteCount = 255
    /// The most bytes of the body of a request with a key. The body is received before the request is passed on. The
    /// default is 1 MiB. Raise it for larger requests; each takes that much memory.
    public var maximumBodyByteCount = 1 << 20
    /// The most bytes of a stored body. The default is 256 KiB. A larger body, or one whose length is not known before
    /// it is sent, is sent only once: a repeated request gets 409. Raise it for larger responses; each takes that much
    /// of the store.
    public var maximumResponseByteCount = 256 << 10
    /// The header fields that are stored and replayed. The default is `Content-Type`, `Content-Language`, `Location`
    /// and `ETag`. Add the fields that clients need of a replayed response.
    public var storedFields: Set<HTTPField.Name> = [.contentType, .contentLanguage, .location, .eTag]

    /// Creates rules with their defaults.
    public init() {}
}
