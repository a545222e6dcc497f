#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A value of a ``JSONDocument``: a small view that keeps the document alive and never changes.
///
/// Lookups never fail. What is not there is a value of kind ``JSONKind/missing``, of which every lookup is missing and
/// every reading nil, so that a path can be written in one go:
///
/// ```swift
/// let title = raw["data"]["list"][3]["title"].string
/// ```
///
/// Where a value must be there, ``require(_:)`` throws an error that says what was found instead. Looking at a value
/// that exists allocates nothing; strings are made when they are asked for.
public struct JSONValue: Sendable {
    let storage: JSONStorage
    let index: Int

    @inline(__always)
    init(storage: JSONStorage, index: Int) {
        self.storage = storage
        self.index = index
    }

    /// Stands for a document that could not be read: every lookup is missing, and every ``require(_:)`` throws the error.
    public init(invalid error: JSONError) {
        self.init(storage: JSONStorage(absence: .invalid(error)), index: 0)
    }

    @inline(__always) var entry: IndexEntry { storage.entry(at: index) }

    /// What the value is.
    public var kind: JSONKind { entry.kind }

    /// Whether something is there; a `null` is.
    public var exists: Bool { entry.tag != .missing }

    /// Whether the value is the literal `null`. A missing value is not.
    public var isNull: Bool { entry.tag == .null }

    /// The error that stands for the document when it could not be read; nil for every value of a document.
    public var invalidDocumentError: JSONError? {
        if case .invalid(let error) = storage.absence { error } else { nil }
    }
}

// MARK: - Lookups

extension JSONValue {
    /// The value of the first member with a name; missing when there is none or the value is not an object.
    ///
    /// Names are compared by their Unicode scalars (RFC 8259 §8.3). It takes time in proportion to the members before.
    public subscript(key: String) -> JSONValue {
        member(named: key) ?? missing(.name(key))
    }

    /// The value of the first member with a name, or nil when there is none or the value is not an object.
    @inline(__always)
    func member(named name: String) -> JSONValue? {
        guard entry.tag == .object else { return nil }
        var name = name
        let found = name.withUTF8 { storage.member(named: $0, ofObjectAt: index) }
        return found.map { JSONValue(storage: storage, index: $0) }
    }

    /// The element at an index counted from zero; missing when there is none or the value is not an array.
    ///
    /// It takes time in proportion to the elements before: to read them all, go through ``elements``.
    public subscript(index: Int) -> JSONValue {
        let entry = entry
        if entry.tag == .array, index >= 0, index < count {
            var place = self.index + 1
            for _ in 0..<index { place += storage.entry(at: place).stride }
            return JSONValue(storage: storage, index: place)
        }
        return missing(.index(index))
    }

    private func missing(_ step: JSONPathStep) -> JSONValue {
        switch storage.absence {
        case .invalid: self
        case .lookup(let origin, let steps):
            JSONValue(storage: JSONStorage(absence: .lookup(from: origin, steps: steps + [step])), index: 0)
        case nil: JSONValue(storage: JSONStorage(absence: .lookup(from: self, steps: [step])), index: 0)
        }
    }

    /// The number of elements or members; 0 for every other kind.
    public var count: Int {
        let entry = entry
        return entry.isContainer ? storage.entry(at: index &+ entry.extent).extent : 0
    }

    /// The elements in document order, found as the sequence goes on; none unless the value is an array.
    public var elements: JSONElements { JSONElements(array: self) }

    /// The members in document order, names that occur twice twice; none unless the value is an object.
    public var members: JSONMembers { JSONMembers(object: self) }
}

// MARK: - Readings

extension JSONValue {
    /// The text of a string; nil for every other kind. A lone surrogate is read as U+FFFD.
    public var string: String? {
        let entry = entry
        return entry.isString ? StringText(entry: entry).text(in: storage) : nil
    }

    /// Whether the value is a string that says exactly these Unicode scalars; compares bytes and makes no string.
    public func isString(_ text: String) -> Bool {
        let entry = entry
        guard entry.isString else { return false }
        return StringText(entry: entry).equals(text.utf8, in: storage.bytes)
    }

    /// The boolean; nil for every other kind.
    public var bool: Bool? {
        switch entry.tag {
        case .true: true
        case .false: false
        default: nil
        }
    }

    /// Whether the value is a number written without fraction and exponent, such as `1` but not `1.0`.
    public var isInteger: Bool { entry.tag == .integer }

    private var number: NumberText? {
        let entry = entry
        return entry.isNumber ? NumberText(storage.bytes, at: entry.offset, count: entry.extent) : nil
    }

    /// The number when it is an integer that `Int` holds, exact; `1.0` and `1e2` are integers too.
    public var int: Int? { number?.int64.flatMap(Int.init(exactly:)) }

    /// The number when it is an integer that `Int64` holds, exact; `1.0` and `1e2` are integers too.
    public var int64: Int64? { number?.int64 }

    /// The number when it is an integer that `UInt64` holds, exact; `1.0` and `1e2` are integers too.
    public var uint64: UInt64? { number?.uint64 }

    /// The double nearest to the number, ties to even; nil beyond the range of finite doubles, as for `1e400`.
    public var double: Double? {
        guard let number else { return nil }
        if let quick = number.quickDouble { return quick }
        guard let value = Double(numberText), value.isFinite else { return nil }
        return value
    }

    /// The number as a decimal, exact up to 38 digits, for money; nil beyond the range of `Decimal`.
    public var decimal: Decimal? {
        guard let number else { return nil }
        if let quick = number.quickDecimal { return quick }
        guard let value = Decimal(string: numberText), !value.isNaN else { return nil }
        return value
    }

    /// A number as it is written.
    var numberText: String { storage.text(byteRange) }
}

// MARK: - Where it stands

extension JSONValue {
    /// The value's bytes as they stand in the document, a string with its quotation marks; empty when missing.
    public var rawBytes: ArraySlice<UInt8> { storage.bytes[byteRange] }

    /// Where the value's bytes stand in the document, counted from zero; empty when missing.
    public var byteRange: Range<Int> {
        let entry = entry
        switch entry.tag {
        case .missing, .end: return 0..<0
        case .string, .escapedString: return (entry.offset - 1)..<(entry.offset + entry.extent + 1)
        case .array, .object: return entry.offset..<(storage.entry(at: index + entry.extent).offset + 1)
        default: return entry.offset..<(entry.offset + entry.extent)
        }
    }

    /// The value's place, such as `data.list[3].title`; `$` for the root.
    ///
    /// Names that are not plain ASCII identifiers stand in brackets and quotation marks: `data["per-page"]`. The path of
    /// a missing value is the one that was asked for. It takes time in proportion to the document up to the value.
    public var path: String { JSONPathStep.path(steps) }

    var steps: [JSONPathStep] {
        switch storage.absence {
        case .invalid: return []
        case .lookup(let origin, let asked): return origin.steps + asked
        case nil: break
        }
        var steps: [JSONPathStep] = []
        var container = 0
        while container < index {
            let isObject = storage.entry(at: container).tag == .object
            var child = container + (isObject ? 2 : 1)
            var number = 0
            while child + storage.entry(at: child).stride <= index {
                child += storage.entry(at: child).stride + (isObject ? 1 : 0)
                number += 1
            }
            steps.append(
                isObject
                    ? .name(StringText(entry: storage.entry(at: child - 1)).text(in: storage)) : .index(number))
            container = child
        }
        return steps
    }
}
