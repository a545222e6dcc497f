/// Limits for the resumable uploads that a server receives.
///
/// These are the same for every server:
///
/// - An account has at most a quarter of all uploads and bytes. A source of requests has at most a tenth of the uploads
///   and bytes that the others leave, whatever its accounts are, so that ten sources have two thirds of all at most.
///   Either may have one upload of the largest size. A further upload is refused with 429, further bytes with 507.
/// - The content of a request may be silent for 20 s and must arrive at 500 bytes per second. Otherwise the request
///   ends with 408, and its upload can be continued.
/// - A complete upload is known for an hour, so that a client that lost the response learns that it is complete. Its
///   content is removed as soon as the app has responded.
public struct UploadLimits: Sendable {
    /// The default limits.
    public static let standard = UploadLimits()

    /// The time for which a complete upload is remembered.
    static let completeLifetime = Duration.seconds(3600)
    /// The slowest pace at which the content of a request may arrive.
    static let content: BodyTimeLimits = {
        var limits = BodyTimeLimits()
        limits.maximumDuration = nil
        return limits
    }()

    /// The largest upload, in bytes; a larger one is refused with 413. The default is 16 GiB.
    public var maximumByteCount: Int
    /// The most bytes of the content of one request; a larger one is refused with 413. Clients then send several
    /// requests. The default, `nil`, is no such bound. Set it if a proxy before the server has one.
    public var maximumAppendByteCount: Int?
    /// The most uploads at a time, including complete ones that are still stored; another is refused with 503. The
    /// default is 1,000.
    public var maximumUploads: Int
    /// The most bytes of all uploads at a time; beyond that, requests are refused with 507. Bytes count when they have
    /// arrived. The default is 64 GiB. Set it to the disk space for uploads.
    public var maximumTotalByteCount: Int
    /// The time for which an upload is stored after the last request for it. The default is a day.
    public var lifetime: Duration
    /// The share of one account; `nil` for the usual share.
    package var ownerShare: UploadShare?
    /// The share of one source of requests; `nil` for the usual share.
    package var sourceShare: UploadShare?

    /// Creates limits; see the properties for the defaults. A count below 1 counts as 1.
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

/// The largest share of one client in the space for uploads.
package struct UploadShare: Sendable, Hashable {
    /// The most uploads at a time, complete ones that are still known among them; another is refused with 429.
    package var maximumUploads: Int
    /// The most bytes of its uploads at a time; beyond them, 507.
    package var maximumByteCount: Int

    /// Creates a share. A count below 1 is 1.
    package init(maximumUploads: Int, maximumByteCount: Int) {
        self.maximumUploads = max(1, maximumUploads)
        self.maximumByteCount = max(1, maximumByteCount)
    }
}
