import HTTPTypes
import NIOCore
import Runway

/// A response that the event loop passes to the caller.
struct WireResponse: Sendable {
    enum Body: Sendable {
        case whole([UInt8])
        case stream(ResponseStream)
    }

    let head: HTTPResponse
    /// The names of header fields that were omitted because their values are not text.
    let omittedFields: [HTTPField.Name]
    var body: Body
    /// The codings that the reader of a stream must decode, in this order.
    let codings: [ContentCoding]
    /// Whether the body was decoded, or its reader decodes it.
    let isDecoded: Bool
    /// For a response that was collected and decoded, the number of ignored bytes after the end of the coded body.
    var surplusByteCount = 0
}

/// Returns whether a response with this status to this method has no body (RFC 9112 §6.3).
func isBodiless(_ status: HTTPResponse.Status, to method: HTTPRequest.Method) -> Bool {
    method == .head || status == .noContent || status == .notModified || status.kind == .informational
}

extension [UInt8] {
    /// Reserves space for the declared length of a response, but at most 1 MiB, since a server may declare any length.
    mutating func reserveCapacity(forPromised byteCount: Int) { reserveCapacity(Swift.min(byteCount, 1 << 20)) }
}

/// The body of a response that is collected and decoded on the event loop, up to a limit.
struct WholeBody {
    private(set) var bytes: [UInt8] = []
    private let maximumByteCount: Int
    private let decoder: ContentDecoder?
    var surplusByteCount: Int { decoder?.surplusByteCount ?? 0 }

    /// - Throws: ``BodyTooLarge`` if the declared length exceeds the limit.
    init(_ decoder: ContentDecoder?, contentLength: Int?, upTo maximumByteCount: Int) throws {
        self.decoder = decoder
        self.maximumByteCount = maximumByteCount
        guard let contentLength, contentLength > 0 else { return }
        // The declared length is the length of the coded body. The decoded size is checked as parts arrive.
        guard decoder == nil else { return }
        guard contentLength <= maximumByteCount else { throw BodyTooLarge(limit: maximumByteCount) }
        bytes.reserveCapacity(forPromised: contentLength)
    }

    /// - Throws: ``BodyTooLarge`` as soon as the body exceeds the limit, or ``ContentDecoder/Failure``.
    mutating func append(_ part: ByteBuffer) throws {
        guard let decoder else {
            guard bytes.count + part.readableBytes <= maximumByteCount else {
                throw BodyTooLarge(limit: maximumByteCount)
            }
            bytes.append(contentsOf: part.readableBytesView)
            return
        }
        decoder.push(part)
        while let decoded = try decoder.pull() {
            guard bytes.count + decoded.count <= maximumByteCount else { throw BodyTooLarge(limit: maximumByteCount) }
            if bytes.isEmpty { bytes = decoded } else { bytes += decoded }
        }
    }

    /// - Throws: ``ContentDecoder/Failure`` if the coded body is incomplete.
    func finish() throws { try decoder?.finish() }
}
