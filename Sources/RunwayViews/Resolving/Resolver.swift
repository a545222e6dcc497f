import RunwayJSON

/// Makes nodes of a document's nodes and data, as far as the limits allow.
struct Resolver {
    let limits: ViewLimits
    let nodeLimit: Int
    private var nodeCount = 0
    private var textLength = 0
    private(set) var isTruncated = false

    static let maximumKeyLength = 64

    init(limits: ViewLimits, nodeLimit: Int) { (self.limits, self.nodeLimit) = (limits, nodeLimit) }

    /// Makes a node; `nil` if its condition does not hold, if this version does not know it, or beyond the limit.
    ///
    /// - Parameter former: The node with the same key in the former tree, which is returned if nothing has changed.
    mutating func node(_ part: Part, key: String, in scope: Scope, former: ViewNode?) -> ViewNode? {
        guard visit() else { return nil }
        guard holds(part, in: scope), let kind = part.kind else {
            return part.fallback.flatMap { node($0, key: key, in: scope, former: former) }
        }
        if let use = part.use {
            let inner = Scope(data: scope.data, parameters: use.arguments.map { argument($0, in: scope) })
            return node(use.part, key: key, in: inner, former: former)
        }
        let former = former?.appearance.kind == kind ? former : nil
        let appearance = appearance(of: part, kind, in: scope)
        let children = children(of: part, kind, in: scope, former: former?.children)
        if let former, former.appearance == appearance, former.key == key,
            Self.isSame(former.children, children)
        {
            return former
        }
        return ViewNode(key: key, appearance: appearance, children: children)
    }

    /// Whether the children are the same objects. Rows are not compared: they have their own scope.
    private static func isSame(_ one: ViewChildren, _ other: ViewChildren) -> Bool {
        guard case .nodes(let one) = one.storage, case .nodes(let other) = other.storage else { return false }
        return one.nodes.count == other.nodes.count && zip(one.nodes, other.nodes).allSatisfy { $0 === $1 }
    }

    private mutating func visit() -> Bool {
        if nodeCount >= nodeLimit { isTruncated = true }
        nodeCount += 1
        return nodeCount <= nodeLimit
    }

    private func holds(_ part: Part, in scope: Scope) -> Bool {
        guard let condition = part.condition else { return true }
        return scope.value(of: condition).isTrue != part.conditionIsNegated
    }

    // MARK: Appearance

    private mutating func appearance(of part: Part, _ kind: NodeKind, in scope: Scope) -> ViewNode.Appearance {
        let content = part.content
        var appearance = ViewNode.Appearance(kind: kind)
        (appearance.layout, appearance.mode) = (content.layout, content.mode)
        (appearance.heading, appearance.name) = (content.heading, content.name)
        if kind == .toggle {
            appearance.isOn = content.text.map { scope.value(of: $0, upTo: 0).isTrue } ?? false
        } else {
            appearance.text = text(content.text, in: scope)
        }
        appearance.label = text(content.label, in: scope)
        appearance.placeholder = text(content.placeholder, in: scope)
        for (gesture, event) in content.events {
            appearance.events[gesture] = ViewEvent(name: event.name, detail: json(event.detail, in: scope))
        }
        if kind == .slot { appearance.parameters = parameters(content.parameters, in: scope) }
        appearance.settings = part.settings
        for (attribute, reference) in part.dynamicSettings {
            // A value that the attribute can't have leaves it absent.
            guard let value = attribute.row.form.read(scope.value(of: reference)) else { continue }
            appearance.settings.append(Setting(attribute: attribute, value: value))
        }
        return appearance
    }

    /// The maximum length of the next text.
    private var textRoom: Int { max(0, min(limits.maximumTextLength, limits.totalTextLength - textLength)) }

    /// The value of an argument. A text that is made for it is a text of the tree, whose nodes store it.
    private mutating func argument(_ template: Template, in scope: Scope) -> Datum {
        guard case .pieces = template else { return scope.value(of: template, upTo: 0) }
        return .text(text(template, in: scope))
    }

    private mutating func text(_ template: Template?, in scope: Scope) -> String {
        guard let template else { return "" }
        let length = textRoom
        let text = scope.value(of: template, upTo: length).text
        guard text.utf8.count > length else {
            textLength += text.utf8.count
            return text
        }
        isTruncated = true
        textLength += length
        return Self.prefix(text, length)
    }

    /// The start of a text, of at most so many bytes.
    static func prefix(_ text: String, _ length: Int) -> String {
        guard text.utf8.count > length else { return text }
        var end = text.utf8.index(text.startIndex, offsetBy: length)
        while end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
        return String(text[..<end])
    }

    /// The JSON text of a value; `null` if it is longer than a text may be.
    private mutating func json(_ template: Template?, in scope: Scope) -> ArraySlice<UInt8> {
        let (room, null) = (textRoom, ArraySlice("null".utf8))
        let json = template.map { scope.value(of: $0, upTo: room).json } ?? null
        guard json.count <= room else {
            isTruncated = true
            return null
        }
        textLength += json.count
        return json
    }

    private mutating func parameters(_ parameters: [(name: String, value: Template)], in scope: Scope) -> ArraySlice<
        UInt8
    > {
        var writer: [UInt8] = []
        for (name, value) in parameters {
            let start = (writer.isEmpty ? "{" : ",").utf8 + Datum.text(name).json + ":".utf8
            guard start.count <= limits.totalTextLength - textLength else {
                isTruncated = true
                break
            }
            textLength += start.count
            writer += start
            writer += json(value, in: scope)
        }
        return writer.isEmpty ? ArraySlice("{}".utf8) : (writer + "}".utf8)[...]
    }

    // MARK: Children

