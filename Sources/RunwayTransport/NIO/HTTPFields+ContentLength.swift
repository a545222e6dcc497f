import HTTPTypes

extension HTTPFields {
    /// The value of `Content-Length`; `nil` if there is none.
    ///
    /// The value consists of digits, with any number of leading zeros (RFC 9110 §8.6). The same length may be repeated, also as a
    /// list (RFC 9112 §6.3). A malformed value is refused even if no body follows: after it, the connection can't be trusted.
    ///
    /// - Throws: ``WireError/malformed(_:)`` for a value that is not a number, or for different values.
    func contentLength() throws(WireError) -> Int? {
        var length: Int?
        for value in self[values: .contentLength] {
            for item in value.split(separator: ",", omittingEmptySubsequences: false) {
                let digits = item.withoutBlanks
                let significant = digits.utf8.drop { $0 == UInt8(ascii: "0") }
                guard !digits.isEmpty, significant.count <= 18, digits.utf8.allSatisfy(\.isDigit) else {
                    throw .malformed("its Content-Length is not a number")
                }
                let number = significant.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
                guard length == nil || length == number else {
                    throw .malformed("it has different values of Content-Length")
                }
                length = number
            }
        }
        return length
    }
}
