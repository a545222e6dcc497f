import HTTPTypes
import NIOCore
import Runway

/// A content coding that ``NIOTransport`` decodes in responses (RFC 9110 §8.4.1). The cases are in order of
/// compression, best first.
package enum ContentCoding: String, Sendable, CaseIterable {
    #if Zstd
        /// Zstandard (RFC 8878).
        case zstd
    #endif
    #if Brotli
        /// Brotli (RFC 7932).
        case brotli = "br"
    #endif
    /// The gzip format (RFC 1952).
    case gzip
    /// The zlib format (RFC 1950), or bare DEFLATE data (RFC 1951), which some servers send under this name.
    case deflate

    /// The value of `Accept-Encoding`.
    package static let accepted = allCases.map(\.rawValue).joined(separator: ", ")

    /// Creates a decoder for one body.
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

    /// Creates the coding with a lowercase name. Returns `nil` if the coding cannot be decoded.
    private init?(named name: String) {
        // "x-gzip" is an old name of the same coding (RFC 9110 §8.4.1.3).
        self.init(rawValue: name == "x-gzip" ? "gzip" : name)
    }

    /// Returns the decodable codings of a body, the last applied one first. If a coding is unknown, only those applied
    /// after it can be decoded. `Content-Encoding` lists codings in the order of application (RFC 9110 §8.4).
    static func undoable(in fields: HTTPFields) -> [ContentCoding] {
        var codings: [ContentCoding] = []
        for name in fields.contentCodings.reversed() {
            guard let coding = ContentCoding(named: name) else { break }
            codings.append(coding)
        }
        return codings
    }
}

/// Decodes one coding of one body, with the library that implements the coding. ``ContentDecoder`` enforces the limits.
protocol CodingReader: AnyObject {
    /// Decodes as much input as fits in a part of `room` bytes, and removes the consumed bytes from the input.
    ///
    /// - Returns: The decoded bytes, and whether the coded body may end here.
    /// - Throws: ``ContentDecoder/Failure/malformed``, ``ContentDecoder/Failure/outOfMemory``.
    func read(
        _ input: inout ByteBuffer, upTo room: Int
    ) throws(ContentDecoder.Failure) -> (part: [UInt8], isAtEnd: Bool)

    /// Handles bytes after the end of the coded body. They either begin another coded body that continues the first
    /// one, or do not belong to the response's content.
    ///
    /// - Returns: Whether another coded body begins; `nil` if more bytes are needed to decide.
    func beginAnother(_ input: ByteBuffer) throws(ContentDecoder.Failure) -> Bool?
}

extension HTTPResponse {
    /// Returns the response head that remains after `codingCount` codings were decoded: without these codings in
    /// Content-Encoding, and without Content-Length.
    func undoing(_ codingCount: Int) -> HTTPResponse {
        guard codingCount > 0 else { return self }
        var head = self
        head.headerFields.removeContentCodings(last: codingCount)
        head.headerFields[.contentLength] = nil
        return head
    }
}
