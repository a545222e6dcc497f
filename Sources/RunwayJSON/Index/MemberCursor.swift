/// The position of successive lookups in one object, for lookups that mostly proceed from its first member to its last.
///
/// `passed` has a bit of every name before the cursor. A name without its bit is not before the cursor, so that the
/// first member of that name is the first one from the cursor on.
struct MemberCursor {
    /// The index of the next member's value; 0 before the first.
    private(set) var index = 0
    private var passed: UInt64 = 0
    /// The number of words of the index that were read again to look before the cursor.
    private(set) var searchedBehind = 0

    /// Returns whether lookups before the cursor in an object of `wordCount` words have cost more than a
    /// ``MemberTable``.
    ///
    /// The filter is full after a few dozen names, and every lookup then examines all of them. A table takes about as
    /// long as 32 such lookups at each member, so that at most twice the time of the better way is spent.
    @inline(__always)
    func isCostly(words: Int) -> Bool { searchedBehind > words &* 32 &+ 4096 }

    @inline(__always)
    mutating func noteSearchBehind(words: Int) { searchedBehind &+= words }

    /// Whether a member with a name may be before the cursor.
    @inline(__always)
    func mayHavePassed(_ name: borrowing Span<UInt8>) -> Bool { passed & Self.bit(of: name, count: name.count) != 0 }

    /// Goes past a member to the value at an index.
    @inline(__always)
    mutating func pass(_ name: NameEntry, in bytes: borrowing Span<UInt8>, to index: Int) {
        // Decoding an escaped name is not worth the time: every name may equal it.
        let isEscaped = name.length == NameEntry.escaped
        passed |= isEscaped ? .max : Self.bit(of: bytes.extracting(name.offset...), count: Int(name.length))
        self.index = index
    }

    /// Returns one bit of 64, chosen by a name's length and two of its first bytes: the first and the last of at most
    /// 14.
    @inline(__always)
    private static func bit(of name: borrowing Span<UInt8>, count: Int) -> UInt64 {
        let count = min(count, Int(NameEntry.long))
        if count == 0 { return 1 }
        let mixed = UInt64(name[0]) &* 3 &+ UInt64(name[count &- 1]) &* 37 &+ UInt64(count) &* 11
        return 1 &<< (mixed & 63)
    }
}
