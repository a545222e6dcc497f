package struct ActionLogRouteLimits: Sendable {
    /// The maximum size of a body as sent, in bytes.
    static let maximumCompressedByteCount = 1 << 20
    /// The maximum size of a decompressed body, in bytes.
    static let maximumByteCount = 8 << 20
    /// The maximum number of JSON values in a body. Their index takes up to 5 MiB.
    static let maximumValueCount = 1 << 18
    /// The maximum size of one record as JSON, in bytes. An erasure on a full disk needs the same amount of space.
    static let maximumRecordByteCount = 1 << 20
    /// The maximum size of a record's name and of the account, in bytes.
    static let maximumNameByteCount = 512
    /// The `Retry-After` of responses with 429 and 503, unless a quota is used up.
    static let retryAfter = Duration.seconds(5)

    package var maximumRecordCount = 1000
    /// The maximum number of batches that are decompressed and stored at the same time.
    var maximumRunningCount = 64
}
