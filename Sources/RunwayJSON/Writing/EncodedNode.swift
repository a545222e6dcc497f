/// A node of an encoded value. Containers can be filled in any order, so that the tree is written only when the value
/// is complete.
final class EncodedNode {
    enum Content {
        case unset
        case literal(String)
        case string(String)
        case array([EncodedNode])
        case object(Members)
    }

    /// Members in the order of their first encoding. A member that is encoded again keeps its position and gets the new
    /// value.
    struct Members {
        private(set) var names: [String] = []
        private(set) var nodes: [EncodedNode] = []
        private var places: [String: Int] = [:]

        subscript(name: String) -> EncodedNode? { places[name].map { nodes[$0] } }

        mutating func set(_ name: String, _ node: EncodedNode) {
            if let place = places[name] {
                nodes[place] = node
            } else {
                places[name] = nodes.count
                names.append(name)
                nodes.append(node)
            }
        }

        mutating func sort() {
            let order = names.indices.sorted { names[$0].utf8.lexicographicallyPrecedes(names[$1].utf8) }
            names = order.map { names[$0] }
            nodes = order.map { nodes[$0] }
            places = Dictionary(uniqueKeysWithValues: zip(names, nodes.indices))
        }
    }

    var content: Content

    init(_ content: Content = .unset) { self.content = content }

    /// Releases the descendants one by one: releasing a deep tree recursively would overflow the stack.
    deinit {
        var rest = takeNodes()
        while var node = rest.popLast() {
            if isKnownUniquelyReferenced(&node) { rest += node.takeNodes() }
        }
    }

    private func takeNodes() -> [EncodedNode] {
        defer { content = .unset }
        switch content {
        case .unset, .literal, .string: return []
        case .array(let elements): return elements
        case .object(let members): return members.nodes
        }
    }

    var isSet: Bool { if case .unset = content { false } else { true } }

    /// Writes the tree, without recursion. A container that was requested but never filled is an empty object, as in
    /// Foundation.
    func write(to writer: inout JSONWriter) {
        var open: [(node: EncodedNode, next: Int)] = []
        Self.begin(self, &writer, &open)
        while let (node, next) = open.last {
            open[open.count - 1].next += 1
            switch node.content {
            case .object(let members) where next < members.nodes.count:
                writer.name(members.names[next])
                Self.begin(members.nodes[next], &writer, &open)
            case .array(let elements) where next < elements.count:
                Self.begin(elements[next], &writer, &open)
            case .object:
                writer.endObject()
                open.removeLast()
            default:
                writer.endArray()
                open.removeLast()
            }
        }
    }

    private static func begin(
        _ node: EncodedNode, _ writer: inout JSONWriter, _ open: inout [(node: EncodedNode, next: Int)]
    ) {
        switch node.content {
        case .unset:
            writer.beginObject()
            writer.endObject()
        case .literal(let text): writer.literal(text)
        case .string(let text): writer.string(text)
        case .array:
            writer.beginArray()
            open.append((node, 0))
        case .object:
            writer.beginObject()
            open.append((node, 0))
        }
    }
}
