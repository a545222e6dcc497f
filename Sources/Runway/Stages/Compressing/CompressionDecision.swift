/// What became of the body of a request to a service that takes compressed ones.
public enum CompressionDecision: FlightDecision, Equatable {
    /// It was sent with gzip.
    case compressed(from: Int, to: Int)
    /// It is a stream and is compressed while it is sent.
    case compressesStream
    /// A stream was sent to its end, with gzip.
    case compressedStream(from: Int, to: Int)
    /// It was sent as it is.
    case kept(Reason)

    /// Why a body was sent as it is.
    public enum Reason: Sendable, Equatable {
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

    /// The step.
    public static var step: FlightStep { .stage(.compressing) }

    /// What was decided, as a log shows it.
    public var description: String {
        switch self {
        case .compressed(let from, let to): "gzip made \(to) bytes of \(from)"
        case .compressesStream: "the stream is sent with gzip"
        case .compressedStream(let from, let to): "gzip made \(to) bytes of the \(from) of the stream"
        case .kept(.small(let byteCount)): "sent as it is: only \(byteCount) bytes"
        case .kept(.coded): "sent as it is: it has a content coding"
        case .kept(.compressedContents): "sent as it is: its contents are compressed"
        case .kept(.noGain): "sent as it is: gzip gains nothing"
        case .kept(.stream): "sent as it is: a stream"
        }
    }
}
