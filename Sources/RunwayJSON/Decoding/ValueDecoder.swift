#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The `Decoder` of one value.
struct ValueDecoder: Decoder {
    let value: JSONValue
    let context: DecodingContext
    let path: CodingPathNode?

    var codingPath: [any CodingKey] { CodingPathNode.path(path) }
    var userInfo: [CodingUserInfoKey: Any] { context.strategies.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(try keyedContainer(type))
    }

    func keyedContainer<Key: CodingKey>(_ type: Key.Type) throws -> KeyedValueContainer<Key> {
        guard value.entry.tag == .object else {
            throw kindError([String: Any].self, container: "keyed", expected: "Dictionary<String, Any>")
        }
        return KeyedValueContainer(decoder: self)
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try elementContainer() }

    func elementContainer() throws -> UnkeyedValueContainer {
        guard value.entry.tag == .array else {
            throw kindError([Any].self, container: "unkeyed", expected: "Array<Any>")
        }
        return UnkeyedValueContainer(decoder: self)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { SingleValueContainer(decoder: self) }

    private func kindError(_ type: Any.Type, container: String, expected: String) -> DecodingError {
        if value.isNull || !value.exists {
            return .valueNotFound(
                type,
                DecodingError.Context(
                    codingPath: codingPath,
                    debugDescription: "Cannot get \(container) decoding container -- found null value instead"))
        }
        return .typeMismatch(
            type,
            DecodingError.Context(
                codingPath: codingPath,
                debugDescription: "Expected to decode \(expected) but found \(value.kind.withArticle) instead."))
    }
}

// MARK: - Scalars

extension ValueDecoder {
    /// The coding path of an error: this value's, with the key that it was asked by.
    private func context(_ key: (any CodingKey)?, _ description: String) -> DecodingError.Context {
        DecodingError.Context(codingPath: codingPath + (key.map { [$0] } ?? []), debugDescription: description)
    }

    private func mismatch(_ type: Any.Type, _ value: JSONValue, _ key: (any CodingKey)?) -> DecodingError {
        if value.isNull || !value.exists {
            return .valueNotFound(type, context(key, "Cannot get value of type \(type) -- found null value instead"))
        }
        return .typeMismatch(
            type, context(key, "Expected to decode \(type) but found \(value.kind.withArticle) instead."))
    }

    private func unrepresentable(_ type: Any.Type, _ value: JSONValue, _ key: (any CodingKey)?) -> DecodingError {
        .dataCorrupted(context(key, "Number \(value.numberText) is not representable in \(type)."))
    }

    func bool(_ value: JSONValue, _ key: (any CodingKey)?) throws -> Bool {
        if let bool = value.bool { return bool }
        // Foundation does not tell a `null` apart here, as it does for every other type.
        throw DecodingError.typeMismatch(
            Bool.self, context(key, "Expected to decode Bool but found \(value.kind.withArticle) instead."))
    }

    func string(_ value: JSONValue, _ key: (any CodingKey)?) throws -> String {
        guard let string = value.string else { throw mismatch(String.self, value, key) }
        return string
    }

    func integer<T: FixedWidthInteger>(_ value: JSONValue, _ key: (any CodingKey)?) throws -> T {
        guard value.entry.isNumber else { throw mismatch(T.self, value, key) }
        if let signed = value.int64, let integer = T(exactly: signed) { return integer }
        if let unsigned = value.uint64, let integer = T(exactly: unsigned) { return integer }
        throw unrepresentable(T.self, value, key)
    }

    func double(_ value: JSONValue, _ key: (any CodingKey)?) throws -> Double {
        if let double = value.double { return double }
        return try nonConforming(value, key, (.infinity, -.infinity, .nan))
    }

    func float(_ value: JSONValue, _ key: (any CodingKey)?) throws -> Float {
        if let float = value.float { return float }
        return try nonConforming(value, key, (.infinity, -.infinity, .nan))
    }

