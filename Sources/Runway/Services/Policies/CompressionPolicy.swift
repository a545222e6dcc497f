/// The policy that compresses the bodies of requests to one service (gzip), if its server accepts that.
///
/// HTTP has no way to find out beforehand whether a server accepts a content coding (RFC 7694 only lets it say so after
/// a refusal), so the default of a service is no compression.
///
/// ```swift
/// enum ActionLog: APIService {
///     static let compression: CompressionPolicy? = CompressionPolicy()
///     // …
/// }
/// ```
public struct CompressionPolicy: Sendable, Equatable {
    /// The bytes from which on bodies are compressed. The default is 1024, since less than a packet saves no packet.
    /// Raise it for bodies that hardly compress.
    public var minimumByteCount: Int
    /// Whether streamed bodies are compressed too, while they are sent. The default is `false`: their contents are
    /// unknown, and compression makes a known length unknown.
    public var compressesStreams: Bool
    /// The effort of zlib: 1 is the fastest, 9 the smallest. Other numbers count as the nearest of these.
    package var level = 6

    /// Compresses the bodies of requests; see the properties for the defaults.
    public init(minimumByteCount: Int = 1024, compressesStreams: Bool = false) {
        self.minimumByteCount = minimumByteCount
        self.compressesStreams = compressesStreams
    }
}
