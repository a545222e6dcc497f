import Foundation

extension Parameters {
    /// Encodes the stored properties of a value as parameters, with its `Encodable` conformance.
    ///
    /// A property that is `nil` is omitted, as synthesised conformances do. Dates, decimals, bytes and URLs remain
    /// typed values. A `Set` or `Dictionary` is sorted, so that equal values become equal parameters. For this, a
    /// custom `encode(to:)` must pass such a value to a container instead of calling its `encode(to:)`.
    ///
    /// - Throws: The errors of the value's own `encode(to:)`; an error if the value is nested too deeply or does not
    ///   encode names and values.
    public init(encoding value: some Encodable) throws {
        try self.init { node throws in try node.encodeByItself(value, codingPath: []) }
    }

    /// Encodes the stored properties of an endpoint. Every call runs this code, so it skips the checks for special
    /// types.
    init(of endpoint: some Endpoint) throws {
        try self.init { node throws in
            try endpoint.encode(to: ParameterEncoder(node: node, codingPath: []))
        }
    }

    private init(_ encode: (ParameterNode) throws -> Void) throws {
        let node = ParameterNode(depth: 0)
        try encode(node)
        switch node.shape {
        case nil: self.init()
        case .object: self.init(node.members)
        case .array, .value: throw UnencodableParameter.withoutNames
        }
    }
}

/// A node in the tree that an encoding builds. The containers that write into the node share it.
///
/// Most parameters are single values. They are stored in the list of their object or array, and have no node. Every
/// access starts and ends within one method, so no run-time exclusivity check is needed.
private final class ParameterNode {
    enum Shape { case object, array, value }

    let depth: Int
    /// The kind of the node; `nil` until something is encoded.
    @exclusivity(unchecked) private(set) var shape: Shape?
    @exclusivity(unchecked) private var single = ParameterValue.null
    /// The members of an object, or the elements of an array. Elements have empty names.
    @exclusivity(unchecked) private var entries: [Parameters.Entry] = []
    /// The child nodes, each with the index of its value, in order.
    @exclusivity(unchecked) private var nested: [(place: Int, node: ParameterNode)] = []

    init(depth: Int) { self.depth = depth }

    /// The encoded value; `nil` if nothing was encoded.
    var value: ParameterValue? {
        switch shape {
        case nil: nil
        case .value: single
        case .array: .array(filled(keepingEmpty: true).map(\.value))
        case .object: .object(Parameters(members))
        }
    }

    /// The members of an object.
    var members: [Parameters.Entry] { nested.isEmpty ? entries : filled(keepingEmpty: false) }

    /// Returns the members or elements, with the values of their nodes. If nothing was encoded into a node, a member is
    /// omitted, and an element becomes an empty object.
    private func filled(keepingEmpty: Bool) -> [Parameters.Entry] {
        var filled = entries
        for (place, node) in nested.reversed() {
            if let value = node.value {
                filled[place].value = value
            } else if keepingEmpty {
                filled[place].value = .object([:])
            } else {
                filled.remove(at: place)
            }
        }
        return filled
    }

    /// The number of elements that were added to an array.
    var count: Int { shape == .array ? entries.count : 0 }

    /// Makes this node an object or an array, unless it already has a kind.
    func begin(_ shape: Shape) {
        guard self.shape == nil else { return }
        self.shape = shape
    }

    func set(_ value: ParameterValue) {
        clear(.value)
        single = value
    }

    /// Adds a single value as a member or an element.
    func add(_ value: ParameterValue, named name: String, to shape: Shape) {
        if self.shape != shape { clear(shape) }
        // The capacity suffices for the parameters of most calls, so the array grows only once.
        if entries.isEmpty { entries.reserveCapacity(4) }
        entries.append(Parameters.Entry(name, value))
    }

    /// Adds a member or an element whose value is encoded into the returned node.
    func addNode(named name: String, to shape: Shape) -> ParameterNode {
        let node = ParameterNode(depth: depth + 1)
        add(.null, named: name, to: shape)
        nested.append((entries.count - 1, node))
        return node
    }

    func member(_ name: String) -> ParameterNode { addNode(named: name, to: .object) }
    func element() -> ParameterNode { addNode(named: "", to: .array) }

    private func clear(_ shape: Shape) {
        self.shape = shape
        entries = []
        nested = []
    }

