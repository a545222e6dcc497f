package import HTTPTypes

extension HTTPFields {
    /// The content codings of the body, in lower case, in the order in which they were applied (RFC 9110 §8.4).
    ///
    /// `identity` is none, nor is a token that IANA's registry does not list, such as `UTF-8`, `none` or `aws-chunked`:
    /// servers that send one send the body as it is.
    package var contentCodings: [String] {
        // Most responses have none.
        guard let value = self[.contentEncoding] else { return [] }
        return FieldList.elements(of: value).map { $0.lowercased() }.filter(Self.registeredCodings.contains)
    }

    /// Removes the codings that were applied last from `Content-Encoding`, this many.
    package mutating func removeContentCodings(last count: Int) {
        var remaining = count
        let others = FieldList.elements(of: self[.contentEncoding] ?? "").reversed().filter { token in
            guard remaining > 0, Self.registeredCodings.contains(token.lowercased()) else { return true }
            remaining -= 1
            return false
        }
        self[.contentEncoding] = others.isEmpty ? nil : others.reversed().joined(separator: ", ")
    }

    /// The HTTP Content Coding Registry, as of 2026, without `identity`.
    private static let registeredCodings: Set<String> = [
        "aes128gcm", "br", "compress", "dcb", "dcz", "deflate", "exi", "gzip", "pack200-gzip", "x-compress", "x-gzip",
        "zstd",
    ]
}
