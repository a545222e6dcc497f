/// A content coding that answers may have and that is undone here (RFC 9110 §8.4.1).
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

    /// The value of `Accept-Encoding` that names all codings, in the order of what they save.
    static let acceptEncoding: String = {
        var names: [String] = []
        #if Zstd
            names.append(ContentCoding.zstd.rawValue)
        #endif
        #if Brotli
            names.append(ContentCoding.brotli.rawValue)
        #endif
        return (names + [ContentCoding.gzip.rawValue, ContentCoding.deflate.rawValue]).joined(separator: ", ")
    }()

    /// The outermost of the codings that the values of `Content-Encoding` name, which is the last; `nil` where it is not known here.
    init?(contentEncoding values: some Sequence<some StringProtocol>) {
        let names = values.flatMap { $0.split(separator: ",") }
        guard let last = names.last else { return nil }
        let name = String(last.filter { $0 != " " && $0 != "\t" }).lowercased()
        // RFC 9110 §8.4.1.3: an old name of the same coding.
        self.init(rawValue: name == "x-gzip" ? "gzip" : name)
    }
}
