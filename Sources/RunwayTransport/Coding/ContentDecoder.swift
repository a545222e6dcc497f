import NIOCore
import Runway

/// Decodes the content codings of a response, part by part and with limits.
///
/// Bytes after the end of the coded body, such as zeros or a line feed, are ignored, as browsers do, up to
/// ``maximumSurplusByteCount``; ``surplusByteCount`` counts them.
///
/// Coded bytes are pushed, and decoded bytes are pulled in parts of at most ``partByteCount`` bytes: a body that grows
/// when it is decoded stays coded in memory until it is read. After each ``push(_:)`` the caller pulls until ``pull()``
/// returns `nil`; at the end ``finish()`` checks that the body was complete.
///
/// Several codings are decoded in sequence, one decoder each. The output of each decoder is limited relative to the
/// coded body, so that several codings can't expand a body more than a single coding may.
///
/// Not safe to share: either the loop that collects a whole response owns the decoder, or the reader of a stream.
final class ContentDecoder {
    /// The most bytes that ``pull()`` returns at once.
    static let partByteCount = 1 << 16
    /// The most bytes that the first ``pull()`` returns.
    private static let firstPartByteCount = 1 << 12

    /// The maximum number of codings of one body. Bodies with more are refused, since each coding costs the memory of a
    /// decoder.
    static let maximumCodingCount = 5

    /// The most bytes behind the end of a coded body that are ignored: 64 KiB.
    static let maximumSurplusByteCount = 64 << 10

    /// Limits for the growth of a response when it is decoded.
    struct Limits: Sendable {
        /// The most decoded bytes. The default is 64 GiB; whole and cached responses have limits of their own.
        var maximumByteCount = Int(clamping: Int64(64) << 30)
        /// The largest ratio of decoded to coded bytes, beyond ``freeByteCount``. The default is 250.
        ///
        /// Text and JSON seldom reach a ratio of 25; gzip can't exceed 1032, Brotli and zstd have no bound.
        var maximumRatio = 250
        /// The number of decoded bytes that are allowed at any ratio. The default is 1 MiB.
        var freeByteCount = 1 << 20

        /// The defaults.
        static let `default` = Limits()
    }

    /// The problem with a coded body.
    enum Failure: DescribedError, Equatable {
        /// The body does not have the format of its coding.
        case malformed
        /// The body ends too early.
        case truncated
        /// More than ``maximumSurplusByteCount`` bytes follow the end of the body.
        case trailingBytes
        /// The body grows more than ``Limits/maximumRatio`` allows.
        case ratio(limit: Int)
        /// The body is larger than ``Limits/maximumByteCount``.
        case size(limit: Int)
        /// The body has more than ``maximumCodingCount`` codings.
        case tooManyCodings
        /// There was no memory for decoding.
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

        /// Whether a body that is sent again fails in the same way.
        var isLasting: Bool {
            switch self {
            case .malformed, .trailingBytes, .ratio, .tooManyCodings: true
            case .truncated, .size, .outOfMemory: false
            }
        }
    }

    /// Counts the coded bytes that were read of a body. All decoders of the body share it.
    private final class Consumption {
        var byteCount = 0
    }

    private let reader: any CodingReader
    private let limits: Limits
    /// Undoes the next coding; `nil` for the last decoder.
    private let inner: ContentDecoder?
    private let isOutermost: Bool
    private let consumption: Consumption
    private var input = ByteBuffer()
    private var producedByteCount = 0
    private var hasStarted = false
    /// The number of bytes that may be decoded next.
    private var room = 0
    /// Whether the end of the coded body was read.
    private var isAtEnd = false
    /// The number of bytes behind the end of the coded body that were ignored.
    private var ignoredByteCount = 0
    /// The number of bytes behind the ends of coded bodies that were ignored, for all codings.
    var surplusByteCount: Int { ignoredByteCount + (inner?.surplusByteCount ?? 0) }

    /// Undoes codings within limits.
    ///
    /// - Parameter codings: At least one coding. The first one is undone first.
    /// - Throws: ``Failure/tooManyCodings`` and ``Failure/outOfMemory``.
    convenience init(_ codings: [ContentCoding], limits: Limits = .default) throws(Failure) {
        guard codings.count <= Self.maximumCodingCount else { throw .tooManyCodings }
        try self.init(codings[...], limits, within: nil)
    }

    /// Undoes one coding.
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

    /// Adds coded bytes to the input. All output of the bytes before must have been pulled.
    func push(_ bytes: ByteBuffer) {
        hasStarted = hasStarted || bytes.readableBytes > 0
        input.append(bytes)
        // A small body needs little space, and a large one reaches the maximum soon.
        room = min(max(room, Self.firstPartByteCount, 4 * bytes.readableBytes), Self.partByteCount)
    }

    /// Returns the next decoded bytes; `nil` if more have to be pushed first.
    ///
    /// - Throws: ``Failure``, after which no output can be trusted.
    func pull() throws(Failure) -> [UInt8]? {
        guard let inner else { return try pullOwn() }
        while true {
            if let part = try inner.pull() { return part }
            guard let part = try pullOwn() else { return nil }
            inner.push(ByteBuffer(bytes: part))
        }
    }

    /// Returns the next bytes with this decoder's own coding undone.
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
            // Without progress only more bytes can help.
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
