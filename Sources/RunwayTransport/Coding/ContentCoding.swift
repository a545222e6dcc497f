import HTTPTypes
import NIOCore
import Runway

/// A content coding of responses that ``NIOTransport`` decodes (RFC 9110 §8.4.1). Those that compress best come first.
package enum ContentCoding: String, Sendable, CaseIterable {
    #if Zstd
        /// RFC 8878.
        case zstd
    #endif
    #if Brotli
        /// RFC 7932.
        case brotli = "br"
    #endif
    /// RFC 1952.
    case gzip
    /// zlib's format, RFC 1950; and RFC 1951 bare, which some servers send under this name.
    case deflate

    /// The value of `Accept-Encoding`.
    package static let accepted = allCases.map(\.rawValue).joined(separator: ", ")

    /// Returns a decoder for one body.
    ///
    /// - Throws: ``ContentDecoder/Failure/outOfMemory``.
    func makeReader() throws(ContentDecoder.Failure) -> any CodingReader {
        switch self {
        #if Zstd
            case .zstd: try ZstdReader()
        #endif
        #if Brotli
            case .brotli: try BrotliReader()
        #endif
        case .gzip: try Inflater(.gzip)
        case .deflate: try Inflater(.zlibOrRaw)
        }
    }

    /// The coding of this name in lower case; `nil` if it can't be undone.
    private init?(named name: String) {
        // RFC 9110 §8.4.1.3: an old name of the same coding.
        self.init(rawValue: name == "x-gzip" ? "gzip" : name)
    }

    /// Returns the codings of a body that can be undone, the last applied one first: all named codings, or those that
    /// were applied after the last unknown one. Codings are named in the order in which they were applied (RFC 9110
    /// §8.4).
    static func undoable(in fields: HTTPFields) -> [ContentCoding] {
        var codings: [ContentCoding] = []
        for name in fields.contentCodings.reversed() {
            guard let coding = ContentCoding(named: name) else { break }
            codings.append(coding)
        }
        return codings
    }
}

/// Decodes one body of one content coding, with the library that implements the coding. ``ContentDecoder`` enforces the
/// limits.
protocol CodingReader: AnyObject {
    /// Decodes as much of the input as fits into a part of `room` bytes, and removes the bytes that it read from the
    /// input.
    ///
    /// - Returns: The decoded bytes, and whether the coded body may end here.
    /// - Throws: ``ContentDecoder/Failure/malformed``, ``ContentDecoder/Failure/outOfMemory``.
    func read(
        _ input: inout ByteBuffer, upTo room: Int
    ) throws(ContentDecoder.Failure) -> (part: [UInt8], isAtEnd: Bool)

    /// Prepares for the bytes after the end of the body: either another coded body, which continues it, or bytes that
    /// do not belong to it.
    ///
    /// - Returns: Whether another one begins; `nil` if more bytes are needed to tell.
    func beginAnother(_ input: ByteBuffer) throws(ContentDecoder.Failure) -> Bool?
}

extension HTTPResponse {
    /// Returns the head after `codingCount` codings were decoded: without the header fields of the coded body, and with
    /// the remaining codings.
    func undoing(_ codingCount: Int) -> HTTPResponse {
        guard codingCount > 0 else { return self }
        var head = self
        head.headerFields.removeContentCodings(last: codingCount)
        head.headerFields[.contentLength] = nil
        return head
    }
}
