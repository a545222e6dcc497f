/// The limits of an ``ActionLogRoute``.
package struct ActionLogRouteLimits: Sendable {
    /// The most bytes of a body as it is sent.
    static let maximumCompressedByteCount = 1 << 20
    /// The most bytes of a body after it was decompressed.
    static let maximumByteCount = 8 << 20
    /// The most values in the JSON of a body: arrays, objects and their elements. Their index takes up to 5 MiB.
    static let maximumValueCount = 1 << 18
    /// The most bytes of one record as JSON. An erasure on a full disk needs as much space.
    static let maximumRecordByteCount = 1 << 20
    /// The most bytes of a record's name, and of the account.
    static let maximumNameByteCount = 512
    /// The `Retry-After` of 429 and 503, unless a quota is used up.
    static let retryAfter = Duration.seconds(5)

    /// The most records of a batch.
    package var maximumRecordCount = 1000
    /// The most batches that are decompressed and stored at a time.
    var maximumRunningCount = 64
}
