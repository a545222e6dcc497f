public import HTTPTypes

/// The bounds within which a server runs merged requests.
///
/// These are the same for every server:
///
/// - An envelope has at most 1 MiB, or it is refused with 413; one of its requests has at most 64 header fields, or it
///   is refused with 400.
/// - The body of a response has at most 4 MiB, and all bodies together at most 16 MiB; a body that is larger, or no
///   longer fits, becomes a 500.
/// - All requests of an envelope take at most 30 s; those without a response by then get 504.
public struct MergingLimits: Sendable {
    /// The default bounds.
    public static let standard = MergingLimits()

    /// The most header fields of one request.
    static let maximumHeaderFields = 64

    /// The most requests in one envelope; one with more is refused with 413. The default is 20. Raise it with the app's
    /// `MergePolicy.maximumCount`.
    public var maximumItems: Int
    /// The most requests of one envelope that are worked on at once. The default is 4. Raise it for handlers that
    /// mostly wait for others.
    public var maximumConcurrentItems: Int
    /// The longest time of one request; after that its task is cancelled and its response is 504. The default is 10 s.
    /// Raise it for slow handlers, up to the 30 s of all requests of an envelope.
    public var timePerItem: Duration
    /// Header fields that every request inherits from its envelope, and may not set itself: fields that a proxy in
    /// front of the server sets and clients must not set. The default is `Forwarded`, `Via`, `X-Real-IP` and the common
    /// `X-Forwarded-…`; add the fields that your proxy sets.
    public var inheritedHeaders: Set<HTTPField.Name>
    /// The largest envelope, in bytes.
    package var maximumRequestByteCount = 1 << 20
    /// The largest response to one request, in bytes of its body.
    package var maximumResponseByteCount = 4 << 20
    /// The most bytes of the bodies of all responses.
    package var maximumTotalResponseByteCount = 16 << 20
    /// The longest time for all requests together.
    package var totalTime = Duration.seconds(30)

    /// Bounds the content of one envelope; see the properties for the defaults. A count below 1 is 1.
    public init(
        maximumItems: Int = 20, maximumConcurrentItems: Int = 4, timePerItem: Duration = .seconds(10),
        inheritedHeaders: Set<HTTPField.Name> = MergingLimits.headersOfProxies
    ) {
        self.maximumItems = maximumItems
        self.maximumConcurrentItems = maximumConcurrentItems
        self.timePerItem = timePerItem
        self.inheritedHeaders = inheritedHeaders
    }

    /// The header fields that proxies commonly set.
    public static let headersOfProxies: Set<HTTPField.Name> = Set(
        [
            "Forwarded", "Via", "X-Real-IP", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Port",
            "X-Forwarded-Proto",
        ].compactMap { HTTPField.Name($0) })
}
