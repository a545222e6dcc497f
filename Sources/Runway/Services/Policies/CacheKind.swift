/// A kind of responses with a budget of its own in the cache: it evicts no response of another kind.
///
/// An endpoint names its kind, and the limits of the layer and of the disk cache set the bytes of each kind. Images,
/// for example, then never evict the details of the homes in them:
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
    /// The name, as reports show it and as a disk cache stores it. Two kinds of the same name are one.
    public let name: String

    /// A kind of a name, which has to stay the same from release to release of an app with a disk cache.
    public init(_ name: String) { self.name = name }

    /// The kind of every endpoint that names none.
    public static let standard = CacheKind("standard")

    /// The name.
    public var description: String { name }
}
