/// What became of the body of a request to a service that takes compressed ones.
package enum CompressionDecision: StageDecision, Equatable {
    /// It was sent with gzip.
    case compressed(from: Int, to: Int)
    /// It is a stream and is compressed while it is sent.
    case compressesStream
    /// A stream was sent to its end, with gzip.
    case compressedStream(from: Int, to: Int)
    /// It was sent as it is.
    case kept(Reason)

    /// Why a body was sent as it is.
    package enum Reason: Sendable, Equatable {
        /// It has fewer bytes than ``CompressionPolicy/minimumByteCount``.
        case small(byteCount: Int)
        /// It has a content coding already.
        case coded
        /// Its media type is one whose contents are compressed already.
        case compressedContents
        /// It would have become no smaller, by at least a twentieth.
        case noGain
        /// It is a stream.
        case stream
    }

    package static var step: FlightStep { .stage(.compressing) }

    package var entry: DecisionEntry {
        switch self {
        case .compressed(let from, let to):
            .init("compressed", ["from": from, "to": to], "gzip made \(to) bytes of \(from)")
        case .compressesStream: .init("compressingStream", "the stream is sent with gzip")
        case .compressedStream(let from, let to):
            .init("compressedStream", ["from": from, "to": to], "gzip made \(to) bytes of the \(from) of the stream")
        case .kept(.small(let byteCount)):
            .init(
                "notCompressed", ["reason": "small", "byteCount": byteCount], "sent as it is: only \(byteCount) bytes")
        case .kept(.coded): .init("notCompressed", ["reason": "coded"], "sent as it is: it has a content coding")
        case .kept(.compressedContents):
            .init("notCompressed", ["reason": "compressedContents"], "sent as it is: its contents are compressed")
        case .kept(.noGain): .init("notCompressed", ["reason": "noGain"], "sent as it is: gzip gains nothing")
        case .kept(.stream): .init("notCompressed", ["reason": "stream"], "sent as it is: a stream")
        }
    }
}
