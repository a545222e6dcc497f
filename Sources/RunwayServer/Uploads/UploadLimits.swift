/// The bounds within which a server receives resumable uploads.
public struct UploadLimits: Sendable {
    /// The default bounds.
    public static let standard = UploadLimits()

    /// The largest upload, in bytes; a larger one is refused with 413. The default is 16 GiB.
    public var maximumByteCount: Int
    /// The most bytes of the content of one request; a larger one is refused with 413. Clients then send several requests. The
    /// default, `nil`, is no such bound.
    public var maximumAppendByteCount: Int?
    /// The most uploads at a time, complete ones that are still known among them; another is refused with 503. The default is 1,000.
    public var maximumUploads: Int
    /// The most bytes of all uploads at a time, announced ones included; another upload is refused with 507. The default is 64 GiB.
    public var maximumTotalByteCount: Int
    /// How long an upload is stored after the last request for it. The default is a day.
    public var lifetime: Duration
    /// How long a complete upload is known, so that a client that lost the response learns that it is complete. Its content is removed
    /// as soon as the app has responded. The default is an hour.
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
        self.lifetime = max(.zero, lifetime)
        self.completeLifetime = max(.zero, completeLifetime)
    }
}
