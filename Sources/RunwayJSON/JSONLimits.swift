/// The bounds within which a ``JSONDocument`` is read.
///
/// A document beyond a bound is refused as a whole, with a ``JSONError`` of kind ``JSONError/Kind/limitExceeded``,
/// before any of its values is returned. RFC 8259 §9 lets an implementation set such limits.
public struct JSONLimits: Sendable, Hashable {
    /// The largest document, in bytes. Default 64 MiB; never above ``largestByteCount``.
    public var maximumByteCount: Int
    /// The deepest nesting of arrays and objects. The default is 512; a single `[]` has depth 1.
    ///
    /// This module does not recurse, so that a greater depth costs memory (24 bytes a level), never stack. Types that
    /// decode or encode trees by their own `init(from:)` and `encode(to:)` do recurse, and set a limit of their own.
    public var maximumDepth: Int
    /// The greatest number of values: the root, every element and every member's value. Default 8 million.
    ///
    /// It limits the memory of the index, which is at most 20 bytes for each value.
    public var maximumValueCount: Int

    /// The largest size that can be set, in bytes: 128 MiB − 1, the most that an entry of the index can address.
    public static let largestByteCount = (1 << 27) - 1

    /// The default bounds: 64 MiB, depth 512, 8 million values.
    public static let `default` = JSONLimits()

    /// Creates limits for a reader; see the properties for the defaults.
    public init(
        maximumByteCount: Int = 64 << 20,
        maximumDepth: Int = 512,
        maximumValueCount: Int = 8_000_000
    ) {
        self.maximumByteCount = maximumByteCount
        self.maximumDepth = maximumDepth
        self.maximumValueCount = maximumValueCount
    }

    /// The bound on bytes that applies.
    var effectiveByteCount: Int { min(maximumByteCount, Self.largestByteCount) }

    /// Returns the error of a document that has `byteCount` bytes.
    func tooLarge(_ byteCount: Int) -> JSONError {
        JSONError(
            kind: .limitExceeded, expected: "at most \(effectiveByteCount) bytes", found: "\(byteCount) bytes")
    }
}
