/// The index entry of one value: 64 bits, in two words of 32.
///
/// Bits 0–27 are a byte offset, bits 28–55 an extent, and bits 56–63 a ``Tag``. Entries are in document order. The
/// ``NameEntry`` of a member is directly before the member's value. The children of a container are between its opening
/// and its closing entry:
///
/// | tag | offset | extent |
/// |---|---|---|
/// | literals | first byte | length in bytes |
/// | numbers | first byte | length in bytes |
/// | strings | first byte after the quotation mark | length in bytes between the quotation marks |
/// | array, object | opening bracket | number of words from this entry to the closing one |
/// | end | closing bracket | number of elements or members |
struct IndexEntry {
    enum Tag: UInt8 {
        case missing = 0
        case null
        case `false`
        case `true`
        case integer
        case number
        case string
        case escapedString
        case array
        case object
        case end
    }

    let bits: UInt64

    static let fieldMask: UInt64 = (1 << 28) - 1
    static let missing = IndexEntry(tag: .missing, offset: 0, extent: 0)

    @inline(__always)
    init(bits: UInt64) { self.bits = bits }

    /// `offset` and `extent` must be below 2^28. ``JSONLimits/largestByteCount`` ensures this.
    @inline(__always)
    init(tag: Tag, offset: Int, extent: Int) {
        bits =
            UInt64(truncatingIfNeeded: offset) | UInt64(truncatingIfNeeded: extent) &<< 28
            | UInt64(tag.rawValue) &<< 56
    }

    @inline(__always)
    func with(extent: Int) -> IndexEntry { IndexEntry(bits: bits | UInt64(truncatingIfNeeded: extent) &<< 28) }

    @inline(__always) var offset: Int { Int(truncatingIfNeeded: bits & Self.fieldMask) }
    @inline(__always) var extent: Int { Int(truncatingIfNeeded: bits &>> 28 & Self.fieldMask) }
    @inline(__always) var rawTag: UInt8 { UInt8(truncatingIfNeeded: bits &>> 56) }
    @inline(__always) var tag: Tag { Tag(rawValue: rawTag) ?? .missing }

    @inline(__always) var isString: Bool { rawTag &- Tag.string.rawValue <= 1 }
    @inline(__always) var isNumber: Bool { rawTag &- Tag.integer.rawValue <= 1 }
    @inline(__always) var isContainer: Bool { rawTag &- Tag.array.rawValue <= 1 }
    @inline(__always) var isEnd: Bool { rawTag == Tag.end.rawValue }

    static let wordCount = 2

    /// The distance in words to the next sibling, or to the sibling's name.
    @inline(__always) var stride: Int { isContainer ? extent &+ Self.wordCount : Self.wordCount }

    var kind: JSONKind {
        switch tag {
        case .missing, .end: .missing
        case .null: .null
        case .false, .true: .boolean
        case .integer, .number: .number
        case .string, .escapedString: .string
        case .array: .array
        case .object: .object
        }
    }
}
