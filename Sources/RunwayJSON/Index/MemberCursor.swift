/// The position of successive lookups in one object. It speeds up lookups in document order.
///
/// `passed` is a filter of the names before the cursor. If a name's bit is not set, no member before the cursor has the
/// name. The first member with that name is then at or after the cursor.
struct MemberCursor {
    /// The index of the next member's value; 0 before the first member.
    private(set) var index = 0
    private var passed: UInt64 = 0
    /// The number of index words that were read again to search before the cursor.
    private(set) var searchedBehind = 0

    /// Returns whether the searches before the cursor have cost more than building a ``MemberTable`` for an object of
    /// `words` index words.
    ///
    /// The filter is full after a few dozen names; every lookup then searches all members before the cursor. Building a
    /// table takes about as long as 32 such searches, so the total is at most twice the optimum.
    @inline(__always)
    func isCostly(words: Int) -> Bool { searchedBehind > words &* 32 &+ 4096 }

    @inline(__always)
    mutating func noteSearchBehind(words: Int) { searchedBehind &+= words }

    @inline(__always)
    func mayHavePassed(_ name: borrowing Span<UInt8>) -> Bool { passed & Self.bit(of: name, count: name.count) != 0 }

    /// Moves the cursor past a member; `index` is the index of its value.
    @inline(__always)
    mutating func pass(_ name: NameEntry, in bytes: borrowing Span<UInt8>, to index: Int) {
        // Unescaping the name would take longer than a search, so an escaped name is assumed to equal every name.
        let isEscaped = name.length == NameEntry.escaped
        passed |= isEscaped ? .max : Self.bit(of: bytes.extracting(name.offset...), count: Int(name.length))
        self.index = index
    }

    /// Returns one bit of 64, chosen by a name's length, its first byte, and the last of its first 14 bytes.
    @inline(__always)
    private static func bit(of name: borrowing Span<UInt8>, count: Int) -> UInt64 {
        let count = min(count, Int(NameEntry.long))
        if count == 0 { return 1 }
        let mixed = UInt64(name[0]) &* 3 &+ UInt64(name[count &- 1]) &* 37 &+ UInt64(count) &* 11
        return 1 &<< (mixed & 63)
    }
}
