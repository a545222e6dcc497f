import RunwayZlib

/// Compresses the messages of a WebSocket (RFC 7692 §7.2.1).
final class MessageDeflater {
    private static let pieceByteCount = 16 << 10
    /// Low compression levels already save most of the bytes; messages are small, and a phone's processor is slow.
    private static let level: CInt = 3

    private let deflater: OpaquePointer
    private let resetsContext: Bool

    /// Creates a compressor. Returns `nil` if memory is lacking or zlib does not support the window size.
    ///
    /// - Parameters:
    ///   - windowBits: The window size, as a power of two from 9 to 15.
    ///   - resetsContext: Whether each message is compressed independently.
    init?(windowBits: Int, resetsContext: Bool) {
        guard (9...15).contains(windowBits), let deflater = runway_deflater_create(Self.level, -CInt(windowBits)) else {
            return nil
        }
        self.deflater = deflater
        self.resetsContext = resetsContext
    }

    deinit { runway_deflater_destroy(deflater) }

    /// Compresses a message. All compressed messages must be sent in the order of compression.
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
        // Removes the empty block at the end, which the peer adds again (RFC 7692 §7.2.1).
        if output.count >= 4, output.suffix(4) == [0, 0, 0xFF, 0xFF] { output.removeLast(4) }
        // For an empty message after another one, zlib writes nothing. One zero byte begins an empty block (RFC 7692
        // §7.2.3.6).
        return output.isEmpty ? [0] : output
    }
}
