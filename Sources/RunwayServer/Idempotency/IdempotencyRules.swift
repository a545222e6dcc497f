public import HTTPTypes

/// The requirements of ``IdempotencyMiddleware`` for requests, and for the responses that it stores.
///
/// POST, PATCH, PUT and DELETE requests may have a key of at most 255 bytes; keys of other requests are ignored.
///
/// If the status of a response reports a problem before the execution, the response is not stored, and its key can be
/// used again. These statuses are 400, 401, 403, 404, 405, 406, 408, 411, 413, 414, 415, 417, 421, 422, 425, 426, 428,
/// 429, 431 and 503. A handler that has had an effect must not respond with one of them.
public struct IdempotencyRules: Sendable {
    /// The methods whose requests may have a key.
    ///
    /// PUT and DELETE are idempotent, but a repeated request undoes changes that other requests have made since.
    static let methods: Set<HTTPRequest.Method> = [.post, .patch, .put, .delete]
    /// The statuses that report a problem before the execution. Their responses are not stored, and the key can be used
    /// again.
    ///
    /// 502 and 504 are not included, since a gateway may fail after the effect: these responses are stored and
    /// replayed.
    static let statusesBeforeExecution: Set<Int> = [
        400, 401, 403, 404, 405, 406, 408, 411, 413, 414, 415, 417, 421, 422, 425, 426, 428, 429, 431, 503,
    ]

    /// Returns whether a request must have a key. By default, it returns `false`.
    public var requiresKey: @Sendable (HTTPRequest) -> Bool = { _ in false }
    /// The time for which a response is stored and replayed. The default is 31 days. A server should publish it to its
    /// clients.
    ///
    /// It must exceed, by one day, the time for which clients repeat a request: 30 days for an `OfflineQueue` by
    /// default (`OfflineQueueOptions.maximumAge`). A request that a client repeats later is executed again.
    public var lifetime = Duration.seconds(31 * 86_400)
    /// The time after which a running request counts as abandoned by a stopped server. Another request with its key is
    /// then executed. The default is 5 minutes.
    ///
    /// A request that takes longer may be executed twice, and its response is not stored. Set the lease longer than any
    /// handler takes.
    ///
    /// If servers share a store, the difference of their leases and the difference of their clocks must together not
    /// exceed a day. Otherwise, a server may assume that another server's longer lease began before the clock was set
    /// back, and executes the request again.
    public var lease = Duration.seconds(300)
    /// The maximum length of a key in bytes.
    package var maximumKeyByteCount = 255
    /// The maximum body size of a request with a key, in bytes. The default is 1 MiB. The body is received completely
    /// before the request is executed. Raise it for larger requests; each takes as much memory as its body.
    public var maximumBodyByteCount = 1 << 20
    /// The maximum body size of a stored response, in bytes. The default is 256 KiB. Raise it for larger responses;
    /// each takes as much space in the store.
    ///
    /// A larger body, or one of unknown length, is sent only once: a repeated request gets 409.
    public var maximumResponseByteCount = 256 << 10
    /// The header fields that are stored and replayed. The default is `Content-Type`, `Content-Language`, `Location`
    /// and `ETag`. Add the fields that clients need in replayed responses.
    public var storedFields: Set<HTTPField.Name> = [.contentType, .contentLanguage, .location, .eTag]

    /// Creates rules with the default values.
    public init() {}
}
