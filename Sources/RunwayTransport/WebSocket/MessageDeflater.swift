import RunwayZlib

/// Compresses the messages of a WebSocket (RFC 7692 §7.2.1).
final class MessageDeflater {
    private static let pieceByteCount = 16 << 10
    /// Messages are small, and a phone's processor is slow: the lowest levels save most of the bytes.
    private static let level: CInt = 3

    private let deflater: OpaquePointer
    private let resetsContext: Bool

    /// Creates a compressor; `nil` if there is not enough memory, or zlib has no window of this size.
    ///
    /// - Parameters:
    ///   - windowBits: The window, as a power of two from 9 to 15.
    ///   - resetsContext: Whether each message is compressed by itself.
    init?(windowBits: Int, resetsContext: Bool) {
        guard (9...15).contains(windowBits), let deflater = runway_deflater_create(Self.level, -CInt(windowBits)) else {
            return nil
        }
        self.deflater = deflater
        self.resetsContext = resetsContext
    }

    deinit { runway_deflater_destroy(deflater) }

    /// Compresses a message. All messages have to be sent in the order in which they were compressed.
    func compress(_ message: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        var offset = 0
        while true {
            var used = 0
            let piece = [UInt8](unsafeUninitializedCapacity: Self.pieceByteCount) { target, count in
                guard let target = target.baseAddress else { return }
                message.withUnsafeBufferPointer { input in
                    runway_deflater_flush(
                        deflater, input.baseAddress.map { $0 + offset }, input.count - offset, &used, target,
                        Self.pieceByteCount, &count)
                }
            }
            offset += used
            output += piece
            if offset == message.count, piece.count < Self.pieceByteCount { break }
        }
        if resetsContext { _ = runway_deflater_reset(deflater) }
        // The empty block at the boundary, which the other end adds again.
        if output.count >= 4, output.suffix(4) == [0, 0, 0xFF, 0xFF] { output.removeLast(4) }
        // zlib writes nothing for an empty message after a boundary; one byte begins an empty block (RFC 7692 §7.2.3.6).
        return output.isEmpty ? [0] : output
    }
}
