/// A kind of responses with a budget of its own in the cache. Responses of one kind evict no response of another kind.
///
/// An endpoint names its kind. The limits of the layer and of the disk cache set the bytes of each kind. Images, for
/// example, then never evict the details of the homes in them:
///
/// ```swift
/// extension CacheKind { static let images = CacheKind("images") }
///
/// struct Photo: Endpoint {
///     static let service = Estate.self
///     static let cache = CachePolicy.untilEvicted(onDisk: true)
///     static let cacheKind = CacheKind.images
///
///     var path: EndpointPath { "photos/\(id)" }
///     @Unencoded var id: Int
/// }
///
/// let limits = LayerLimits(cache: CacheLimits(maximumByteCountByKind: [.images: 64 << 20]))
/// ```
///
/// A kind without a budget of its own (``CacheLimits/maximumByteCountByKind``) shares the budget of ``standard``.
public struct CacheKind: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The name of the kind in reports and in a disk cache. Two kinds with the same name are equal.
    public let name: String

    /// Creates a kind. If the app has a disk cache, the name must not change between releases.
    public init(_ name: String) { self.name = name }

    /// The kind of every endpoint that does not set another.
    public static let standard = CacheKind("standard")

    /// The name of the kind.
    public var description: String { name }
}
