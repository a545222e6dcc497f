/// Whether a request body was compressed, and the reason if it was not.
package enum CompressionDecision: StageDecision, Equatable {
    /// The body was compressed with gzip.
    case compressed(from: Int, to: Int)
    /// The body is a stream and is compressed while it is sent.
    case compressesStream
    /// A streamed body was sent completely, compressed with gzip.
    case compressedStream(from: Int, to: Int)
    /// The body was sent unchanged.
    case unchanged(Reason)

    package enum Reason: Sendable, Equatable {
        /// The body has fewer bytes than ``CompressionPolicy/minimumByteCount``.
        case small(byteCount: Int)
        /// The body already has a content coding.
        case coded
        /// The contents of the body's media type are already compressed.
        case compressedContents
        /// Compression would have saved less than a twentieth of the size.
        case noGain
        /// The body is a stream, and the policy does not compress streams.
        case stream
    }

    package static var step: FlightStep { .compressing }

    package var entry: DecisionRecord {
        switch self {
        case .compressed(let from, let to):
            .init("compressed", ["from": from, "to": to], "gzip made \(to) bytes of \(from)")
        case .compressesStream: .init("compressingStream", "the stream is sent with gzip")
        case .compressedStream(let from, let to):
            .init("compressedStream", ["from": from, "to": to], "gzip made \(to) bytes of the \(from) of the stream")
        case .unchanged(.small(let byteCount)):
            .init(
                "notCompressed", ["reason": "small", "byteCount": byteCount], "sent unchanged: only \(byteCount) bytes")
        case .unchanged(.coded): .init("notCompressed", ["reason": "coded"], "sent unchanged: it has a content coding")
        case .unchanged(.compressedContents):
            .init("notCompressed", ["reason": "compressed contents"], "sent unchanged: its contents are compressed")
        case .unchanged(.noGain): .init("notCompressed", ["reason": "no gain"], "sent unchanged: gzip gains nothing")
        case .unchanged(.stream): .init("notCompressed", ["reason": "stream"], "sent unchanged: a stream")
        }
    }
}
