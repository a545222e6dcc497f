import HTTPTypes

extension HTTPFields {
    /// Returns the value of `Content-Length`, or `nil` if the field is absent.
    ///
    /// The value consists of digits, with any number of leading zeros (RFC 9110 §8.6). The same length may be repeated,
    /// also as a list (RFC 9112 §6.3). A malformed value is an error even if no body follows, since the end of the
    /// response is then ambiguous.
    ///
    /// - Throws: ``WireError/malformed(_:)`` for a value that is not a number, or for different values.
    func contentLength() throws(WireError) -> Int? {
        var length: Int?
        for value in self[values: .contentLength] {
            for item in value.split(separator: ",", omittingEmptySubsequences: false) {
                let digits = item.withoutBlanks
                // `Int` would also accept a sign. It returns `nil` for a number that is too large.
                guard digits.utf8.allSatisfy(\.isDigit), let number = Int(digits) else {
                    throw .malformed("its Content-Length is not a number, or too large")
                }
                guard length == nil || length == number else {
                    throw .malformed("it has different values of Content-Length")
                }
                length = number
            }
        }
        return length
    }
}
