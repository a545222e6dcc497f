/// What one call asks for that differs from what its endpoint says.
///
/// ```swift
/// rentals.load(RentalList(city: "上海"), options: CallOptions(cacheUse: .refresh))
/// ```
public struct CallOptions: Sendable {
    /// Nothing differs.
    public static let standard = CallOptions()

    /// The cache policy of this call. The default, `nil`, is its endpoint's.
    public var cache: CachePolicy?
    /// What the call makes of answers that are kept. The default, ``CacheUse/standard``, is what its policy says.
    public var cacheUse: CacheUse
    /// The retry policy of this call. The default, `nil`, is its endpoint's.
    public var retry: RetryPolicy?
    /// The priority of this call. The default, `nil`, is its endpoint's.
    public var priority: CallPriority?
    /// Whether the call waits for a network, until its deadline, where the device has none. The default is `false`: it
    /// fails at once.
    public var waitsForNetwork: Bool
    /// The longest that all of the call may take, from when it is asked for to the last byte of its body. Of it and the call's own
    /// deadline the shorter counts; but that covers no more than the head of a streamed answer, and of a download or an upload the time
    /// between two bytes, where this one covers everything. The default is `nil`: no such bound.
    public var wholeDeadline: Duration?

    /// Whether no stale answer lands before the fresh one. For code that makes calls through a manager and can use only
    /// one landing.
    var landsOnce = false

    /// These options, at low priority unless one is set: for requests that no caller waits for.
    var ofTheLayer: CallOptions {
        var options = self
        options.priority = priority ?? .low
        return options
    }

    /// Makes options.
    ///
    /// - Parameters:
    ///   - cache: The cache policy of this call. The default, `nil`, is its endpoint's.
    ///   - cacheUse: What the call makes of answers that are kept. The default is what its policy says.
    ///   - retry: The retry policy of this call. The default, `nil`, is its endpoint's.
    ///   - priority: The priority of this call. The default, `nil`, is its endpoint's.
    ///   - waitsForNetwork: Whether the call waits for a network where the device has none. The default is `false`.
    ///   - wholeDeadline: The longest that all of the call may take, bodies that are streams included. The default, `nil`, is no such bound.
    public init(
        cache: CachePolicy? = nil, cacheUse: CacheUse = .standard, retry: RetryPolicy? = nil,
        priority: CallPriority? = nil, waitsForNetwork: Bool = false, wholeDeadline: Duration? = nil
    ) {
        self.cache = cache
        self.cacheUse = cacheUse
        self.retry = retry
        self.priority = priority
        self.waitsForNetwork = waitsForNetwork
        self.wholeDeadline = wholeDeadline
    }
}
