/// The members of an object by coding key. If a key occurs twice, the first member counts.
struct KeyedValueContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: ValueDecoder

    var codingPath: [any CodingKey] { decoder.codingPath }

    var allKeys: [Key] {
        if !decoder.context.usesDefaultKeys { return decoder.convertedMembers.keys.compactMap(Key.init(stringValue:)) }
        var seen: Set<String> = []
        return decoder.value.members.map(\.key).filter { seen.insert($0).inserted }.compactMap(Key.init(stringValue:))
    }

    func contains(_ key: Key) -> Bool { find(key) >= 0 }

    /// Returns the index of a member's value, or -1 if the member is absent.
    @inline(__always)
    private func find(_ key: some CodingKey) -> Int { decoder.member(key.stringValue) }

    @inline(__always)
    private func index(_ key: Key) throws -> Int {
        let index = find(key)
        if index >= 0 { return index }
        throw DecodingError.keyNotFound(
            key, decoder.context("No value associated with key \(key) (\"\(key.stringValue)\")."))
    }

    /// Returns the index of a member's value, or -1 if the member is absent or its value is `null`.
    @inline(__always)
    private func optional(_ key: Key) -> Int {
        let index = find(key)
        return index < 0 || decoder.storage.kind(at: index) == .null ? -1 : index
    }

    func decodeNil(forKey key: Key) throws -> Bool { decoder.storage.kind(at: try index(key)) == .null }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
        let index = try index(key)
        if let value = decoder.storage.bool(at: index) as Bool? { return value }
        return try decoder.below(key, at: index).bool()
    }

    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        let index = try index(key)
        if let value = decoder.storage.string(at: index) as String? { return value }
        return try decoder.below(key, at: index).string()
    }

    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        let index = try index(key)
        if let value = decoder.storage.double(at: index) as Double? { return value }
        return try decoder.below(key, at: index).double()
    }

    func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
        let index = try index(key)
        if let value = decoder.storage.float(at: index) as Float? { return value }
        return try decoder.below(key, at: index).float()
    }

    func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
        let index = try index(key)
        if let value = decoder.storage.integer(at: index) as Int? { return value }
        return try decoder.below(key, at: index).integer()
    }

    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
        let index = try index(key)
        if let value = decoder.storage.integer(at: index) as Int8? { return value }
        return try decoder.below(key, at: index).integer()
    }

    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
        let index = try index(key)
        if let value = decoder.storage.integer(at: index) as Int16? { return value }
        return try decoder.below(key, at: index).integer()
    }

    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
        let index = try index(key)
        if let value = decoder.storage.integer(at: index) as Int32? { return value }
        return try decoder.below(key, at: index).integer()
    }

    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
        let index = try index(key)
        if let value = decoder.storage.integer(at: index) as Int64? { return value }
        return try decoder.below(key, at: index).integer()
    }

    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
        let index = try index(key)
        if let value = decoder.storage.integer(at: index) as UInt? { return value }
        return try decoder.below(key, at: index).integer()
    }

    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
        let index = try index(key)
        if let value = decoder.storage.integer(at: index) as UInt8? { return value }
        return try decoder.below(key, at: index).integer()
    }

    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
        let index = try index(key)
        if let value = decoder.storage.integer(at: index) as UInt16? { return value }
        return try decoder.below(key, at: index).integer()
    }

    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
        let index = try index(key)
        if let value = decoder.storage.integer(at: index) as UInt32? { return value }
        return try decoder.below(key, at: index).integer()
    }

    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
        let index = try index(key)
        if let value = decoder.storage.integer(at: index) as UInt64? { return value }
        return try decoder.below(key, at: index).integer()
    }

    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 {
        let index = try index(key)
        if let value = decoder.storage.integer(at: index) as Int128? { return value }
        return try decoder.below(key, at: index).integer()
    }

    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 {
        let index = try index(key)
        if let value = decoder.storage.integer(at: index) as UInt128? { return value }
        return try decoder.below(key, at: index).integer()
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try decoder.unwrap(type, decoder.context.way(type), at: index(key), by: key)
    }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        let index = optional(key)
        if index < 0 { return nil }
        return try decoder.storage.bool(at: index) ?? decoder.below(key, at: index).bool()
    }

    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        let index = optional(key)
        if index < 0 { return nil }
        return try decoder.storage.string(at: index) ?? decoder.below(key, at: index).string()
    }

    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        let index = optional(key)
        if index < 0 { return nil }
        return try decoder.storage.double(at: index) ?? decoder.below(key, at: index).double()
    }

    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
        let index = optional(key)
        if index < 0 { return nil }
        return try decoder.storage.float(at: index) ?? decoder.below(key, at: index).float()
    }

    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        let index = optional(key)
        if index < 0 { return nil }
        return try decoder.storage.integer(at: index) ?? decoder.below(key, at: index).integer()
    }

    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
        let index = optional(key)
        if index < 0 { return nil }
        return try decoder.storage.integer(at: index) ?? decoder.below(key, at: index).integer()
    }

    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
        let index = optional(key)
        if index < 0 { return nil }
        return try decoder.storage.integer(at: index) ?? decoder.below(key, at: index).integer()
    }

    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
        let index = optional(key)
        if index < 0 { return nil }
        return try decoder.storage.integer(at: index) ?? decoder.below(key, at: index).integer()
    }

    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        let index = optional(key)
        if index < 0 { return nil }
        return try decoder.storage.integer(at: index) ?? decoder.below(key, at: index).integer()
    }

    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
        let index = optional(key)
        if index < 0 { return nil }
        return try decoder.storage.integer(at: index) ?? decoder.below(key, at: index).integer()
    }

    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
        let index = optional(key)
        if index < 0 { return nil }
        return try decoder.storage.integer(at: index) ?? decoder.below(key, at: index).integer()
    }

    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
        let index = optional(key)
        if index < 0 { return nil }
        return try decoder.storage.integer(at: index) ?? decoder.below(key, at: index).integer()
    }

    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
        let index = optional(key)
        if index < 0 { return nil }
        return try decoder.storage.integer(at: index) ?? decoder.below(key, at: index).integer()
    }

    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
        let index = optional(key)
        if index < 0 { return nil }
        return try decoder.storage.integer(at: index) ?? decoder.below(key, at: index).integer()
    }

    func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? {
        let index = optional(key)
        if index < 0 { return nil }
        return try decoder.storage.integer(at: index) ?? decoder.below(key, at: index).integer()
    }

    func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? {
        let index = optional(key)
        if index < 0 { return nil }
        return try decoder.storage.integer(at: index) ?? decoder.below(key, at: index).integer()
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        let index = optional(key)
        return index < 0 ? nil : try decoder.unwrap(type, decoder.context.way(type), at: index, by: key)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try decoder.below(key, at: index(key)).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoder.below(key, at: index(key)).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        decoder.below(JSONCodingKey.super, at: find(JSONCodingKey.super))
    }

    func superDecoder(forKey key: Key) throws -> any Decoder { decoder.below(key, at: find(key)) }
}
