import Foundation

/// Base64 as RFC 9651 §3.3.5 and RFC 4648 §4 have it.
enum Base64 {
    static func encoded(_ bytes: some Sequence<UInt8>) -> String { Data(bytes).base64EncodedString() }

    /// Returns `nil` if the text is no Base64. Padding may be absent, as RFC 9651 §4.2.7 recommends.
    static func decoded(_ text: String) -> [UInt8]? {
        let digits = text.utf8.count % 4
        let padded = digits == 0 || text.hasSuffix("=") ? text : text + String(repeating: "=", count: 4 - digits)
        return Data(base64Encoded: padded).map(Array.init)
    }
}
