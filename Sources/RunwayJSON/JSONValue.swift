#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Reads one value of a ``JSONDocument``: a small view that retains the document and never changes.
///
/// Lookups never fail. An absent value has the kind ``JSONKind/missing``. Every lookup in it is missing, too, and its
/// `string` and other readings are `nil`. A path can therefore be written in one expression:
///
/// ```swift
/// let title = raw["data"]["list"][3]["title"].string
/// ```
///
/// If a value must exist, ``require(_:)`` throws an error that names the value that was found instead.
///
/// Reading existing values allocates nothing: lookups, iteration, counts, kinds, booleans, integers, doubles, comparing
/// text, raw bytes. These allocate:
///
/// - Reading a string.
/// - A lookup of an absent value, once, and once more for a lookup in it, for the path that it stores.
/// - A double of more than 19 digits or of a size beyond 10^-21 and 10^38, once.
/// - A decimal of more than 19 digits, a few times.
public struct JSONValue: Sendable {
    @usableFromInline let storage: JSONStorage
    @usableFromInline let index: Int

    @inlinable
    init(storage: JSONStorage, index: Int) {
        self.storage = storage
        self.index = index
    }

    /// Creates a value that stands for an unreadable document. Every lookup in it is missing, and every ``require(_:)``
    /// throws `error`.
    public init(invalid error: JSONError) {
        self.init(storage: JSONStorage(absence: .invalid(error)), index: 0)
    }

    @inline(__always) var entry: IndexEntry { storage.entry(at: index) }

    /// The size in bytes of the whole document's index. The document's own bytes are not included.
    package var indexByteCount: Int { storage.indexByteCount }

    /// The kind of the value; ``JSONKind/missing`` if the document has no such value.
    @inlinable public var kind: JSONKind { storage.kind(at: index) }

    /// Whether the document has the value. A `null` is a value.
    @inlinable public var exists: Bool { kind != .missing }

    /// Whether the value is the literal `null`. A missing value is not `null`.
    @inlinable public var isNull: Bool { kind == .null }

    /// The error of an unreadable document, for a value created with ``init(invalid:)``; otherwise `nil`.
    public var invalidDocumentError: JSONError? {
        if case .invalid(let error) = storage.absence { error } else { nil }
    }
}

// MARK: - Lookups

extension JSONValue {
    /// The value of the first member named `key`. It is missing if the object has no such member or the value is not an
    /// object.
    ///
    /// Names are compared by their Unicode scalars (RFC 8259 §8.3). A lookup takes time in proportion to the number of
    /// earlier members. To read many members of a large object whose names are data, iterate over ``members`` once.
    @inlinable
    public subscript(key: String) -> JSONValue {
        let found = storage.member(named: key, ofObjectAt: index)
        return found >= 0 ? JSONValue(storage: storage, index: found) : missing(name: key)
    }

    @usableFromInline
    func missing(name: String) -> JSONValue { missing(.name(name)) }

    /// The element at an index counted from 0. It is missing if the index is out of bounds or the value is not an
    /// array.
    ///
    /// A lookup takes time in proportion to the number of earlier elements. To read all elements, iterate over
    /// ``elements``.
    public subscript(index: Int) -> JSONValue {
        let entry = entry
        if entry.tag == .array, index >= 0, index < count {
            var place = self.index + IndexEntry.wordCount
            for _ in 0..<index { place += storage.entry(at: place).stride }
            return JSONValue(storage: storage, index: place)
        }
        return missing(.index(index))
    }

    private func missing(_ step: JSONPathStep) -> JSONValue {
        switch storage.absence {
        case .invalid: return self
        case .lookup(let origin, let first, var rest):
            rest.append(step)
            return JSONValue(storage: JSONStorage(absence: .lookup(from: origin, first: first, rest: rest)), index: 0)
        case nil:
            return JSONValue(storage: JSONStorage(absence: .lookup(from: self, first: step, rest: [])), index: 0)
        }
    }

    /// The number of elements or members; 0 for every other kind.
    @inlinable public var count: Int { storage.count(at: index) }

