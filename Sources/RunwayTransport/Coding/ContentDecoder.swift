import NIOCore
import Runway

/// Undoes the content codings of an answer, part by part and within bounds.
///
/// What comes in is pushed, what comes out is pulled in parts of at most ``partByteCount`` bytes, so that a small part that is large
/// when decoded waits, coded, for its reader. After each ``push(_:)`` it is pulled until ``pull()`` gives `nil`, and at the end
/// ``finish()`` says whether that was all.
///
/// Several codings are undone in sequence, one decoder each. The output of each is limited relative to the original input, so that
/// several codings together can't expand a body more than one may.
///
/// Nothing of it is safe to share: it belongs to the loop that gathers a whole answer, or to the reader of a stream.
final class ContentDecoder {
    /// The most bytes that ``pull()`` gives at once.
    static let partByteCount = 1 << 16
    /// How many it gives at first; a body that fills that is given more.
    private static let firstPartByteCount = 1 << 12

    /// The maximum number of codings of one body. Bodies with more are refused, since each coding costs the memory of a decoder.
    static let maximumCodingCount = 5

    /// How much an answer may grow when it is decoded.
    struct Limits: Sendable {
        /// The most bytes that come out. The default is 64 GiB: whoever reads a whole answer or keeps one has a bound of their own.
        var maximumByteCount = 64 << 30
        /// How many times the bytes that came in may come out, beyond ``freeByteCount``. The default is 250.
        ///
        /// Text and JSON seldom reach a tenth of it; gzip can't pass 1032, Brotli and zstd know no bound.
        var maximumRatio = 250
        /// How many bytes may come out whatever the ratio. The default is 1 MiB.
        var freeByteCount = 1 << 20

        /// The defaults.
        static let `default` = Limits()
    }

    /// What is wrong with a coded body.
    enum Failure: DescribedError, Equatable {
        /// It is not what its coding says.
        case malformed
        /// It ends before its end.
        case truncated
        /// Something follows its end.
        case trailingBytes
        /// It grows more than ``Limits/maximumRatio`` allows.
        case ratio(limit: Int)
        /// It is larger than ``Limits/maximumByteCount``.
        case size(limit: Int)
        /// It has more than ``maximumCodingCount`` codings.
        case tooManyCodings
        /// There was no memory to decode it with.
        case outOfMemory

        var description: String {
            switch self {
            case .malformed: "it is not what its coding says"
            case .truncated: "it ends too early"
            case .trailingBytes: "something follows its end"
            case .ratio(let limit): "it grows to more than \(limit) times its size"
            case .size(let limit): "it grows to more than \(limit) bytes"
            case .tooManyCodings: "it has more than \(ContentDecoder.maximumCodingCount) content codings"
            case .outOfMemory: "there is no memory to decode it with"
            }
        }
    }

    /// The library that knows the coding.
    private enum Library {
        case zlib(Inflater)
        #if Brotli
            case brotli(BrotliReader)
        #endif
        #if Zstd
            case zstd(ZstdReader)
        #endif
    }

    /// How many coded bytes of the body were read, which the decoders of one body share.
    private final class Consumption {
        var byteCount = 0
    }

    private let library: Library
    private let limits: Limits
    /// Undoes the next coding; `nil` for the last decoder.
    private let inner: ContentDecoder?
    private let isOutermost: Bool
    private let consumption: Consumption
    private var input = ByteBuffer()
    private var producedByteCount = 0
    private var hasStarted = false
    /// How many bytes may come out next.
    private var room = 0
    /// Whether the end of the coded body was read.
    private var isAtEnd = false

    /// Makes a decoder.
    ///
    /// - Parameter codings: One at least; the one that is undone first comes first.
    /// - Throws: ``Failure/tooManyCodings`` and ``Failure/outOfMemory``.
    convenience init(_ codings: [ContentCoding], limits: Limits = .default) throws(Failure) {
        guard codings.count <= Self.maximumCodingCount else { throw .tooManyCodings }
        try self.init(codings[...], limits, within: nil)
    }

    /// Makes a decoder of one coding.
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
        switch coding {
        case .gzip: library = .zlib(try Inflater(.gzip))
        case .deflate: library = .zlib(try Inflater(.zlibOrRaw))
        #if Brotli
            case .brotli: library = .brotli(try BrotliReader())
        #endif
        #if Zstd
            case .zstd: library = .zstd(try ZstdReader())
        #endif
        }
    }

    /// Takes the next coded bytes. What was pushed before must have been pulled.
    func push(_ bytes: ByteBuffer) {
        hasStarted = hasStarted || bytes.readableBytes > 0
        input.append(bytes)
        // A small body needs little room, and a large one soon has as much as there is.
        room = min(max(room, Self.firstPartByteCount, 4 * bytes.readableBytes), Self.partByteCount)
    }

    /// The next decoded bytes; `nil` where more has to be pushed first.
    ///
    /// - Throws: ``Failure``, and from then on nothing that comes out may be trusted.
    func pull() throws(Failure) -> [UInt8]? {
        guard let inner else { return try pullOwn() }
        while true {
            if let part = try inner.pull() { return part }
            guard let part = try pullOwn() else { return nil }
            inner.push(ByteBuffer(bytes: part))
        }
    }

    /// The next bytes with this decoder's own coding undone.
    private func pullOwn() throws(Failure) -> [UInt8]? {
        while true {
            if isAtEnd {
                guard input.readableBytes > 0 else { return nil }
                // gzip may have several members one after the other (RFC 1952 §2.2), zstd several frames.
                guard try beginsAnother() else { throw .trailingBytes }
                isAtEnd = false
            }
            let before = input.readableBytes
            let (part, isAtEnd) = try decode()
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

    /// Says that nothing more comes.
    ///
    /// - Throws: ``Failure/truncated`` where the coded body has not ended. No bytes at all are an empty body.
    func finish() throws(Failure) {
        if hasStarted, !isAtEnd { throw .truncated }
        try inner?.finish()
    }

    private func decode() throws(Failure) -> (part: [UInt8], isAtEnd: Bool) {
        switch library {
        case .zlib(let inflater): try inflater.read(&input, upTo: room)
        #if Brotli
            case .brotli(let reader): try reader.read(&input, upTo: room)
        #endif
        #if Zstd
            case .zstd(let reader): try reader.read(&input, upTo: room)
        #endif
        }
    }

    private func beginsAnother() throws(Failure) -> Bool {
        switch library {
        case .zlib(let inflater): try inflater.beginMember(input)
        #if Brotli
            case .brotli: false
        #endif
        #if Zstd
            case .zstd: true
        #endif
        }
    }
}
