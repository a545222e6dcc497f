import HTTPTypes

/// A content coding that answers may have and that ``NIOTransport`` undoes (RFC 9110 §8.4.1).
enum ContentCoding: String, Sendable, CaseIterable {
    /// RFC 1952.
    case gzip
    /// zlib's format, RFC 1950; and RFC 1951 bare, which some servers send under this name.
    case deflate
    #if Brotli
        /// RFC 7932.
        case brotli = "br"
    #endif
    #if Zstd
        /// RFC 8878.
        case zstd
    #endif

    /// What is sent as `Accept-Encoding`: all codings, in the order of what they save.
    static let accepted: String = {
        var names: [String] = []
        #if Zstd
            names.append(ContentCoding.zstd.rawValue)
        #endif
        #if Brotli
            names.append(ContentCoding.brotli.rawValue)
        #endif
        return (names + [ContentCoding.gzip.rawValue, ContentCoding.deflate.rawValue]).joined(separator: ", ")
    }()

    /// The coding that was applied last, if it is one that can be undone; codings are named in the order in which they were applied
    /// (RFC 9110 §8.4).
    init?(outerOf fields: HTTPFields) {
        // Most answers name none, and pay for no more than that.
        guard let value = fields[.contentEncoding], let last = value.namedCodings.last else { return nil }
        let name = last.lowercased()
        // RFC 9110 §8.4.1.3: an old name of the same coding.
        self.init(rawValue: name == "x-gzip" ? "gzip" : name)
    }
}

extension HTTPResponse {
    /// The head of an answer whose outer coding was undone: the fields that spoke of the coded body are gone, and the codings below it
    /// are still named.
    var withoutOuterCoding: HTTPResponse {
        var head = self
        let inner = (head.headerFields[.contentEncoding] ?? "").namedCodings.dropLast()
        head.headerFields[.contentEncoding] = inner.isEmpty ? nil : inner.joined(separator: ", ")
        head.headerFields[.contentLength] = nil
        return head
    }
}

extension String {
    /// The codings that the value of a field names; empty elements of the list count for nothing (RFC 9110 §5.6.1).
    fileprivate var namedCodings: [Substring] {
        split(separator: ",").map { element in
            element.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
        }
        .filter { !$0.isEmpty }
    }
}
