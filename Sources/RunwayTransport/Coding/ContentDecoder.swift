import NIOCore
import RunwayZlib

/// Undoes one content coding, part by part. It gives no more at a time than its caller asks for, however far the body expands.
final class ContentDecoder {
    /// What is decoded before the ratio of the sizes is looked at.
    private static let byteCountWithoutRatio = 1 << 20

    private let coding: ContentCoding
    private let maximumExpansion: Int
    /// zlib's decoder, once the first byte came.
    private var inflater: OpaquePointer?
    private var isAtEnd = false
    private var codedByteCount = 0
    private var decodedByteCount = 0

    /// Makes a decoder.
    ///
    /// - Parameter maximumExpansion: How many times its coded size a body may have, beyond its first MiB.
    init(_ coding: ContentCoding, maximumExpansion: Int) {
        self.coding = coding
        self.maximumExpansion = max(1, maximumExpansion)
    }

    deinit {
        if let inflater { runway_inflater_destroy(inflater) }
    }

    /// Decodes what it can, and appends it.
    ///
    /// - Parameters:
    ///   - input: Coded bytes; what was decoded is taken from it.
    ///   - output: Where the decoded bytes go.
    ///   - maximumByteCount: The most bytes that are appended.
    /// - Returns: Whether all of `input` is decoded. If not, it has to be called again, also where `input` is empty by then.
    /// - Throws: ``ContentCodingError``.
    func decode(_ input: inout ByteBuffer, into output: inout [UInt8], upTo maximumByteCount: Int) throws -> Bool {
        if inflater == nil, input.readableBytes == 0 { return true }
        let inflater = try inflater ?? begin(input)
        var rest = maximumByteCount
        while true {
            if isAtEnd, try !beginNextMember(input, inflater) { return true }
            guard rest > 0 else { return false }
            let step = min(rest, max(4 << 10, min(64 << 10, input.readableBytes * 4)))
            let (status, count) = inflate(&input, into: &output, upTo: step, inflater)
            rest -= count
            decodedByteCount += count
            guard
                decodedByteCount <= Self.byteCountWithoutRatio
                    || decodedByteCount / maximumExpansion <= codedByteCount
            else { throw ContentCodingError.expandsTooMuch(limit: maximumExpansion) }
            switch status {
            case RUNWAY_INFLATE_ENDED: isAtEnd = true
            case RUNWAY_INFLATE_GOES_ON:
                // Output that is not full means that nothing more can come of this input.
                if input.readableBytes == 0, count < step { return true }
            default:
                let message = runway_inflater_message(inflater).map { String(cString: $0) }
                throw ContentCodingError.corrupt(message ?? "zlib can't decode it")
            }
        }
    }

    /// The body is over.
    ///
    /// - Throws: ``ContentCodingError/truncated`` where its coding is not. A body without a byte is taken for an empty one.
    func finish() throws {
        if inflater != nil, !isAtEnd { throw ContentCodingError.truncated }
    }

    private func begin(_ input: ByteBuffer) throws -> OpaquePointer {
        // 15 is the largest window; 16 more ask for gzip's frame, a negative value for none.
        let windowBits: Int32 =
            switch coding {
            case .gzip: 15 + 16
            case .deflate: Self.hasZlibFrame(input) ? 15 : -15
            }
        guard let inflater = runway_inflater_create(windowBits) else {
            throw ContentCodingError.corrupt("zlib has no memory")
        }
        self.inflater = inflater
        return inflater
    }

    /// Whether a body that calls itself deflate is in the format of that name (RFC 1950); some servers leave its frame out.
    private static func hasZlibFrame(_ input: ByteBuffer) -> Bool {
        guard let first = input.getInteger(at: input.readerIndex, as: UInt8.self) else { return true }
        guard first & 0x0F == 8, first >> 4 <= 7 else { return false }
        guard let second = input.getInteger(at: input.readerIndex + 1, as: UInt8.self) else { return true }
        return (Int(first) << 8 | Int(second)) % 31 == 0
    }

    /// Begins another member of a gzip body (RFC 1952 §2.2). Gives `false` where nothing follows.
    private func beginNextMember(_ input: ByteBuffer, _ inflater: OpaquePointer) throws -> Bool {
        guard let next = input.getInteger(at: input.readerIndex, as: UInt8.self) else { return false }
        guard coding == .gzip, next == 0x1F, runway_inflater_reset(inflater) != 0 else {
            throw ContentCodingError.trailingBytes
        }
        isAtEnd = false
        return true
    }

    private func inflate(
        _ input: inout ByteBuffer, into output: inout [UInt8], upTo step: Int, _ inflater: OpaquePointer
    ) -> (status: runway_inflate_status, byteCount: Int) {
        var status = RUNWAY_INFLATE_FAILED
        var used = 0
        var produced = 0
        let start = output.count
        output.append(contentsOf: repeatElement(0, count: step))
        input.readWithUnsafeReadableBytes { source in
            output.withUnsafeMutableBufferPointer { target in
                guard let room = target.baseAddress else { return }
                status = runway_inflater_run(
                    inflater, source.baseAddress?.assumingMemoryBound(to: UInt8.self), source.count, &used,
                    room + start, step, &produced)
            }
            return used
        }
        codedByteCount += used
        output.removeLast(step - produced)
        return (status, produced)
    }
}
