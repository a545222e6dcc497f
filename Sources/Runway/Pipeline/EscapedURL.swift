import HTTPTypes

extension Request {
    /// The URL, with what may not stand in a path or query percent-encoded (RFC 3986 §3.3, §3.4) and everything else as it is.
    ///
    /// For transports that read URLs with Foundation, which repairs a URL that is not legal by escaping its escapes too.
    package var escapedURL: String {
        guard let path = head.path, !path.utf8.allSatisfy(\.isPlainInURL) else { return url }
        return "\(head.scheme ?? "")://\(head.authority ?? "")\(Self.escaped(path))"
    }

    /// The target of the request: path and query, escaped likewise, and with the slash that it has to begin with (RFC 9112 §3.2.1).
    package var escapedTarget: String {
        guard let path = head.path, !path.isEmpty else { return "/" }
        let target = path.utf8.allSatisfy(\.isPlainInURL) ? path : Self.escaped(path)
        return target.utf8.first == UInt8(ascii: "/") || (target == "*" && head.method == .options)
            ? target : "/" + target
    }

    private static func escaped(_ path: String) -> String {
        let bytes = Array(path.utf8)
        var escaped: [UInt8] = []
        escaped.reserveCapacity(bytes.count + 16)
        for (index, byte) in bytes.enumerated() {
            let isEscape =
                byte == UInt8(ascii: "%") && index + 2 < bytes.count && bytes[index + 1].isHexDigit
                && bytes[index + 2].isHexDigit
            if byte.isPlainInURL || isEscape {
                escaped.append(byte)
            } else {
                let digits = Array("0123456789ABCDEF".utf8)
                escaped += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }
}

extension UInt8 {
    fileprivate var isHexDigit: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "F"),
            UInt8(ascii: "a")...UInt8(ascii: "f"):
            true
        default: false
        }
    }

    /// Whether a byte may stand in a path or query by itself.
    fileprivate var isPlainInURL: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "/")...UInt8(ascii: ";"), UInt8(ascii: "&")...UInt8(ascii: "."),
            UInt8(ascii: "?"), UInt8(ascii: "@"), UInt8(ascii: "="), UInt8(ascii: "_"), UInt8(ascii: "~"),
            UInt8(ascii: "!"), UInt8(ascii: "$"):
            true
        default: false
        }
    }
}