    /// Encodes a value of a known type directly, and any other value with its own `encode(to:)`.
    func encode(_ value: some Encodable, codingPath: [any CodingKey]) throws {
        // A value may contain itself, or a chain of any length. Without a limit, encoding it would overflow the stack.
        guard depth <= UnencodableParameter.maximumDepth + 1 else {
            throw UnencodableParameter.tooDeep(codingPath.map(\.stringValue).joined(separator: "."))
        }
        switch value {
        case let date as Date: set(.date(date))
        case let decimal as Decimal: set(.decimal(decimal))
        case let data as Data: set(.bytes(Array(data)))
        case let url as URL: set(.string(url.absoluteString))
        case let parameter as ParameterValue: set(parameter)
        case is any UnencodedParameter: break
        default: try encodeByItself(value, codingPath: codingPath)
        }
    }

    /// Encodes a value with its own `encode(to:)`, and sorts unordered collections.
    func encodeByItself(_ value: some Encodable, codingPath: [any CodingKey]) throws {
        try value.encode(to: ParameterEncoder(node: self, codingPath: codingPath))
        if let collection = value as? any UnorderedCollection { sort(groupsOf: type(of: collection).groupSize) }
    }

    /// Sorts members by name, and elements by their encoded bytes. Groups of `size` elements stay together.
    private func sort(groupsOf size: Int) {
        switch shape {
        case nil, .value: return
        case .object:
            entries = members.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        case .array:
            let elements = filled(keepingEmpty: true)
            let groups = stride(from: 0, to: elements.count, by: size).map { start in
                let group = elements[start..<min(start + size, elements.count)]
                return (bytes: group.map(\.value.canonicalBytes), elements: group)
            }
            let sorted = groups.sorted { one, other in
                one.bytes.lexicographicallyPrecedes(other.bytes) { $0.lexicographicallyPrecedes($1) }
            }
            entries = sorted.flatMap(\.elements)
        }
        nested = []
    }

    func write(_ value: some BinaryInteger) {
        set(Int64(exactly: value).map(ParameterValue.integer) ?? .unsigned(UInt64(truncatingIfNeeded: value)))
    }
}

/// A collection without a defined order. Its iteration order differs between processes.
private protocol UnorderedCollection {
    /// The number of consecutive elements in the encoded array that belong together.
    static var groupSize: Int { get }
}

extension Dictionary: UnorderedCollection where Key: Encodable, Value: Encodable {
    /// Keys that are texts or integers become member names. With other keys, the encoded array contains each key
    /// followed by its value.
    fileprivate static var groupSize: Int { 2 }
}

extension Set: UnorderedCollection where Element: Encodable {
    fileprivate static var groupSize: Int { 1 }
}

private struct ParameterEncoder: Encoder {
    let node: ParameterNode
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        node.begin(.object)
        return KeyedEncodingContainer(KeyedParameters<Key>(node: node, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        node.begin(.array)
        return ParameterElements(node: node, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        SingleParameter(node: node, codingPath: codingPath)
    }
}

private struct KeyedParameters<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: ParameterNode
    let codingPath: [any CodingKey]

    private func write(_ value: ParameterValue, _ key: Key) { node.add(value, named: key.stringValue, to: .object) }

    func encodeNil(forKey key: Key) { write(.null, key) }
    func encode(_ value: Bool, forKey key: Key) { write(.bool(value), key) }
    func encode(_ value: String, forKey key: Key) { write(.string(value), key) }
    func encode(_ value: Double, forKey key: Key) { write(.double(value), key) }
    func encode(_ value: Float, forKey key: Key) { write(.double(value.asWritten), key) }
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

    var count: Int { node.count }

    func encodeNil() { node.add(.null, named: "", to: .array) }
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

    func encodeNil() { node.set(.null) }
    func encode(_ value: Bool) { node.set(.bool(value)) }
    func encode(_ value: String) { node.set(.string(value)) }
    func encode(_ value: Double) { node.set(.double(value)) }
    func encode(_ value: Float) { node.set(.double(value.asWritten)) }
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

extension Float {
    /// The number that the value's shortest text denotes. For the `Float` 0.1 this is 0.1; a plain conversion would
    /// return 0.10000000149011612.
    fileprivate var asWritten: Double { Double("\(self)") ?? Double(self) }
}
