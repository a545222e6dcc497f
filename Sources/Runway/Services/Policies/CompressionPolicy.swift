/// A policy that compresses the request bodies of one service with gzip, if its server accepts that.
///
/// A client can't find out in advance whether a server accepts a content coding, because a server states this only
/// after a refusal (RFC 7694). Services therefore do not compress by default.
///
/// ```swift
/// enum ActionLog: APIService {
///     static let compression: CompressionPolicy? = CompressionPolicy()
///     // …
/// }
/// ```
public struct CompressionPolicy: Sendable, Equatable {
    /// The minimum size of bodies that are compressed, in bytes. The default is 1024, because compressing a smaller
    /// body saves no network packet. Raise it for bodies that compress badly.
    public var minimumByteCount: Int
    /// Whether streamed bodies are also compressed while they are sent. The default is `false`: their contents are
    /// unknown, and compression makes a known length unknown.
    public var compressesStreams: Bool
    /// The compression level of zlib, from 1 (fastest) to 9 (smallest). Other numbers are replaced by the nearest of
    /// these.
    package var level = 6

    /// Creates a policy that compresses request bodies. The properties state the defaults.
    public init(minimumByteCount: Int = 1024, compressesStreams: Bool = false) {
        self.minimumByteCount = minimumByteCount
        self.compressesStreams = compressesStreams
    }
}
