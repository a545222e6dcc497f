/// Limits for the resumable uploads that a server receives.
public struct UploadLimits: Sendable {
    /// The default limits.
    public static let standard = UploadLimits()

    /// The largest upload, in bytes; a larger one is refused with 413. The default is 16 GiB.
    public var maximumByteCount: Int
    /// The most bytes of the content of one request; a larger one is refused with 413. Clients then send several
    /// requests. The default is `nil`, no limit.
    public var maximumAppendByteCount: Int?
    /// The most uploads at a time, including complete ones that are still stored; another is refused with 503. The
    /// default is 1,000.
    public var maximumUploads: Int
    /// The most bytes of all uploads at a time; beyond that, requests are refused with 507. Bytes count when they have
    /// arrived. The default is 64 GiB.
    public var maximumTotalByteCount: Int
    /// The share of one account. The default, `nil`, is a quarter of all uploads and bytes, and at least one upload of
    /// the largest size.
    public var ownerShare: UploadShare?
    /// The share of one source of requests, whatever accounts it uses. The default, `nil`, is a tenth of the uploads
    /// and bytes that the other sources leave, and at least one upload of the largest size. Ten sources thus have at
    /// most two thirds of all uploads.
    public var sourceShare: UploadShare?
    /// The slowest pace at which the content of a request may arrive. A request that sends nothing, or hardly anything,
    /// ends with 408; its upload can be continued. By default, at most 20 s without a byte are allowed, 500 bytes per
    /// second are required, and there is no longest time.
    public var content: BodyTimeLimits
    /// The time for which an upload is stored after the last request for it. The default is a day.
    public var lifetime: Duration
    /// The time for which a complete upload is remembered, so that a client that lost the response learns that it is
    /// complete. Its content is removed as soon as the app has responded. The default is an hour.
    public var completeLifetime: Duration

    /// Creates limits; see the properties for the defaults. A count below 1 counts as 1.
    public init(
        maximumByteCount: Int = Int(clamping: Int64(16) << 30), maximumAppendByteCount: Int? = nil,
        maximumUploads: Int = 1000,
        maximumTotalByteCount: Int = Int(clamping: Int64(64) << 30), lifetime: Duration = .seconds(86_400),
        completeLifetime: Duration = .seconds(3600)
    ) {
        self.maximumByteCount = max(1, maximumByteCount)
        self.maximumAppendByteCount = maximumAppendByteCount.map { max(1, $0) }
        self.maximumUploads = max(1, maximumUploads)
        self.maximumTotalByteCount = max(1, maximumTotalByteCount)
        content = BodyTimeLimits()
        content.maximumDuration = nil
        self.lifetime = max(.zero, lifetime)
        self.completeLifetime = max(.zero, completeLifetime)
    }
}

/// The largest share of one client in the space for uploads.
public struct UploadShare: Sendable, Hashable {
    /// The most uploads at a time, including complete ones that are still stored; another is refused with 429.
    public var maximumUploads: Int
    /// The most bytes of the client's uploads at a time; beyond that, requests are refused with 507.
    public var maximumByteCount: Int

    /// Creates a share. A count below 1 counts as 1.
    public init(maximumUploads: Int, maximumByteCount: Int) {
        self.maximumUploads = max(1, maximumUploads)
        self.maximumByteCount = max(1, maximumByteCount)
    }
}
