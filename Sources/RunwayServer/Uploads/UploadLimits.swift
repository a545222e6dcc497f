/// The bounds within which a server receives resumable uploads.
public struct UploadLimits: Sendable {
    /// The default bounds.
    public static let standard = UploadLimits()

    /// The largest upload, in bytes; a larger one is refused with 413. The default is 16 GiB.
    public var maximumByteCount: Int
    /// The most bytes of the content of one request; a larger one is refused with 413. Clients then send several
    /// requests. The default, `nil`, is no such bound.
    public var maximumAppendByteCount: Int?
    /// The most uploads at a time, complete ones that are still known among them; another is refused with 503. The
    /// default is 1,000.
    public var maximumUploads: Int
    /// The most bytes of all uploads at a time; beyond them, 507. Bytes count when they have come. The default is 64
    /// GiB.
    public var maximumTotalByteCount: Int
    /// What one account may have. The default, `nil`, is a quarter of all uploads and bytes, and at least one upload of
    /// the largest size.
    public var ownerShare: UploadShare?
    /// What one source of requests may have, whatever its accounts are. The default, `nil`, is a tenth of the uploads
    /// and bytes that the others leave, and at least one upload of the largest size. So ten sources have two thirds of
    /// all uploads at most.
    public var sourceShare: UploadShare?
    /// How slowly the content of a request may come: a request that sends nothing, or hardly anything, ends with 408,
    /// and its upload can be continued. By default, 20 s without a byte are allowed, 500 bytes per second are demanded,
    /// and there is no longest time.
    public var content: BodyTimeLimits
    /// How long an upload is stored after the last request for it. The default is a day.
    public var lifetime: Duration
    /// How long a complete upload is known, so that a client that lost the response learns that it is complete. Its
    /// content is removed as soon as the app has responded. The default is an hour.
    public var completeLifetime: Duration

    /// Creates limits; see the properties for the defaults. A count below 1 is 1.
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

/// The most that one client may have of the space for uploads.
public struct UploadShare: Sendable, Hashable {
    /// The most uploads at a time, complete ones that are still known among them; another is refused with 429.
    public var maximumUploads: Int
    /// The most bytes of its uploads at a time; beyond them, 507.
    public var maximumByteCount: Int

    /// Creates a share. A count below 1 is 1.
    public init(maximumUploads: Int, maximumByteCount: Int) {
        self.maximumUploads = max(1, maximumUploads)
        self.maximumByteCount = max(1, maximumByteCount)
    }
}
