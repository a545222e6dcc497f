import HTTPTypes

/// The target of a request, normalised so that equivalent targets are equal (RFC 9110 §4.2.3, RFC 3986 §6.2.2).
struct HTTPCacheURI: Hashable, Sendable {
    let text: String

    init(_ head: HTTPRequest) {
        let origin = Origin(head)
        let port = origin.port == (origin.scheme == "https" ? 443 : 80) ? "" : ":\(origin.port)"
        let path = head.escapedTarget
        text =
            "\(origin.scheme)://\(origin.host)\(port)"
            + (path.utf8.contains(UInt8(ascii: "%")) ? Self.normalisedPercentEncoding(path) : path)
    }

    /// Returns the target that a reference in a response field leads to. Returns `nil` if the target can't be requested
    /// or has another origin than the request `head`.
    init?(_ reference: URIReference, from head: HTTPRequest) {
        guard let target = try? HTTPTarget(reference, from: head) else { return nil }
        var other = head
        other.point(to: target)
        guard Origin(other) == Origin(head) else { return nil }
        self.init(other)
    }

    /// Returns the text with escapes in upper case, and without escapes for characters that need none.
    private static func normalisedPercentEncoding(_ text: String) -> String {
        let octets = Array(text.utf8)[...]
        var result: [UInt8] = []
        var index = octets.startIndex
        while index < octets.endIndex {
            guard let octet = PercentEncoding.octet(at: index, in: octets) else {
                result.append(octets[index])
                index += 1
                continue
            }
            if PercentEncoding.unreserved.contains(octet) {
                result.append(octet)
            } else {
                result += octets[index..<(index + 3)].map { $0 >= UInt8(ascii: "a") ? $0 - 0x20 : $0 }
            }
            index += 3
        }
        return String(decoding: result, as: UTF8.self)
    }
}
