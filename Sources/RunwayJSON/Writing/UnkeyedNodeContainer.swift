/// The elements of an array as they are encoded, one after another.
struct UnkeyedNodeContainer: UnkeyedEncodingContainer {
    let encoder: NodeEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    var count: Int { if case .array(let elements) = encoder.node.content { elements.count } else { 0 } }

    /// Appends an element and returns its encoder.
    private func append() -> NodeEncoder {
        let node = EncodedNode()
        guard case .array(var elements) = encoder.node.content else { return encoder }
        // The elements are taken out while one is appended, so that they are not copied.
        encoder.node.content = .unset
        elements.append(node)
        encoder.node.content = .array(elements)
        return encoder.below(JSONCodingKey.index(elements.count - 1), node)
    }

    func encodeNil() { append().node.content = .literal("null") }
    func encode(_ value: Bool) { append().node.content = .literal(value ? "true" : "false") }
    func encode(_ value: String) { append().node.content = .string(value) }
    func encode(_ value: Double) throws { try append().encode(float: value) }
    func encode(_ value: Float) throws { try append().encode(float: value) }
    func encode(_ value: Int) { append().encode(integer: value) }
    func encode(_ value: Int8) { append().encode(integer: value) }
    func encode(_ value: Int16) { append().encode(integer: value) }
    func encode(_ value: Int32) { append().encode(integer: value) }
    func encode(_ value: Int64) { append().encode(integer: value) }
    func encode(_ value: UInt) { append().encode(integer: value) }
    func encode(_ value: UInt8) { append().encode(integer: value) }
    func encode(_ value: UInt16) { append().encode(integer: value) }
    func encode(_ value: UInt32) { append().encode(integer: value) }
    func encode(_ value: UInt64) { append().encode(integer: value) }
    func encode(_ value: Int128) { append().encode(integer: value) }
    func encode(_ value: UInt128) { append().encode(integer: value) }
    func encode<T: Encodable>(_ value: T) throws { try append().encode(value) }

    func nestedContainer<NestedKey: CodingKey>(keyedBy type: NestedKey.Type) -> KeyedEncodingContainer<NestedKey> {
        append().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { append().unkeyedContainer() }

    func superEncoder() -> any Encoder { append() }
}
