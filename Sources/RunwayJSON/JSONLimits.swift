/// Limits for reading a ``JSONDocument``.
///
/// A document that exceeds a limit is refused as a whole: reading it throws a ``JSONError`` of kind
/// ``JSONError/Kind/limitExceeded`` before any value is returned. RFC 8259 §9 permits such limits.
public struct JSONLimits: Sendable, Hashable {
    /// The maximum size of a document in bytes. The default is 64 MiB; values above ``largestByteCount`` have no
    /// effect.
    public var maximumByteCount: Int
    /// The maximum nesting depth of arrays and objects. The default is 512; a single `[]` has depth 1.
    ///
    /// This module does not recurse: each level costs 24 bytes of heap memory and no stack. Recursive types that decode
    /// or encode themselves with `init(from:)` and `encode(to:)` do recurse, and need their own limit.
    public var maximumDepth: Int
    /// The maximum number of values: the root, every element and every member's value. The default is 8 million.
    ///
    /// This limits the memory of the index, which takes at most 20 bytes per value.
    public var maximumValueCount: Int

    /// The largest supported document in bytes: 128 MiB − 1, since an index entry cannot address more.
    public static let largestByteCount = (1 << 27) - 1

    /// The default limits: 64 MiB, depth 512, 8 million values.
    public static let `default` = JSONLimits()

    /// Creates limits. Each parameter has the default of its property.
    public init(
        maximumByteCount: Int = 64 << 20,
        maximumDepth: Int = 512,
        maximumValueCount: Int = 8_000_000
    ) {
        self.maximumByteCount = maximumByteCount
        self.maximumDepth = maximumDepth
        self.maximumValueCount = maximumValueCount
    }

    var effectiveByteCount: Int { min(maximumByteCount, Self.largestByteCount) }

    func tooLarge(_ byteCount: Int) -> JSONError {
        JSONError(
            kind: .limitExceeded, expected: "at most \(effectiveByteCount) bytes", found: "\(byteCount) bytes")
    }
}
