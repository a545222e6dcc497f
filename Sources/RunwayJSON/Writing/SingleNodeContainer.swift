/// The value of an encoder, on its own.
struct SingleNodeContainer: SingleValueEncodingContainer {
    let encoder: NodeEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil() { encoder.node.content = .literal("null") }
    func encode(_ value: Bool) { encoder.node.content = .literal(value ? "true" : "false") }
    func encode(_ value: String) { encoder.node.content = .string(value) }
    func encode(_ value: Double) throws { try encoder.encode(float: value) }
    func encode(_ value: Float) throws { try encoder.encode(float: value) }
    func encode(_ value: Int) { encoder.encode(integer: value) }
    func encode(_ value: Int8) { encoder.encode(integer: value) }
    func encode(_ value: Int16) { encoder.encode(integer: value) }
    func encode(_ value: Int32) { encoder.encode(integer: value) }
    func encode(_ value: Int64) { encoder.encode(integer: value) }
    func encode(_ value: UInt) { encoder.encode(integer: value) }
    func encode(_ value: UInt8) { encoder.encode(integer: value) }
    func encode(_ value: UInt16) { encoder.encode(integer: value) }
    func encode(_ value: UInt32) { encoder.encode(integer: value) }
    func encode(_ value: UInt64) { encoder.encode(integer: value) }
    func encode(_ value: Int128) { encoder.encode(integer: value) }
    func encode(_ value: UInt128) { encoder.encode(integer: value) }
    func encode<T: Encodable>(_ value: T) throws { try encoder.encode(value) }
}
