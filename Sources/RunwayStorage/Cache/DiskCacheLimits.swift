public import Runway

/// The limits of a ``DiskCache``, in all and for each `CacheKind`. They hold after every write; least recently used
/// responses are evicted first.
public struct DiskCacheLimits: Sendable, Hashable {
    /// The most responses. The default is 10,000.
    public let maximumCount: Int
    /// The most bytes of all responses together: bodies, header fields, and 512 bytes for each response. The default is
    /// 256 MiB.
    ///
    /// A larger response is not stored. The file of the index and of small responses has some 300 bytes more for each
    /// response. The space of a removed row stays in the file as free space for other small responses, so that the file
    /// has its largest size until a clear leaves nothing: then it is cut to at most 1 MiB. If responses were small at
    /// one time and large at another, the disk has up to twice as much.
    public let maximumByteCount: Int
    /// The most bytes of the responses of each kind that has a budget of its own, counted in the same way. The default
    /// is empty: all kinds share ``maximumByteCount``.
    ///
    /// Each budget also has a ``maximumCount`` of its own. A response evicts none of another budget.
    public let maximumByteCountByKind: [CacheKind: Int]

    /// Creates limits; see the properties for the defaults. With a bound of 0, nothing is stored; a negative bound
    /// counts as 0.
    public init(
        maximumCount: Int = 10_000, maximumByteCount: Int = 256 << 20, maximumByteCountByKind: [CacheKind: Int] = [:]
    ) {
        self.maximumCount = max(0, maximumCount)
        self.maximumByteCount = max(0, maximumByteCount)
        self.maximumByteCountByKind = maximumByteCountByKind.mapValues { max(0, $0) }
    }
}

/// A problem in the folder of a ``DiskCache``, and the reaction of the cache to it. It fails no call.
public struct DiskCacheProblem: Sendable, CustomStringConvertible {
    /// The kind of a problem, for code to switch over. A switch needs a `default`, since later versions may add kinds.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        /// The kind in one word, which stays the same from release to release.
        public let description: String

        /// Files were damaged, or were written by a later version. The responses in them are not found any more.
        public static let damage = Kind(description: "damage")
        /// The key of the app's ``PayloadSealing`` can't be read, or is not the key of the stored responses. Stored
        /// responses stay, and are found again with their key.
        public static let key = Kind(description: "key")
        /// The disk is full, the folder can't be read or written, or another cache uses it. The problem is reported
        /// once until it is over.
        public static let unavailable = Kind(description: "unavailable")
    }

    /// The kind of the problem.
    public let kind: Kind
    /// Describes the problem in one sentence.
    public let description: String

    init(_ kind: Kind, _ description: String) { (self.kind, self.description) = (kind, description) }
}

/// The reason why a ``DiskCache`` can't be used.
struct DiskCacheError: Error, Equatable, CustomStringConvertible {
    let description: String

    /// Another cache, of this process or of another one, uses the folder.
    static let inUse = DiskCacheError(description: "another process, or another cache of this one, uses the folder")
    /// A lock in this folder could be held while the app is suspended.
    static let shared = DiskCacheError(
        description: "the folder is in the container of an app group, where a suspended app may hold no lock")
    static let closed = DiskCacheError(description: "the cache was closed")
}
