import NIOCore
import RunwayZlib

/// Decompresses the messages of a WebSocket (RFC 7692 §7.2.2), each within a limit of bytes.
final class MessageInflater {
    enum Failure: Error {
        case malformed
        case tooLarge
    }

    /// The bytes that the compressor removes from the end of each message.
    private static let tail = ByteBuffer(bytes: [0, 0, 0xFF, 0xFF])
    private static let pieceByteCount = 16 << 10

    /// The maximum number of deflate streams that may end within one message. Each end costs a copy of the window.
    private static let maximumEndCount = 64

    private let inflater: OpaquePointer
    private let resetsContext: Bool
    /// The number of deflate streams that ended within this message.
    private var endCount = 0

    /// Creates a decompressor. Returns `nil` if memory is lacking.
    ///
    /// - Parameter resetsContext: Whether the server compresses each message independently.
    init?(resetsContext: Bool) {
        // The largest window, 15, decodes data made with any window; a negative number selects deflate without a frame.
        guard let inflater = runway_inflater_create(-15) else { return nil }
        self.inflater = inflater
        self.resetsContext = resetsContext
    }

    deinit { runway_inflater_destroy(inflater) }

    /// Decompresses a part of a message.
    ///
    /// - Parameters:
    ///   - part: The payload of a frame.
    ///   - isLast: Whether the part is the last of the message.
    ///   - room: The maximum number of output bytes; more throws ``Failure/tooLarge``.
    func read(_ part: ByteBuffer, isLast: Bool, upTo room: Int) throws(Failure) -> [UInt8] {
        var output: [UInt8] = []
        try run(part, into: &output, upTo: room)
        if isLast {
            try run(Self.tail, into: &output, upTo: room)
            endCount = 0
            if resetsContext, runway_inflater_reset(inflater) == 0 { throw .malformed }
        }
        return output
    }

    private func run(_ input: ByteBuffer, into output: inout [UInt8], upTo room: Int) throws(Failure) {
        let result: Result<Void, Failure> = input.withUnsafeReadableBytes { bytes in
            let input = bytes.bindMemory(to: UInt8.self)
            return Result { () throws(Failure) in try run(input, into: &output, upTo: room) }
        }
        try result.get()
    }

    private func run(
        _ input: UnsafeBufferPointer<UInt8>, into output: inout [UInt8], upTo room: Int
    ) throws(Failure) {
        var offset = 0
        while true {
            // Reserves one byte beyond the limit. If it is written, the message is too large.
            let capacity = min(Self.pieceByteCount, room - output.count + 1)
            var (used, status) = (0, RUNWAY_INFLATE_FAILED)
            let piece = [UInt8](unsafeUninitializedCapacity: capacity) { target, count in
                guard let target = target.baseAddress else { return }
                status = runway_inflater_run(
                    inflater, input.baseAddress.map { $0 + offset }, input.count - offset, &used, target, capacity,
                    &count)
            }
            offset += used
            output += piece
            guard output.count <= room else { throw .tooLarge }
            switch status {
            case RUNWAY_INFLATE_ENDED:
                // A block may end its deflate stream although the message continues (RFC 7692 §7.2.3.4).
                endCount += 1
                guard endCount <= Self.maximumEndCount, runway_inflater_continue(inflater) != 0 else {
                    throw .malformed
                }
            case RUNWAY_INFLATE_GOES_ON: break
            default: throw .malformed
            }
            if offset == input.count, piece.count < capacity { return }
            // The input is malformed if the decoder neither reads nor writes anything.
            if used == 0, piece.isEmpty, status == RUNWAY_INFLATE_GOES_ON { throw .malformed }
        }
    }
}
