import HTTPTypes
import NIOCore
import Runway

/// An answer as it leaves the event loop.
struct WireResponse: Sendable {
    enum Body: Sendable {
        case whole([UInt8])
        case stream(ResponseStream)
    }

    let head: HTTPResponse
    /// The names of fields that are not in the head, since their values are not text.
    let lostFields: [HTTPField.Name]
    let body: Body
    /// The codings that the reader of a stream has to undo, in this order.
    let codings: [ContentCoding]
    /// Whether a coding was undone, or is.
    let isDecoded: Bool
}

/// Whether the head of an answer lets a body come (RFC 9112 §6.3).
func isBodiless(_ status: HTTPResponse.Status, to method: HTTPRequest.Method) -> Bool {
    method == .head || status == .noContent || status == .notModified || status.kind == .informational
}

extension [UInt8] {
    /// Makes room for what the head of an answer promises. A server's word is taken for no more than a megabyte, since it may name any
    /// length; beyond it room is made as the bytes come.
    mutating func reserveCapacity(forPromised byteCount: Int) { reserveCapacity(Swift.min(byteCount, 1 << 20)) }
}

/// The body of an answer that is gathered on the event loop: decoded if need be, and bounded.
struct WholeBody {
    private(set) var bytes: [UInt8] = []
    private let maximumByteCount: Int
    private let decoder: ContentDecoder?

    /// - Throws: ``BodyTooLarge`` where the head promises more than the limit.
    init(_ decoder: ContentDecoder?, contentLength: Int?, upTo maximumByteCount: Int) throws {
        self.decoder = decoder
        self.maximumByteCount = maximumByteCount
        guard let contentLength, contentLength > 0 else { return }
        // What is decoded is longer than the head says, and counted when it is.
        guard decoder == nil else { return }
        guard contentLength <= maximumByteCount else { throw BodyTooLarge(limit: maximumByteCount) }
        bytes.reserveCapacity(forPromised: contentLength)
    }

    /// - Throws: ``BodyTooLarge`` as soon as there are more bytes than the limit, or ``ContentDecoder/Failure``.
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

    /// - Throws: ``ContentDecoder/Failure`` where the body is not complete.
    func finish() throws { try decoder?.finish() }
}
