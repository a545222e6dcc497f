/// The reason why a store or a sink refuses a change. The route that passed the change responds with a problem; the
/// client retries, except after ``rejected``.
public struct StoreRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Kind: String, Sendable {
        case busy, rejected, installation, source, full
    }

    package let kind: Kind
    /// The time for which the client waits before it retries; `nil` if the route decides.
    public let retryAfter: Duration?

    private init(_ kind: Kind, retryAfter: Duration? = nil) { (self.kind, self.retryAfter) = (kind, retryAfter) }

    /// Too many changes are pending: status 429.
    public static let busy = StoreRefusal(.busy)
    /// The store can never store the change, for example because its database does not accept a text: status 400. The
    /// client of an action log finds the record and sets it aside.
    public static let rejected = StoreRefusal(.rejected)

    /// The installation has used up its quota in an action log: status 429.
    ///
    /// - Parameter retryAfter: The time for which the client waits. The default is ten minutes.
    public static func installation(retryAfter: Duration = .seconds(600)) -> StoreRefusal {
        StoreRefusal(.installation, retryAfter: retryAfter)
    }

    /// The source has used up its daily share of an action log: status 429.
    ///
    /// - Parameter retryAfter: The time for which the client waits. The default is ten minutes.
    public static func source(retryAfter: Duration = .seconds(600)) -> StoreRefusal {
        StoreRefusal(.source, retryAfter: retryAfter)
    }

    /// The store, its disk, or the share of a principal has no space: status 503 of an action log, 429 for an
    /// idempotency key.
    ///
    /// - Parameter retryAfter: The time for which the client of an action log waits. The default is ten minutes.
    public static func full(retryAfter: Duration = .seconds(600)) -> StoreRefusal {
        StoreRefusal(.full, retryAfter: retryAfter)
    }

    /// The reason in one word: `busy`, `rejected`, `installation`, `source` or `full`. The words never change between
    /// releases.
    public var reason: String { kind.rawValue }

    /// The refusal in one sentence.
    public var description: String {
        switch kind {
        case .busy: "Too many changes are pending."
        case .rejected: "The change can't be stored."
        case .installation: "The installation has as many bytes in the log as it may."
        case .source: "The client's address or identity has sent as much today as it may."
        case .full: "The store has no space."
        }
    }
}
