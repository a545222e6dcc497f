extension BidirectionalCollection<UInt8> {
    /// Returns the text without leading and trailing spaces and tabs, which are not part of a field value (RFC 9110
    /// §5.5).
    func trimmingBlanks() -> SubSequence {
        guard let first = firstIndex(where: { !$0.isBlank }), let last = lastIndex(where: { !$0.isBlank }) else {
            return self[startIndex..<startIndex]
        }
        return self[first...last]
    }
}

extension UInt8 {
    var isBlank: Bool { self == 0x20 || self == 0x09 }
}
