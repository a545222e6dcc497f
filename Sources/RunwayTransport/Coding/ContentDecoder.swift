import NIOCore
import Runway

/// Decodes the content codings of a response in parts and within limits.
///
/// Bytes after the end of the coded body, such as zeros or a line feed, are ignored, as in browsers, up to
/// ``maximumSurplusByteCount``; ``surplusByteCount`` counts them.
///
/// Coded bytes are pushed, and decoded bytes are pulled in parts of at most ``partByteCount`` bytes, so a body stays
/// coded in memory until it is read. After each ``push(_:)``, call ``pull()`` until it returns `nil`; at the end,
/// ``finish()`` checks that the body is complete.
///
/// Several codings are decoded in sequence, with one decoder each. The output of every decoder is limited relative to
/// the coded body, so several codings cannot expand a body more than a single one.
///
/// Not safe to share: either the loop that collects a whole response or the reader of a stream owns the decoder.
final class ContentDecoder {
    /// The maximum number of bytes that ``pull()`` returns.
    static let partByteCount = 1 << 16
    /// The maximum number of bytes that the first ``pull()`` returns.
    private static let firstPartByteCount = 1 << 12

    /// The maximum number of codings of one body. A body with more is refused, since each coding needs memory for a
    /// decoder.
    static let maximumCodingCount = 5

    /// The maximum number of ignored bytes after the end of a coded body: 64 KiB.
    static let maximumSurplusByteCount = 64 << 10

    /// Limits for the size and the expansion of a decoded body.
    struct Limits: Sendable {
        /// The maximum number of decoded bytes. The default is 64 GiB; responses that are collected or cached have
        /// lower limits.
        var maximumByteCount = Int(clamping: Int64(64) << 30)
        /// The maximum ratio of decoded to coded bytes, after the first ``freeByteCount``. The default is 250.
        ///
        /// Text and JSON seldom reach a ratio of 25. The maximum of gzip is 1032; Brotli and zstd have no maximum.
        var maximumRatio = 250
        /// The number of decoded bytes that are permitted at any ratio. The default is 1 MiB.
        var freeByteCount = 1 << 20

        static let `default` = Limits()
    }

    enum Failure: DescribedError, Equatable {
        /// The body is invalid for its coding.
        case malformed
        /// The body ends too early.
        case truncated
        /// More than ``maximumSurplusByteCount`` bytes follow the end of the body.
        case trailingBytes
        /// The body expands by more than ``Limits/maximumRatio``.
        case ratio(limit: Int)
        /// The decoded body is larger than ``Limits/maximumByteCount``.
        case size(limit: Int)
        /// The body has more than ``maximumCodingCount`` codings.
        case tooManyCodings
        case outOfMemory

        var description: String {
            switch self {
            case .malformed: "it does not match its content coding"
            case .truncated: "it ends too early"
            case .trailingBytes: "more than \(ContentDecoder.maximumSurplusByteCount) bytes follow its end"
            case .ratio(let limit): "it grows to more than \(limit) times its size"
            case .size(let limit): "it grows to more than \(limit) bytes"
            case .tooManyCodings: "it has more than \(ContentDecoder.maximumCodingCount) content codings"
            case .outOfMemory: "there is no memory to decode it with"
            }
        }

        /// Whether the same body would fail again.
        var isLasting: Bool {
            switch self {
            case .malformed, .trailingBytes, .ratio, .tooManyCodings: true
            case .truncated, .size, .outOfMemory: false
            }
        }
    }

    /// Counts the coded bytes that were read. All decoders of a body share one count.
    private final class Consumption {
        var byteCount = 0
    }

    private let reader: any CodingReader
    private let limits: Limits
    /// Decodes the output of this decoder with the next coding; `nil` for the last decoder.
    private let inner: ContentDecoder?
    private let isOutermost: Bool
    private let consumption: Consumption
    private var input = ByteBuffer()
    private var producedByteCount = 0
    private var hasStarted = false
    /// The number of bytes that may be decoded next.
    private var room = 0
    private var isAtEnd = false
    /// The number of ignored bytes after the end of the coded body.
    private var ignoredByteCount = 0
    /// The number of ignored bytes after the ends of coded bodies, for all codings.
    var surplusByteCount: Int { ignoredByteCount + (inner?.surplusByteCount ?? 0) }

