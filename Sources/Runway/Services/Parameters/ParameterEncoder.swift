import Foundation

extension Parameters {
    /// The stored properties of a value as parameters, by its `Encodable` conformance.
    ///
    /// A property that is `nil` is left out, as synthesised conformances do. Dates, decimals, bytes and URLs keep their meaning.
    ///
    /// - Throws: What the value's own `encode(to:)` throws, ``UnencodableParameter`` where it is nested too deeply, and
    ///   `EncodingError` where it does not encode names and values.
    public init(encoding value: some Encodable) throws {
        let node = ParameterNode(depth: 0)
        try value.encode(to: ParameterEncoder(node: node, codingPath: []))
        switch node.value {
        case nil: self.init()
        case .object(let parameters): self = parameters
        default:
            throw EncodingError.invalidValue(
                value,
                .init(codingPath: [], debugDescription: "The parameters of a call have names; this value has none."))
        }
    }
}

/// A place in the tree that an encoding fills, shared by the containers that write into it.
private final class ParameterNode {
    enum Content {
        case object([(name: String, node: ParameterNode)])
        case array([ParameterNode])
        case value(ParameterValue)
    }

    let depth: Int
    var content: Content?

    init(depth: Int) { self.depth = depth }

    /// What was encoded; `nil` if nothing was.
    var value: ParameterValue? {
        switch content {
        case nil: nil
        case .value(let value): value
        case .array(let nodes): .array(nodes.map { $0.value ?? .object([:]) })
        case .object(let members):
            .object(Parameters(members.compactMap { name, node in node.value.map { Parameters.Entry(name, $0) } }))
        }
    }

    func member(_ name: String) -> ParameterNode {
        let node = ParameterNode(depth: depth + 1)
        if case .object(var members) = content {
            content = nil
            members.append((name, node))
            content = .object(members)
        } else {
            content = .object([(name, node)])
        }
        return node
    }

    func element() -> ParameterNode {
        let node = ParameterNode(depth: depth + 1)
        if case .array(var nodes) = content {
            content = nil
            nodes.append(node)
            content = .array(nodes)
        } else {
            content = .array([node])
        }
        return node
    }

    /// Writes a value whose type Runway knows, or lets it encode itself.
    func encode(_ value: some Encodable, codingPath: [any CodingKey]) throws {
        // A value may refer to itself, or to a chain as long as its data; an encoding without bound would exhaust the stack.
        guard depth <= UnencodableParameter.maximumDepth + 1 else {
            throw UnencodableParameter.tooDeep(codingPath.map(\.stringValue).joined(separator: "."))
        }
        switch value {
        case let date as Date: content = .value(.date(date))
        case let decimal as Decimal: content = .value(.decimal(decimal))
        case let data as Data: content = .value(.bytes(Array(data)))
        case let url as URL: content = .value(.string(url.absoluteString))
        case let parameter as ParameterValue: content = .value(parameter)
        case is any UnencodedParameter: break
        default: try value.encode(to: ParameterEncoder(node: self, codingPath: codingPath))
        }
    }

    func write(_ value: some BinaryInteger) {
        content = .value(
            Int64(exactly: value).map(ParameterValue.integer) ?? .unsigned(UInt64(truncatingIfNeeded: value)))
    }
}

private struct ParameterEncoder: Encoder {
    let node: ParameterNode
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        if node.content == nil { node.content = .object([]) }
        return KeyedEncodingContainer(KeyedParameters<Key>(node: node, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if node.content == nil { node.content = .array([]) }
        return ParameterElements(node: node, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        SingleParameter(node: node, codingPath: codingPath)
    }
}

private struct KeyedParameters<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: ParameterNode
    let codingPath: [any CodingKey]

    private func write(_ value: ParameterValue, _ key: Key) { node.member(key.stringValue).content = .value(value) }

    func encodeNil(forKey key: Key) { write(.null, key) }
    func encode(_ value: Bool, forKey key: Key) { write(.bool(value), key) }
    func encode(_ value: String, forKey key: Key) { write(.string(value), key) }
    func encode(_ value: Double, forKey key: Key) { write(.double(value), key) }
    func encode(_ value: Float, forKey key: Key) { write(.double(Double(value)), key) }
    func encode(_ value: Int, forKey key: Key) { write(.integer(Int64(value)), key) }
    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        try node.member(key.stringValue).encode(value, codingPath: codingPath + [key])
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        nested(key).container(keyedBy: type)
    }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { nested(key).unkeyedContainer() }
    func superEncoder() -> any Encoder { ParameterEncoder(node: node.member("super"), codingPath: codingPath) }
    func superEncoder(forKey key: Key) -> any Encoder { nested(key) }

    private func nested(_ key: Key) -> ParameterEncoder {
        ParameterEncoder(node: node.member(key.stringValue), codingPath: codingPath + [key])
    }
}

private struct ParameterElements: UnkeyedEncodingContainer {
    let node: ParameterNode
    let codingPath: [any CodingKey]

    var count: Int { if case .array(let nodes) = node.content { nodes.count } else { 0 } }

    func encodeNil() { node.element().content = .value(.null) }
    func encode(_ value: some Encodable) throws { try node.element().encode(value, codingPath: codingPath) }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        nested().container(keyedBy: type)
    }
    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { nested().unkeyedContainer() }
    func superEncoder() -> any Encoder { nested() }

    private func nested() -> ParameterEncoder { ParameterEncoder(node: node.element(), codingPath: codingPath) }
}

private struct SingleParameter: SingleValueEncodingContainer {
    let node: ParameterNode
    let codingPath: [any CodingKey]

    func encodeNil() { node.content = .value(.null) }
    func encode(_ value: Bool) { node.content = .value(.bool(value)) }
    func encode(_ value: String) { node.content = .value(.string(value)) }
    func encode(_ value: Double) { node.content = .value(.double(value)) }
    func encode(_ value: Float) { node.content = .value(.double(Double(value))) }
    func encode(_ value: Int) { node.write(value) }
    func encode(_ value: Int8) { node.write(value) }
    func encode(_ value: Int16) { node.write(value) }
    func encode(_ value: Int32) { node.write(value) }
    func encode(_ value: Int64) { node.write(value) }
    func encode(_ value: UInt) { node.write(value) }
    func encode(_ value: UInt8) { node.write(value) }
    func encode(_ value: UInt16) { node.write(value) }
    func encode(_ value: UInt32) { node.write(value) }
    func encode(_ value: UInt64) { node.write(value) }
    func encode(_ value: some Encodable) throws { try node.encode(value, codingPath: codingPath) }
}
