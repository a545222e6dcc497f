import HTTPTypes

/// The content codings that ``NIOTransport`` undoes.
enum ContentCoding: Sendable {
    case gzip
    case deflate

    /// What is sent as `Accept-Encoding`.
    static let accepted = "gzip, deflate"

    private init?(name: Substring) {
        switch name.lowercased() {
        case "gzip", "x-gzip": self = .gzip
        case "deflate": self = .deflate
        default: return nil
        }
    }

    /// The coding that was applied last, if it is one that can be undone; codings are named in the order in which they were applied
    /// (RFC 9110 §8.4).
    init?(outerOf fields: HTTPFields) {
        guard let value = fields[.contentEncoding] else { return nil }
        let last = value.split(separator: ",").last { $0.contains { $0 != " " && $0 != "\t" } }
        self.init(name: (last ?? "").drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" })
    }
}

extension HTTPResponse {
    /// The head of an answer whose outer coding was undone: the fields that spoke of the coded body are gone, and the codings below it
    /// are still named.
    var withoutOuterCoding: HTTPResponse {
        var head = self
        let names = (head.headerFields[.contentEncoding] ?? "").split(separator: ",").map { name in
            String(name.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" })
        }
        let inner = names.filter { !$0.isEmpty }.dropLast()
        head.headerFields[.contentEncoding] = inner.isEmpty ? nil : inner.joined(separator: ", ")
        head.headerFields[.contentLength] = nil
        return head
    }
}

/// The coded body of an answer can't be decoded.
enum ContentCodingError: Error, CustomStringConvertible {
    case corrupt(String)
    case truncated
    case trailingBytes
    /// It would grow to more than so many times its size.
    case expandsTooMuch(limit: Int)

    var description: String {
        switch self {
        case .corrupt(let reason): "corrupt data (\(reason))"
        case .truncated: "it ends too early"
        case .trailingBytes: "something follows its end"
        case .expandsTooMuch(let limit): "it grows to more than \(limit) times its size"
        }
    }
}