    private func nonConforming<T: BinaryFloatingPoint>(
        _ value: JSONValue, _ key: (any CodingKey)?, _ numbers: (positive: T, negative: T, nan: T)
    ) throws -> T {
        if value.entry.isNumber { throw unrepresentable(T.self, value, key) }
        if case .convertFromString(let positive, let negative, let nan) =
            context.strategies.nonConformingFloatDecodingStrategy
        {
            if value.isString(positive) { return numbers.positive }
            if value.isString(negative) { return numbers.negative }
            if value.isString(nan) { return numbers.nan }
        }
        throw mismatch(T.self, value, key)
    }

    /// Decodes any type, the ones that strategies are about by these.
    func unwrap<T: Decodable>(_ type: T.Type) throws -> T {
        if type == Date.self || type == Data.self || type == Decimal.self || type == URL.self {
            if value.isNull { throw mismatch(type, value, nil) }
            if type == Date.self { return try date() as! T }
            if type == Data.self { return try data() as! T }
            return try type == URL.self ? url() as! T : decimal() as! T
        }
        if let dictionary = type as? any StringKeyedDictionary.Type {
            return try dictionary.decode(from: self) as! T
        }
        return try T(from: self)
    }

    /// Decodes a type from a value below this one.
    func unwrap<T: Decodable>(_ type: T.Type, _ value: JSONValue, _ key: any CodingKey) throws -> T {
        let node = CodingPathNode(parent: path, key: key)
        return try ValueDecoder(value: value, context: context, path: node).unwrap(type)
    }
}

// MARK: - Foundation's types

extension ValueDecoder {
    private func date() throws -> Date {
        switch context.strategies.dateDecodingStrategy {
        case .deferredToDate: return try Date(from: self)
        case .secondsSince1970: return Date(timeIntervalSince1970: try double(value, nil))
        case .millisecondsSince1970: return Date(timeIntervalSince1970: try double(value, nil) / 1000)
        case .custom(let decode): return try decode(self)
        case .iso8601:
            guard let date = try? Date.ISO8601FormatStyle().parse(string(value, nil)) else {
                _ = try string(value, nil)
                throw DecodingError.dataCorrupted(context(nil, "Expected date string to be ISO8601-formatted."))
            }
            return date
        case .formatted(let read):
            guard let date = read(try string(value, nil)) else {
                throw DecodingError.dataCorrupted(
                    context(nil, "Date string does not match format expected by formatter."))
            }
            return date
        }
    }

    private func data() throws -> Data {
        switch context.strategies.dataDecodingStrategy {
        case .deferredToData: return try Data(from: self)
        case .custom(let decode): return try decode(self)
        case .base64:
            guard let data = Data(base64Encoded: try string(value, nil)) else {
                throw DecodingError.dataCorrupted(context(nil, "Encountered Data is not valid Base64."))
            }
            return data
        }
    }

    private func decimal() throws -> Decimal {
        guard value.entry.isNumber else { throw mismatch(Decimal.self, value, nil) }
        guard let decimal = value.decimal else { throw unrepresentable(Decimal.self, value, nil) }
        return decimal
    }

    private func url() throws -> URL {
        guard let url = URL(string: try string(value, nil)) else {
            throw DecodingError.dataCorrupted(context(nil, "Invalid URL string."))
        }
        return url
    }
}

/// Dictionaries with strings as keys, whose keys are data: no key strategy changes them.
private protocol StringKeyedDictionary {
    static func decode(from decoder: ValueDecoder) throws -> Any
}

extension Dictionary: StringKeyedDictionary where Key == String, Value: Decodable {
    fileprivate static func decode(from decoder: ValueDecoder) throws -> Any {
        _ = try decoder.keyedContainer(JSONCodingKey.self)
        var dictionary: [String: Value] = [:]
        for member in decoder.value.members {
            let key = member.key
            if dictionary[key] != nil { continue }
            dictionary[key] = try decoder.unwrap(Value.self, member.value, JSONCodingKey(key))
        }
        return dictionary
    }
}
