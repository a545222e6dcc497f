import Runway

/// A path whose segments every server reads alike: decoded once, and without what servers decode in several ways.
struct StrictPath: Sendable {
    /// The segments, decoded.
    let segments: [String]

    /// Reads a path, with or without a slash before it.
    ///
    /// - Parameter text: The path as in an address, with escapes (RFC 3986 §2.1), at most 2,048 bytes.
    /// - Returns: `nil` if a segment is empty or only dots; if it contains, also as an escape, a slash, a backslash, a
    ///   control character, or one of `%`, `;`, `?` and `#`; or if it is not UTF-8.
    init?(_ text: String) {
        guard text.utf8.count <= 2048 else { return nil }
        let parts = (text.hasPrefix("/") ? text.dropFirst() : text[...]).utf8
            .split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        var segments: [String] = []
        for part in parts {
            let bytes = PercentEncoding.decoded(Array(part)[...])
            guard !bytes.contains(where: { $0 < 0x20 || $0 == 0x7F || "/\\%;?#".utf8.contains($0) }),
                let segment = String(validating: bytes, as: UTF8.self),
                // Some systems ignore dots and spaces at the end of a name.
                !segment.allSatisfy({ $0 == "." || $0 == " " })
            else { return nil }
            segments.append(segment)
        }
        self.segments = segments
    }

    /// Whether the first segments are those of `prefix`, compared by their bytes.
    func isBelow(_ prefix: StrictPath) -> Bool {
        segments.count >= prefix.segments.count
            && zip(segments, prefix.segments).allSatisfy { $0.utf8.elementsEqual($1.utf8) }
    }
}
