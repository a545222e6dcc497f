import RunwayJSON
import Synchronization

/// The children of a node. Those of a list or a pager are made when they are read.
public struct ViewChildren: RandomAccessCollection, Sendable {
    enum Storage: Sendable {
        case nodes(MadeChildren)
        case rows(LazyRows)
    }

    let storage: Storage

    static let none = ViewChildren(storage: .nodes(MadeChildren()))

    /// 0.
    public var startIndex: Int { 0 }

    /// The number of children.
    public var endIndex: Int {
        switch storage {
        case .nodes(let made): made.nodes.count
        case .rows(let rows): rows.entries.count
        }
    }

    /// The child at an index. Of a list or a pager it is made now, unless it was read lately.
    public subscript(index: Int) -> ViewNode {
        switch storage {
        case .nodes(let made): made.nodes[index]
        case .rows(let rows): rows.node(at: index)
        }
    }

    /// Returns the key of the child at an index, without making the child.
    public func key(at index: Int) -> String {
        switch storage {
        case .nodes(let made): made.nodes[index].key
        case .rows(let rows): rows.entries[index].key
        }
    }

    func node(key: String) -> ViewNode? { indices.first { self.key(at: $0) == key }.map { self[$0] } }

    var rows: LazyRows? { if case .rows(let rows) = storage { rows } else { nil } }
}

/// The children of a box, with what is needed to take them over into the next tree.
struct MadeChildren: Sendable {
    /// How a repeated child was made.
    struct Origin: Sendable {
        let element: JSONValue
        let usage: Resolver.Usage
    }

    var nodes: [ViewNode] = []
    /// One for each node; `nil` for one that is not repeated.
    var origins: [Origin?] = []
    /// The scope of the box; `nil` if it has no children.
    var scope: Scope?
}

/// A child before it is made: a node of the document, and an element if the node is repeated.
struct Entry: Sendable {
    let part: Part
    let key: String
    let element: JSONValue?
}

/// Decides whether a repeated node is the same in two trees, without making it.
struct RowComparison {
    let former: Scope
    let present: Scope
    private var isOutsideSame: [ObjectIdentifier: Bool] = [:]

    init(former: Scope, present: Scope) { (self.former, self.present) = (former, present) }

    /// Returns whether an element and all other values that the node shows are unchanged.
    mutating func isUnchanged(_ part: Part, _ element: JSONValue?, since formerElement: JSONValue?) -> Bool {
        guard let repetition = part.repetition, let element, let formerElement,
            Datum.json(element).isSame(as: .json(formerElement))
        else { return false }
        let id = ObjectIdentifier(part)
        if let known = isOutsideSame[id] { return known }
        let isSame = former.isSame(as: present, for: repetition.outside)
        isOutsideSame[id] = isSame
        return isSame
    }
}

/// The rows of a list, each made when it is read. The latest ones that were read are stored.
final class LazyRows: Sendable {
    let entries: [Entry]
    let scope: Scope
    private let limits: ViewLimits
    private struct Known {
        var nodes: [Int: ViewNode] = [:]
        /// Nodes of former rows that have changed, of which parts can be taken over.
        var former: [Int: ViewNode] = [:]
    }

    /// Guards the rows that were read, by index; at most ``maximumKnownCount``.
    private let known: Mutex<Known>

    static let maximumKnownCount = 512

    init(_ entries: [Entry], in scope: Scope, limits: ViewLimits, former: LazyRows?) {
        (self.entries, self.scope, self.limits) = (entries, scope, limits)
        var known = Known()
        if let former {
            var comparison = RowComparison(former: former.scope, present: scope)
            let nodes = former.known.withLock { $0.nodes }
            let indices = nodes.isEmpty ? [:] : Self.indices(of: entries, changedSince: former.entries)
            for (formerIndex, node) in nodes {
                let old = former.entries[formerIndex]
                let index = indices.isEmpty ? formerIndex : indices[old.key] ?? -1
                guard entries.indices.contains(index), entries[index].part === old.part else { continue }
                if comparison.isUnchanged(old.part, entries[index].element, since: old.element) {
                    known.nodes[index] = node
                } else {
                    known.former[index] = node
                }
            }
        }
        self.known = Mutex(known)
    }

    /// The indices of the keys; empty if both have the same keys in the same order.
    private static func indices(of entries: [Entry], changedSince former: [Entry]) -> [String: Int] {
        if entries.count == former.count, zip(entries, former).allSatisfy({ $0.key == $1.key }) { return [:] }
        return Dictionary(uniqueKeysWithValues: entries.indices.map { (entries[$0].key, $0) })
    }

    func node(at index: Int) -> ViewNode {
        let (made, former) = known.withLock { ($0.nodes[index], $0.former[index]) }
        if let made { return made }
        var resolver = Resolver(limits: limits, nodeLimit: limits.maximumRowNodeCount)
        let entry = entries[index]
        let node = resolver.node(entry, in: scope, former: former) ?? .empty(key: entry.key)
        known.withLock {
            if $0.nodes.count >= Self.maximumKnownCount { $0.nodes = [:] }
            $0.nodes[index] = node
            $0.former[index] = nil
        }
        return node
    }

    /// The row at an index, if it was read lately.
    func knownNode(at index: Int) -> ViewNode? { known.withLock { $0.nodes[index] } }
}
