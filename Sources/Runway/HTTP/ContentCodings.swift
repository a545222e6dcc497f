package import HTTPTypes

extension HTTPFields {
    /// The content codings of the body, in lower case, in the order in which they were applied (RFC 9110 §8.4).
    ///
    /// `identity` does not count as a coding, nor does a token that IANA's registry does not list, such as `UTF-8`,
    /// `none` or `aws-chunked`: servers that send these send the body unchanged.
    package var contentCodings: [String] {
        // Most responses have none.
        guard let value = self[.contentEncoding] else { return [] }
        return FieldList.elements(of: value).map { $0.lowercased() }.filter(Self.registeredCodings.contains)
    }

    /// Removes the last `count` codings, which were applied last, from `Content-Encoding`.
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
