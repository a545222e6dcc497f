/// A collection without an order: its iteration order differs from process to process.
protocol UnorderedCollection {
    /// Encodes the collection by its type's own rules, and then sorts the result.
    func encodeInOrder(to encoder: NodeEncoder) throws
}

extension Dictionary: UnorderedCollection where Key: Encodable, Value: Encodable {
    func encodeInOrder(to encoder: NodeEncoder) throws {
        guard Key.self == String.self else {
            // Keys that are text or integers become names; for all others keys and values alternate in an array.
            try encode(to: encoder)
            return encoder.node.sort(groupsOf: 2, sortingKeys: encoder.strategies.sortsKeys)
        }
        // Strings as keys are data: no key strategy changes them.
        var members = EncodedNode.Members()
        for (key, value) in self {
            let name = sameType(key, as: String.self)
            let node = EncodedNode()
            try encoder.below(JSONCodingKey.name(name), node).encode(value)
            members.set(name, node)
        }
        members.sort()
        encoder.node.content = .object(members)
    }
}

extension Set: UnorderedCollection where Element: Encodable {
    func encodeInOrder(to encoder: NodeEncoder) throws {
        try encode(to: encoder)
        encoder.node.sort(groupsOf: 1, sortingKeys: encoder.strategies.sortsKeys)
    }
}

extension EncodedNode {
    /// Sorts members by name, and elements by their encoded bytes, in groups of `size` that stay together.
    fileprivate func sort(groupsOf size: Int, sortingKeys: Bool) {
        switch content {
        case .object(var members):
            members.sort()
            content = .object(members)
        case .array(let elements):
            let groups = stride(from: 0, to: elements.count, by: size).map { start in
                let nodes = elements[start..<min(start + size, elements.count)]
                return (bytes: nodes.map { $0.bytes(sortingKeys: sortingKeys) }, nodes: nodes)
            }
            let sorted = groups.sorted { one, other in
                one.bytes.lexicographicallyPrecedes(other.bytes) { $0.lexicographicallyPrecedes($1) }
            }
            content = .array(sorted.flatMap(\.nodes))
        case .unset, .literal, .string: break
        }
    }

    private func bytes(sortingKeys: Bool) -> [UInt8] {
        var writer = JSONWriter(sortsKeys: sortingKeys)
        write(to: &writer)
        return writer.bytes
    }
}
