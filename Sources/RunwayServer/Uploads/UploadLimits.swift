/// Limits for the resumable uploads that a server receives.
///
/// The following limits are the same for every server:
///
/// - An account may use a quarter of all uploads and bytes. A source of requests may use a tenth of the uploads and
///   bytes that the other sources leave, so ten sources use at most two thirds. Each account and each source may have
///   one upload of the maximum size. A further upload is refused with 429, further bytes with 507.
/// - The content of a request may be silent for at most 20 s, and must arrive at 500 bytes per second. Otherwise, the
///   request ends with 408, and its upload can be continued.
/// - A complete upload is known for one hour, so that a client that lost the response learns that it is complete. Its
///   content is removed when the app has responded.
public struct UploadLimits: Sendable {
    /// The default limits.
    public static let standard = UploadLimits()

    /// The time for which a complete upload is known.
    static let completeLifetime = Duration.seconds(3600)
    /// The slowest rate at which the content of a request may arrive.
    static let content: BodyTimeLimits = {
        var limits = BodyTimeLimits()
        limits.maximumDuration = nil
        return limits
    }()

    /// The maximum size of an upload in bytes; a larger one is refused with 413. The default is 16 GiB.
    public var maximumByteCount: Int
    /// The maximum content size of one request in bytes; a larger one is refused with 413, and clients then send
    /// several requests. The default, `nil`, sets no limit. Set it if a proxy in front of the server has such a limit.
    public var maximumAppendByteCount: Int?
    /// The maximum number of stored uploads, including complete ones; another upload is refused with 503. The default
    /// is 1,000.
    public var maximumUploads: Int
    /// The maximum size of all stored uploads in bytes; further bytes are refused with 507. Only received bytes count.
    /// The default is 64 GiB. Set it to the disk space for uploads.
    public var maximumTotalByteCount: Int
    /// The time for which an upload is stored after the last request for it. The default is one day.
    public var lifetime: Duration
    /// The share of one account; `nil` for the default share.
    package var ownerShare: UploadShare?
    /// The share of one source of requests; `nil` for the default share.
    package var sourceShare: UploadShare?

    /// Creates limits. Each parameter has the default of its property; a count below 1 becomes 1.
    public init(
        maximumByteCount: Int = Int(clamping: Int64(16) << 30), maximumAppendByteCount: Int? = nil,
        maximumUploads: Int = 1000,
        maximumTotalByteCount: Int = Int(clamping: Int64(64) << 30), lifetime: Duration = .seconds(86_400)
    ) {
        self.maximumByteCount = max(1, maximumByteCount)
        self.maximumAppendByteCount = maximumAppendByteCount.map { max(1, $0) }
        self.maximumUploads = max(1, maximumUploads)
        self.maximumTotalByteCount = max(1, maximumTotalByteCount)
        self.lifetime = max(.zero, lifetime)
    }
}

/// The maximum share of one client in the space for uploads.
package struct UploadShare: Sendable, Hashable {
    /// The maximum number of stored uploads, including complete ones; another upload is refused with 429.
    package var maximumUploads: Int
    /// The maximum size of the client's stored uploads in bytes; further bytes are refused with 507.
    package var maximumByteCount: Int

    /// Creates a share. A count below 1 becomes 1.
    package init(maximumUploads: Int, maximumByteCount: Int) {
        self.maximumUploads = max(1, maximumUploads)
        self.maximumByteCount = max(1, maximumByteCount)
    }
}
