/// How the bodies of requests to one service are compressed (gzip), where its server takes that.
///
/// HTTP has no way to ask a server beforehand whether it undoes a content coding (RFC 7694 only lets it say so after a refusal), so
/// this is for those who know: the default of a service is no compression.
///
/// ```swift
/// enum ActionLog: APIService {
///     static let compression: CompressionPolicy? = CompressionPolicy()
///     // …
/// }
/// ```
public struct CompressionPolicy: Sendable, Equatable {
    /// Bodies of fewer bytes are sent as they are. The default is 1024, since less than a packet saves no packet.
    public var minimumByteCount: Int
    /// How hard zlib tries: 1 is the fastest, 9 the smallest. The default is 6; other numbers count as the nearest of these.
    public var level: Int
    /// Whether bodies that are streams are compressed too, while they are sent. The default is `false`: nothing is known of their
    /// contents, and a length that was known before is not known afterwards.
    public var compressesStreams: Bool

    /// Makes a policy; see the properties for the defaults.
    public init(minimumByteCount: Int = 1024, level: Int = 6, compressesStreams: Bool = false) {
        self.minimumByteCount = minimumByteCount
        self.level = level
        self.compressesStreams = compressesStreams
    }
}
