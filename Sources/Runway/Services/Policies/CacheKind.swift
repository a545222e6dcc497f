/// A kind of response with its own budget in the cache, so that it evicts no response of another kind.
///
/// An endpoint sets its kind. The limits of the layer and of the disk cache set the number of bytes for each kind. In
/// this example, images never evict the details of the homes that they show:
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
/// A kind without its own budget (``CacheLimits/maximumByteCountByKind``) shares the budget of ``standard``.
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
