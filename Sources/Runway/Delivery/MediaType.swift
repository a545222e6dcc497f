/// The media type of a body (RFC 9110 §8.3.1): type, subtype and charset.
package struct MediaType: Sendable, Hashable, CustomStringConvertible {
    /// The type in lower case; `text` in `text/html`.
    package let type: String
    /// The subtype in lower case; `html` in `text/html`.
    package let subtype: String
    /// The value of the `charset` parameter in lower case; `nil` if the parameter is absent.
    package let charset: String?

    /// Whether the type is JSON: `application/json`, `text/json` or a subtype that ends in `+json` (RFC 6839 §3.1).
    package var isJSON: Bool { subtype == "json" || subtype.hasSuffix("+json") }

    /// Whether the type is XML (RFC 7303 §4.2, §9).
    package var isXML: Bool { subtype == "xml" || subtype.hasSuffix("+xml") }
    package var isHTML: Bool { subtype == "html" }

    /// Parses the value of a `Content-Type` field. Returns `nil` if the type or subtype is missing.
    ///
    /// If the `charset` parameter is repeated, the first one counts. All spellings that servers use are accepted:
    /// quoted or unquoted, in single quotation marks, without the closing quotation mark, with blanks around the equals
    /// sign, or before a comma. Other malformed parameters are ignored.
    package init?(_ text: String) {
        let parts = MediaType.split(text)
        let essence = parts[0].utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard essence.count == 2, essence.allSatisfy({ !$0.isEmpty && $0.allSatisfy { $0 > 0x20 && $0 < 0x7F } })
        else { return nil }
        type = Substring(essence[0]).lowercased()
        subtype = Substring(essence[1]).lowercased()
        charset =
            parts.dropFirst().lazy.compactMap { part -> String? in
                let pair = part.split(separator: "=", maxSplits: 1)
                guard pair.count == 2, pair[0].trimmingWhitespace.lowercased() == "charset" else { return nil }
                let value = pair[1].filter { $0 != "\\" }.drop { "\"' \t".contains($0) }
                    .prefix { !"\"' \t,;".contains($0) }
                return value.isEmpty ? nil : value.lowercased()
            }.first
    }

    /// The type and subtype, followed by the charset if it is present.
    package var description: String { "\(type)/\(subtype)" + (charset.map { "; charset=\($0)" } ?? "") }

    /// Splits the value at semicolons and trims the parts. A semicolon inside a quoted string does not split (RFC 9110
    /// §5.6.6).
    private static func split(_ text: String) -> [Substring] {
        let octets = text.utf8
        var parts: [Substring] = []
        var start = octets.startIndex
        var isQuoted = false
        var isEscaped = false
        for index in octets.indices {
            let octet = octets[index]
            if octet == UInt8(ascii: ";"), !isQuoted {
                parts.append(text[start..<index].trimmingWhitespace)
                start = octets.index(after: index)
                continue
            }
            if octet == UInt8(ascii: "\""), !isEscaped { isQuoted.toggle() }
            isEscaped = isQuoted && octet == UInt8(ascii: "\\") && !isEscaped
        }
        return parts + [text[start...].trimmingWhitespace]
    }
}
