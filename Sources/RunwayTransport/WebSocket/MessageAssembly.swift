import NIOCore
import NIOWebSocket
import Runway

/// Assembles one message from frames (RFC 6455 §5.4): joins them within a limit, decompresses them, and validates text
/// as it arrives.
struct MessageAssembly {
    /// The maximum number of empty frames in one message, since a server could send such frames forever.
    static let maximumEmptyFrameCount = 1024

    private let isText: Bool
    /// Decompresses the message; `nil` if it is not compressed.
    private let inflater: MessageInflater?
    private let maximumByteCount: Int
    private var validation = UTF8Validation()
    private var bytes: [UInt8] = []
    private var emptyFrameCount = 0

    /// Begins a message.
    ///
    /// - Parameters:
    ///   - isText: Whether the message is text.
    ///   - inflater: Decompresses the message; `nil` if it is not compressed.
    ///   - maximumByteCount: The maximum size of the decompressed message in bytes.
    init(isText: Bool, inflater: MessageInflater?, maximumByteCount: Int) {
        self.isText = isText
        self.inflater = inflater
        self.maximumByteCount = maximumByteCount
    }

    /// Appends the payload of a frame. Returns the message if the frame was the last of the message.
    ///
    /// - Throws: ``WebSocketProblem/violation(code:_:)`` with 1009 for a message that is too large, 1007 for text that
    ///   is not UTF-8 or a message that cannot be decompressed, 1008 for too many empty frames.
    mutating func append(_ payload: ByteBuffer, isLast: Bool) throws(WebSocketProblem) -> WebSocketPayload? {
        if payload.readableBytes == 0, !isLast {
            emptyFrameCount += 1
            guard emptyFrameCount <= Self.maximumEmptyFrameCount else {
                throw .violation(code: 1008, "a message has too many empty frames")
            }
        }
        if let inflater {
            let part: [UInt8]
            do throws(MessageInflater.Failure) {
                part = try inflater.read(payload, isLast: isLast, upTo: maximumByteCount - bytes.count)
            } catch {
                throw error == .tooLarge ? tooLarge : .violation(code: 1007, "a compressed message is malformed")
            }
            try check(part)
            if bytes.isEmpty { bytes = part } else { bytes += part }
        } else {
            guard bytes.count + payload.readableBytes <= maximumByteCount else { throw tooLarge }
            try check(payload.readableBytesView)
            bytes += payload.readableBytesView
        }
        guard isLast else { return nil }
        guard isText else { return .binary(bytes) }
        guard validation.isComplete else { throw Self.invalidText }
        return .text(String(decoding: bytes, as: UTF8.self))
    }

    private mutating func check(_ part: some Sequence<UInt8>) throws(WebSocketProblem) {
        if isText, !validation.accept(part) { throw Self.invalidText }
    }

    private var tooLarge: WebSocketProblem {
        .violation(code: 1009, "a message has more than \(maximumByteCount) bytes")
    }

    private static var invalidText: WebSocketProblem { .violation(code: 1007, "a text is not UTF-8") }
}
