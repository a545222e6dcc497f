import Foundation

/// Base64 as RFC 9651 §3.3.5 and RFC 4648 §4 have it.
package enum Base64 {
    /// Base64 with padding.
    package static func encoded(_ bytes: some Sequence<UInt8>) -> String { Data(bytes).base64EncodedString() }

    /// Returns `nil` if the text is no Base64, or not the one spelling of its bytes: padding may be absent, as RFC 9651 §4.2.7
    /// recommends, but not be too long, and the unused bits of the last digit are zero (RFC 4648 §3.5). A second spelling of a
    /// nonce would let a request be replayed.
    package static func decoded(_ text: String) -> [UInt8]? {
        let digits = text.utf8.prefix { $0 != UInt8(ascii: "=") }.count
        let padding = [0: 0, 2: 2, 3: 1][digits % 4]
        let found = text.utf8.count - digits
        guard let padding, found == 0 || found == padding else { return nil }
        let padded = found == padding ? text : text + String(repeating: "=", count: padding)
        guard let bytes = Data(base64Encoded: padded), bytes.base64EncodedString() == padded else { return nil }
        return Array(bytes)
    }

    /// Base64 for URLs without padding (RFC 4648 §5).
    package static func encodedForURL(_ bytes: some Sequence<UInt8>) -> String {
        encoded(bytes).replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// Returns `nil` if the text is no Base64 for URLs, or has padding.
    package static func decodedForURL(_ text: some StringProtocol) -> [UInt8]? {
        guard !text.utf8.contains(where: { "+/=".utf8.contains($0) }) else { return nil }
        return decoded(String(text).replacing("-", with: "+").replacing("_", with: "/"))
    }
}
