#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The `Decoder` of one value. Its parents and their keys form the coding path.
///
/// It is a class because containers are copied for every decoded value: all copies share one decoder.
final class ValueDecoder: Decoder {
    let context: DecodingContext
    let storage: JSONStorage
    /// The value's index, or -1 for an absent value, which decodes as `null`.
    let index: Int
    private var parent: ValueDecoder?
    private let key: (any CodingKey)?
    private(set) var cursor = MemberCursor()
    private(set) var table: MemberTable?

    init(context: DecodingContext, index: Int, parent: ValueDecoder?, key: (any CodingKey)?) {
        self.context = context
        storage = context.storage
        self.index = index
        self.parent = parent
        self.key = key
    }

    /// Releases the parent decoders one by one. Recursive release would overflow the stack for a deep document.
    deinit { while isKnownUniquelyReferenced(&parent) { parent = parent?.parent } }

    var codingPath: [any CodingKey] {
        var keys: [any CodingKey] = []
        var decoder: ValueDecoder? = self
        while let current = decoder {
            if let key = current.key { keys.append(key) }
            decoder = current.parent
        }
        return keys.reversed()
    }

    /// Returns the index of a member's value, or -1 if the member is absent.
    @inline(__always)
    func member(_ name: String) -> Int {
        guard context.usesDefaultKeys else { return convertedMembers[name] ?? -1 }
        if let table { return table[name] }
        var cursor = cursor
        defer {
            self.cursor = cursor
            if cursor.searchedBehind > 0 { makeTableIfWorthIt() }
        }
        return storage.member(named: name, ofObjectAt: index, cursor: &cursor)
    }

    @inline(never)
    private func makeTableIfWorthIt() {
        guard cursor.isCostly(words: storage.stride(at: index)) else { return }
        table = MemberTable(ofObjectAt: index, in: storage)
    }

    var userInfo: [CodingUserInfoKey: Any] { context.strategies.userInfo }

    /// The indices of the values by converted member name. If a name occurs twice, the first member counts.
    private(set) lazy var convertedMembers: [String: Int] = Dictionary(
        value.members.map { (context.key(for: $0.key, below: self), $0.value.index) },
        uniquingKeysWith: { first, _ in first })

    var value: JSONValue { JSONValue(storage: storage, index: index) }
    var kind: JSONKind { index < 0 ? .null : storage.kind(at: index) }

    func below(_ key: any CodingKey, at index: Int) -> ValueDecoder {
        ValueDecoder(context: context, index: index, parent: self, key: key)
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try requireObject()
        return KeyedDecodingContainer(KeyedValueContainer(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try elementContainer() }

    func elementContainer() throws -> UnkeyedValueContainer {
        guard kind == .array else { throw kindError([Any].self, container: "unkeyed", expected: "Array<Any>") }
        return UnkeyedValueContainer(decoder: self)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { SingleValueContainer(decoder: self) }

    func requireObject() throws {
        guard kind == .object else {
            throw kindError([String: Any].self, container: "keyed", expected: "Dictionary<String, Any>")
        }
    }

    private func kindError(_ type: Any.Type, container: String, expected: String) -> DecodingError {
        if kind == .null {
            return .valueNotFound(
                type, context("Cannot get \(container) decoding container -- found null value instead"))
        }
        return .typeMismatch(type, context("Expected to decode \(expected) but found \(kind.withArticle) instead."))
    }

    func context(_ description: String) -> DecodingError.Context {
        DecodingError.Context(codingPath: codingPath, debugDescription: description)
    }

    /// Returns the error for a value that is not of the requested type.
    func mismatch(_ type: Any.Type) -> DecodingError {
        if kind == .null {
            return .valueNotFound(type, context("Cannot get value of type \(type) -- found null value instead"))
        }
        return .typeMismatch(type, context("Expected to decode \(type) but found \(kind.withArticle) instead."))
    }

    /// Returns the error for a number that a type cannot represent.
    func unrepresentable(_ type: Any.Type) -> DecodingError {
        .dataCorrupted(
            context("Number \(value.excerpt(isSecret: isSecret)) is not representable in \(type)."))
    }

    /// Whether a name on the value's path is secret. Checks the parent decoders instead of the path from the document's
    /// root: computing that path takes time in proportion to the document, and there may be many errors.
    private var isSecret: Bool {
        var decoder = self
        while let parent = decoder.parent {
            if parent.kind == .object, decoder.index >= 0,
                JSONRedaction.default.isSecret(storage.nameText(ofValueAt: decoder.index))
            {
                return true
            }
            decoder = parent
        }
        return context.isSecret(root: decoder.value)
    }
}

// MARK: - Scalars

extension ValueDecoder {
    func bool() throws -> Bool {
        if index >= 0, let bool = storage.bool(at: index) { return bool }
        // Foundation throws `typeMismatch` for a `null` here; for every other type it throws `valueNotFound`.
        throw DecodingError.typeMismatch(
            Bool.self, context("Expected to decode Bool but found \(kind.withArticle) instead."))
    }

    func string() throws -> String {
        guard index >= 0, let string = storage.string(at: index) else { throw mismatch(String.self) }
        return string
    }

    func integer<T: FixedWidthInteger>() throws -> T {
        if index >= 0, let integer = storage.integer(at: index) as T? { return integer }
        throw kind == .number ? unrepresentable(T.self) : mismatch(T.self)
    }

    func double() throws -> Double {
        if index >= 0, let double = storage.double(at: index) { return double }
        return try nonConforming((.infinity, -.infinity, .nan))
    }

    func float() throws -> Float {
        if index >= 0, let float = storage.float(at: index) { return float }
        return try nonConforming((.infinity, -.infinity, .nan))
    }

    private func nonConforming<T: BinaryFloatingPoint>(_ numbers: (positive: T, negative: T, nan: T)) throws -> T {
        if kind == .number { throw unrepresentable(T.self) }
        if kind == .string,
            case .convertFromString(let positive, let negative, let nan) =
                context.strategies.nonConformingFloatDecodingStrategy
        {
            if value.isString(positive) { return numbers.positive }
            if value.isString(negative) { return numbers.negative }
            if value.isString(nan) { return numbers.nan }
        }
        throw mismatch(T.self)
    }
}