    /// The elements in document order, read lazily; empty if the value is not an array.
    @inlinable public var elements: JSONElements { JSONElements(array: self) }

    /// The members in document order, read lazily; empty if the value is not an object. Members with equal names are
    /// all included.
    @inlinable public var members: JSONMembers { JSONMembers(object: self) }
}

// MARK: - Readings

extension JSONValue {
    /// The text of a string; `nil` for every other kind. A lone surrogate is read as U+FFFD.
    @inlinable public var string: String? { storage.string(at: index) }

    /// Returns whether the value is a string of exactly the Unicode scalars of `text`. It creates no string.
    @inlinable
    public func isString(_ text: String) -> Bool { storage.isString(text, at: index) }

    /// The Boolean of a `true` or `false`; `nil` for every other kind.
    @inlinable public var bool: Bool? { storage.bool(at: index) }

    /// Whether the value is a number written without fraction and exponent: `1` is, `1.0` is not.
    public var isInteger: Bool { entry.tag == .integer }

    /// The exact number; `nil` if it is not an integer or `Int` cannot represent it. `1.0` and `1e2` are integers.
    @inlinable public var int: Int? { storage.int64(at: index).flatMap(Int.init(exactly:)) }

    /// The exact number; `nil` if it is not an integer or `Int64` cannot represent it. `1.0` and `1e2` are integers.
    @inlinable public var int64: Int64? { storage.int64(at: index) }

    /// The exact number; `nil` if it is not an integer or `UInt64` cannot represent it. `1.0` and `1e2` are integers.
    @inlinable public var uint64: UInt64? { storage.uint64(at: index) }

    /// The double nearest to the number, ties to even; `nil` if it exceeds the finite doubles, such as `1e400`.
    @inlinable public var double: Double? { storage.double(at: index) }

    /// The number as a decimal, for money. It is exact up to 38 digits; `nil` beyond the range of `Decimal`.
    public var decimal: Decimal? { storage.decimal(at: index) }
}

// MARK: - Position

extension JSONValue {
    /// The bytes of the value in the document, including a string's quotation marks; empty if the value is missing.
    public var rawBytes: ArraySlice<UInt8> { storage.bytes[byteRange] }

    /// The byte offsets of the value in the document, counted from 0; empty if the value is missing.
    public var byteRange: Range<Int> {
        let entry = entry
        switch entry.tag {
        case .missing, .end: return 0..<0
        case .string, .escapedString: return (entry.offset - 1)..<(entry.offset + entry.extent + 1)
        case .array, .object: return entry.offset..<(storage.entry(at: index + entry.extent).offset + 1)
        default: return entry.offset..<(entry.offset + entry.extent)
        }
    }

    /// The line and the column of the value's first byte, counted as in ``JSONError``; line 1, column 1 if the value is
    /// missing.
    ///
    /// Takes time in proportion to the document up to the value.
    public var position: (line: Int, column: Int) {
        GrammarCheck.position(of: byteRange.lowerBound, in: storage.bytes)
    }

    /// The value's path, such as `data.list[3].title`; `$` for the root.
    ///
    /// Names that are not plain ASCII identifiers are written as `data["per-page"]`. The path of a missing value is the
    /// path that was looked up. Takes time in proportion to the document up to the value.
    public var path: String { JSONPathStep.path(steps) }

    var steps: [JSONPathStep] {
        switch storage.absence {
        case .invalid: return []
        case .lookup(let origin, let first, let rest): return origin.steps + [first] + rest
        case nil: break
        }
        var steps: [JSONPathStep] = []
        var container = 0
        while container < index {
            let isObject = storage.entry(at: container).tag == .object
            var child = container + IndexEntry.wordCount + (isObject ? 1 : 0)
            var number = 0
            while child + storage.entry(at: child).stride <= index {
                child += storage.entry(at: child).stride + (isObject ? 1 : 0)
                number += 1
            }
            steps.append(
                isObject
                    ? .name(storage.nameText(ofValueAt: child)) : .index(number))
            container = child
        }
        return steps
    }
}
