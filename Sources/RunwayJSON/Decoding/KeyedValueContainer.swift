/// The members of an object by coding keys; of members with the same key the first counts.
struct KeyedValueContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let decoder: ValueDecoder
    /// The members by converted names; nil where names are used as they are.
    private let converted: [String: JSONValue]?

    init(decoder: ValueDecoder) {
        self.decoder = decoder
        if case .useDefaultKeys = decoder.context.strategies.keyDecodingStrategy {
            converted = nil
        } else {
            converted = Dictionary(
                decoder.value.members.map { (decoder.context.key(for: $0.key, in: decoder.path), $0.value) },
                uniquingKeysWith: { first, _ in first })
        }
    }

    var codingPath: [any CodingKey] { decoder.codingPath }

    var allKeys: [Key] {
        if let converted { return converted.keys.compactMap(Key.init(stringValue:)) }
        var seen: Set<String> = []
        return decoder.value.members.map(\.key).filter { seen.insert($0).inserted }.compactMap(Key.init(stringValue:))
    }

    func contains(_ key: Key) -> Bool { find(key.stringValue) != nil }

    private func find(_ name: String) -> JSONValue? {
        if let converted { return converted[name] }
        return decoder.value.member(named: name)
    }

    private func value(_ key: Key) throws -> JSONValue {
        if let value = find(key.stringValue) { return value }
        throw DecodingError.keyNotFound(
            key,
            DecodingError.Context(
                codingPath: codingPath,
                debugDescription: "No value associated with key \(key) (\"\(key.stringValue)\")."))
    }

    /// The value, or nil where nothing or a `null` is.
    private func optional(_ key: Key) -> JSONValue? {
        guard let value = find(key.stringValue), !value.isNull else { return nil }
        return value
    }

    private func optional<T>(_ key: Key, _ read: (JSONValue, (any CodingKey)?) throws -> T) throws -> T? {
        guard let value = optional(key) else { return nil }
        return try read(value, key)
    }

    func decodeNil(forKey key: Key) throws -> Bool { try value(key).isNull }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try decoder.bool(value(key), key) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try decoder.string(value(key), key) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try decoder.double(value(key), key) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try decoder.float(value(key), key) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try decoder.integer(value(key), key) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try decoder.integer(value(key), key) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try decoder.integer(value(key), key) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try decoder.integer(value(key), key) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try decoder.integer(value(key), key) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try decoder.integer(value(key), key) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try decoder.integer(value(key), key) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try decoder.integer(value(key), key) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try decoder.integer(value(key), key) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try decoder.integer(value(key), key) }
    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try decoder.unwrap(type, value(key), key)
    }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try optional(key, decoder.bool) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try optional(key, decoder.string) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try optional(key, decoder.double) }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try optional(key, decoder.float) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try optional(key, decoder.integer) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try optional(key, decoder.integer) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try optional(key, decoder.integer) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try optional(key, decoder.integer) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try optional(key, decoder.integer) }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try optional(key, decoder.integer) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try optional(key, decoder.integer) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try optional(key, decoder.integer) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try optional(key, decoder.integer) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try optional(key, decoder.integer) }
    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        guard let value = optional(key) else { return nil }
        return try decoder.unwrap(type, value, key)
    }

    private func nested(_ key: any CodingKey, _ value: JSONValue) -> ValueDecoder {
        ValueDecoder(value: value, context: decoder.context, path: CodingPathNode(parent: decoder.path, key: key))
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try nested(key, value(key)).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try nested(key, value(key)).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        let key = JSONCodingKey.super
        return nested(key, find(key.stringValue) ?? decoder.value[key.stringValue])
    }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        nested(key, find(key.stringValue) ?? decoder.value[key.stringValue])
    }
}