    /// Creates a decoder for several codings.
    ///
    /// - Parameter codings: At least one coding, in the order of decoding.
    /// - Throws: ``Failure/tooManyCodings`` and ``Failure/outOfMemory``.
    convenience init(_ codings: [ContentCoding], limits: Limits = .default) throws(Failure) {
        guard codings.count <= Self.maximumCodingCount else { throw .tooManyCodings }
        try self.init(codings[...], limits, within: nil)
    }

    /// Creates a decoder for one coding.
    ///
    /// - Throws: ``Failure/outOfMemory``.
    convenience init(_ coding: ContentCoding, limits: Limits = .default) throws(Failure) {
        try self.init([coding], limits: limits)
    }

    private init(_ codings: ArraySlice<ContentCoding>, _ limits: Limits, within outer: Consumption?) throws(Failure) {
        guard let coding = codings.first else { preconditionFailure("A decoder has a coding") }
        self.limits = limits
        isOutermost = outer == nil
        let consumption = outer ?? Consumption()
        self.consumption = consumption
        let rest = codings.dropFirst()
        inner = rest.isEmpty ? nil : try ContentDecoder(rest, limits, within: consumption)
        reader = try coding.makeReader()
    }

    /// Adds coded bytes to the input. All output of earlier bytes must have been pulled.
    func push(_ bytes: ByteBuffer) {
        hasStarted = hasStarted || bytes.readableBytes > 0
        input.append(bytes)
        // Small bodies need little space, and large ones soon reach the maximum.
        room = min(max(room, Self.firstPartByteCount, 4 * bytes.readableBytes), Self.partByteCount)
    }

    /// Returns the next decoded bytes, or `nil` if more bytes must be pushed first.
    ///
    /// - Throws: ``Failure``. The output is then unusable.
    func pull() throws(Failure) -> [UInt8]? {
        guard let inner else { return try pullOwn() }
        while true {
            if let part = try inner.pull() { return part }
            guard let part = try pullOwn() else { return nil }
            inner.push(ByteBuffer(bytes: part))
        }
    }

    /// Decodes the next bytes with this decoder's own coding.
    private func pullOwn() throws(Failure) -> [UInt8]? {
        while true {
            if isAtEnd {
                guard input.readableBytes > 0 else { return nil }
                switch ignoredByteCount == 0 ? try reader.beginAnother(input) : false {
                case true?: isAtEnd = false
                case nil: return nil
                case false?:
                    try ignoreInput()
                    return nil
                }
            }
            let before = input.readableBytes
            let (part, isAtEnd) = try reader.read(&input, upTo: room)
            self.isAtEnd = isAtEnd
            if part.count == room { room = min(2 * room, Self.partByteCount) }
            if isOutermost { consumption.byteCount += before - input.readableBytes }
            producedByteCount += part.count
            if producedByteCount > limits.maximumByteCount { throw .size(limit: limits.maximumByteCount) }
            if producedByteCount > limits.freeByteCount,
                producedByteCount / max(1, limits.maximumRatio) > consumption.byteCount
            {
                throw .ratio(limit: limits.maximumRatio)
            }
            if !part.isEmpty { return part }
            // If nothing was consumed, the decoder needs more bytes.
            if !isAtEnd, input.readableBytes == 0 || input.readableBytes == before { return nil }
        }
    }

    private func ignoreInput() throws(Failure) {
        ignoredByteCount += input.readableBytes
        input = ByteBuffer()
        if ignoredByteCount > Self.maximumSurplusByteCount { throw .trailingBytes }
    }

    /// Ends the input.
    ///
    /// - Throws: ``Failure/truncated`` if the coded body has not ended. An input without bytes is an empty body.
    func finish() throws(Failure) {
        if hasStarted, !isAtEnd { throw .truncated }
        try ignoreInput()
        try inner?.finish()
    }
}
