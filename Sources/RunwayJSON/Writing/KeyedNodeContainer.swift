/// The members of an object as they are encoded.
struct KeyedNodeContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: NodeEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    /// Adds a member, or finds the container that it has already, and returns its encoder.
    private func member(_ key: any CodingKey, reusing isReused: Bool = false) -> NodeEncoder {
        let name = encoder.name(of: key)
        guard case .object(var members) = encoder.node.content else { return encoder }
        if isReused, let node = members[name] { return encoder.below(key, node) }
        // The members are taken out while one is added, so that they are not copied.
        encoder.node.content = .unset
        let node = EncodedNode()
        members.set(name, node)
        encoder.node.content = .object(members)
        return encoder.below(key, node)
    }

    func encodeNil(forKey key: Key) { member(key).node.content = .literal("null") }
    func encode(_ value: Bool, forKey key: Key) { member(key).node.content = .literal(value ? "true" : "false") }
    func encode(_ value: String, forKey key: Key) { member(key).node.content = .string(value) }
    func encode(_ value: Double, forKey key: Key) throws { try member(key).encode(float: value) }
    func encode(_ value: Float, forKey key: Key) throws { try member(key).encode(float: value) }
    func encode(_ value: Int, forKey key: Key) { member(key).encode(integer: value) }
    func encode(_ value: Int8, forKey key: Key) { member(key).encode(integer: value) }
    func encode(_ value: Int16, forKey key: Key) { member(key).encode(integer: value) }
    func encode(_ value: Int32, forKey key: Key) { member(key).encode(integer: value) }
    func encode(_ value: Int64, forKey key: Key) { member(key).encode(integer: value) }
    func encode(_ value: UInt, forKey key: Key) { member(key).encode(integer: value) }
    func encode(_ value: UInt8, forKey key: Key) { member(key).encode(integer: value) }
    func encode(_ value: UInt16, forKey key: Key) { member(key).encode(integer: value) }
    func encode(_ value: UInt32, forKey key: Key) { member(key).encode(integer: value) }
    func encode(_ value: UInt64, forKey key: Key) { member(key).encode(integer: value) }
    func encode(_ value: Int128, forKey key: Key) { member(key).encode(integer: value) }
    func encode(_ value: UInt128, forKey key: Key) { member(key).encode(integer: value) }
    func encode<T: Encodable>(_ value: T, forKey key: Key) throws { try member(key).encode(value) }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        member(key, reusing: true).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        member(key, reusing: true).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { member(JSONCodingKey.super) }

    func superEncoder(forKey key: Key) -> any Encoder { member(key) }
}
