package import HTTPTypes

extension HTTPFields {
    /// The content codings of the body in lower case, in the order in which they were applied (RFC 9110 §8.4).
    ///
    /// `identity` is omitted, and so are names that IANA's registry does not list, such as `UTF-8`, `none` or
    /// `aws-chunked`. Servers that send these names send the body uncoded.
    package var contentCodings: [String] {
        // Most responses have no content coding.
        guard let value = self[.contentEncoding] else { return [] }
        return FieldList.elements(of: value).map { $0.lowercased() }.filter(Self.registeredCodings.contains)
    }

    /// Removes the last `count` codings from `Content-Encoding`. These are the codings that were applied last.
    package mutating func removeContentCodings(last count: Int) {
        var remaining = count
        let others = FieldList.elements(of: self[.contentEncoding] ?? "").reversed().filter { token in
            guard remaining > 0, Self.registeredCodings.contains(token.lowercased()) else { return true }
            remaining -= 1
            return false
        }
        self[.contentEncoding] = others.isEmpty ? nil : others.reversed().joined(separator: ", ")
    }

    /// The entries of the HTTP Content Coding Registry as of 2026, except `identity`.
    private static let registeredCodings: Set<String> = [
        "aes128gcm", "br", "compress", "dcb", "dcz", "deflate", "exi", "gzip", "pack200-gzip", "x-compress", "x-gzip",
        "zstd",
    ]
}
