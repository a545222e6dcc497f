public import HTTPTypes

/// What ``IdempotencyMiddleware`` requires of requests, and what it stores of their responses.
public struct IdempotencyRules: Sendable {
    /// The methods whose requests may have a key. The default is POST, PATCH, PUT and DELETE. Keys of other requests
    /// are ignored.
    ///
    /// PUT and DELETE are idempotent, but a repeated one undoes what others have changed since the first.
    public var methods: Set<HTTPRequest.Method> = [.post, .patch, .put, .delete]
    /// Whether a request must have a key. By default no request must.
    public var requiresKey: @Sendable (HTTPRequest) -> Bool = { _ in false }
    /// How long a response is stored and replayed, which a server publishes to its clients. The default is 31 days.
    ///
    /// It must be longer than clients repeat a request: an `OfflineQueue` does for 30 days by default. What a client
    /// sends again after that is executed again.
    public var lifetime = Duration.seconds(31 * 86_400)
    /// How long a request may be executed before another one with its key is executed in its place, because the server
    /// is supposed to have stopped. The default is 5 minutes. A request that takes longer is then executed twice, and
    /// its response is not stored.
    ///
    /// Leases of servers that share a store must not differ by more than a day, less what the clocks of the servers are
    /// apart. A server takes a longer lease of another for one from before its clock was set back, and executes the
    /// request in its place.
    public var lease = Duration.seconds(300)
    /// The most bytes of a key. The default is 255.
    public var maximumKeyByteCount = 255
    /// The most bytes of the body of a request with a key, which is received before it is passed on. The default is 1
    /// MiB.
    public var maximumBodyByteCount = 1 << 20
    /// The most bytes of a body that is stored. The default is 256 KiB. A larger one, and one whose length is not known
    /// before it is sent, is sent once: a repeated request gets 409.
    public var maximumResponseByteCount = 256 << 10
    /// The header fields that are stored and replayed. The default is `Content-Type`, `Content-Language`, `Location`
    /// and `ETag`.
    public var storedFields: Set<HTTPField.Name> = [.contentType, .contentLanguage, .location, .eTag]
    /// Whether a response says that its request was not executed, so that nothing is stored and the key can be used
    /// again. The default is the statuses that report what precedes an execution: 400, 401, 403, 404, 405, 406, 408,
    /// 411, 413, 414, 415, 417, 421, 422, 425, 426, 428, 429, 431 and 503. A handler that has had an effect must not
    /// respond with one of them. 502 and 504 are not among them, since a gateway may fail after the effect: they are
    /// stored and replayed.
    public var precedesExecution: @Sendable (HTTPResponse.Status) -> Bool = {
        [400, 401, 403, 404, 405, 406, 408, 411, 413, 414, 415, 417, 421, 422, 425, 426, 428, 429, 431, 503].contains(
            $0.code)
    }

    /// Creates rules with their defaults.
    public init() {}
}
