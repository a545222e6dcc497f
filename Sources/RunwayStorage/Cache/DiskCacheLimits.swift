public import Runway

/// The limits of a ``DiskCache``, for all responses together and for each `CacheKind`. Every write respects them; the
/// least recently used responses are evicted first.
public struct DiskCacheLimits: Sendable, Hashable {
    /// The maximum number of responses. The default is 10,000.
    public let maximumCount: Int
    /// The maximum size of all responses together, in bytes. It counts bodies, header fields, and 512 bytes per
    /// response. The default is 256 MiB. A larger response is not stored.
    ///
    /// The file with the index and small responses has about 300 bytes more per response. The file does not shrink when
    /// rows are removed; their space is used for other small responses. When a clear removes everything, the file
    /// shrinks to at most 1 MiB. If responses are small at one time and large at another, the cache may need up to
    /// twice the limit on disk.
    public let maximumByteCount: Int
    /// The maximum size of the responses of a kind with its own budget, in bytes. The default is empty: all kinds share
    /// ``maximumByteCount``.
    ///
    /// Each budget has its own ``maximumCount``. A response evicts only responses of its own budget.
    public let maximumByteCountByKind: [CacheKind: Int]

    /// Creates limits; see the properties for the defaults. A limit of 0 stores nothing. A negative limit counts as 0.
    public init(
        maximumCount: Int = 10_000, maximumByteCount: Int = 256 << 20, maximumByteCountByKind: [CacheKind: Int] = [:]
    ) {
        self.maximumCount = max(0, maximumCount)
        self.maximumByteCount = max(0, maximumByteCount)
        self.maximumByteCountByKind = maximumByteCountByKind.mapValues { max(0, $0) }
    }
}

/// The error of a ``DiskCache`` that can't be opened.
struct DiskCacheError: Error, Equatable, CustomStringConvertible {
    let description: String

    static let inUse = DiskCacheError(description: "another process, or another cache of this one, uses the folder")
    /// The folder is in an app group's container, where a lock must not be held while the app is suspended.
    static let shared = DiskCacheError(
        description: "the folder is in the container of an app group, where a suspended app may hold no lock")
    static let closed = DiskCacheError(description: "the cache was closed")
}