    private mutating func children(
        of part: Part, _ kind: NodeKind, in scope: Scope, former: ViewChildren?
    ) -> ViewChildren {
        switch kind {
        case .list, .pager:
            let entries = entries(of: part, in: scope, limit: limits.maximumRowCount)
            return ViewChildren(storage: .rows(LazyRows(entries, in: scope, limits: limits, former: former?.rows)))
        case .box:
            if part.children.isEmpty { return .none }
            let entries = entries(of: part, in: scope, limit: max(0, nodeLimit - nodeCount))
            return ViewChildren(storage: .nodes(made(entries, in: scope, former: former)))
        case .slot:
            // Shown where the app has no such slot.
            guard let fallback = part.fallback,
                let node = node(fallback, key: "else", in: scope, former: former?.first)
            else { return .none }
            return ViewChildren(storage: .nodes(MadeChildren(nodes: [node], origins: [nil])))
        case .text, .image, .input, .toggle, .spacer, .use: return .none
        }
    }

    private mutating func made(_ entries: [Entry], in scope: Scope, former: ViewChildren?) -> MadeChildren {
        var made = MadeChildren(scope: scope)
        made.nodes.reserveCapacity(entries.count)
        var before: FormerChildren?
        if let former, case .nodes(let children) = former.storage { before = FormerChildren(children, present: scope) }
        for (index, entry) in entries.enumerated() {
            let old = before?.index(of: entry.key, near: index)
            if let old, let origin = before?.unchanged(old, entry), nodeCount + origin.nodeCount <= nodeLimit,
                textLength + origin.textLength <= limits.totalTextLength
            {
                nodeCount += origin.nodeCount
                textLength += origin.textLength
                made.nodes.append(before?.children.nodes[old] ?? .empty(key: entry.key))
                made.origins.append(origin)
                continue
            }
            let start = (nodeCount, textLength, isTruncated)
            isTruncated = false
            if let node = node(entry, in: scope, former: old.flatMap { before?.children.nodes[$0] }) {
                made.nodes.append(node)
                // A node that was cut is made again in the next tree, where there may be more room.
                made.origins.append(
                    isTruncated
                        ? nil
                        : entry.element.map {
                            .init(element: $0, nodeCount: nodeCount - start.0, textLength: textLength - start.1)
                        })
            }
            isTruncated = isTruncated || start.2
        }
        return made
    }

    /// Makes the node of an entry, with its element in the scope.
    mutating func node(_ entry: Entry, in scope: Scope, former: ViewNode?) -> ViewNode? {
        guard let element = entry.element else { return node(entry.part, key: entry.key, in: scope, former: former) }
        var inner = scope
        inner.items.append(element)
        return node(entry.part, key: entry.key, in: inner, former: former)
    }

    /// Returns the children before they are made: without hidden ones, and with an entry for each repetition.
    private mutating func entries(of part: Part, in scope: Scope, limit: Int) -> [Entry] {
        var entries: [Entry] = []
        for (index, child) in part.children.enumerated() {
            let key = String(index)
            guard holds(child, in: scope) else {
                if let fallback = child.fallback { entries.append(Entry(part: fallback, key: key, element: nil)) }
                continue
            }
            guard let repetition = child.repetition else {
                entries.append(Entry(part: child, key: key, element: nil))
                continue
            }
            let elements = scope.value(of: repetition.elements).elements
            guard let elements, elements.count > 0 else {
                if let fallback = child.fallback { entries.append(Entry(part: fallback, key: key, element: nil)) }
                continue
            }
            let room = max(0, limit - entries.count)
            if elements.count > room { isTruncated = true }
            entries.reserveCapacity(entries.count + min(room, elements.count))
            var keys = RowKeys(prefix: key)
            for element in elements.prefix(room) {
                entries.append(
                    Entry(part: child, key: keys.next(of: element, by: repetition.key, in: scope), element: element))
            }
        }
        return entries
    }
}

/// The children of a box in the former tree.
private struct FormerChildren {
    let children: MadeChildren
    private var comparison: RowComparison?
    private var indices: [String: Int]?

    init(_ children: MadeChildren, present: Scope) {
        self.children = children
        comparison = children.scope.map { RowComparison(former: $0, present: present) }
    }

    mutating func index(of key: String, near index: Int) -> Int? {
        if children.nodes.indices.contains(index), children.nodes[index].key == key { return index }
        let indices =
            indices ?? Dictionary(uniqueKeysWithValues: children.nodes.indices.map { (children.nodes[$0].key, $0) })
        self.indices = indices
        return indices[key]
    }

    /// How the node at an index was made, if it would be the same now.
    mutating func unchanged(_ index: Int, _ entry: Entry) -> MadeChildren.Origin? {
        guard let origin = children.origins[index],
            comparison?.isUnchanged(entry.part, entry.element, since: origin.element) == true
        else { return nil }
        return origin
    }
}

/// The keys of repeated nodes, unique whatever the data are.
private struct RowKeys {
    let prefix: String
    private var counts: [String: Int] = [:]
    private var number = 0

    init(prefix: String) { self.prefix = prefix }

    mutating func next(of element: JSONValue, by key: Template?, in scope: Scope) -> String {
        defer { number += 1 }
        // The separator is the index's own, so that a key in the data can't be taken for an index.
        guard let key else { return "\(prefix).\(number)" }
        var inner = scope
        inner.items.append(element)
        let text =
            "\(prefix):"
            + Resolver.prefix(
                inner.value(of: key, upTo: Resolver.maximumKeyLength).text, Resolver.maximumKeyLength)
        guard let count = counts[text] else {
            counts[text] = 1
            return text
        }
        // With a sign that stands before the separator only here, no other key is like it.
        counts[text] = count + 1
        return "\(prefix)#\(count)\(text.dropFirst(prefix.count))"
    }
}
