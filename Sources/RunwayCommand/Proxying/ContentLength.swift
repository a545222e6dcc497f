/// The length that `Content-Length` names (RFC 9110 §8.6).
enum ContentLength {
    /// The length, if all values of the field, and all elements of a list in one, are the same in digits; `nil`
    /// otherwise (RFC 9112 §6.3).
    static func understood(_ values: [some StringProtocol]) -> Int? {
        let lengths = Set(
            values.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }.map { element -> Int? in
                let words = element.split { $0 == " " || $0 == "\t" }
                guard words.count == 1, words[0].utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
                return Int(words[0])
            })
        return lengths.count == 1 ? lengths.first ?? nil : nil
    }
}
