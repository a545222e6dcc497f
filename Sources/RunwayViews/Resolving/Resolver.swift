import RunwayJSON

/// Makes nodes of a document's nodes and data, as far as the limits allow.
struct Resolver {
    /// The parts of the limits that nodes have used.
    struct Usage: Sendable {
        var nodeCount = 0
        var textLength = 0
        /// The number of paths that were looked up.
        var pathCount = 0

        static func + (one: Usage, other: Usage) -> Usage {
            Usage(
                nodeCount: one.nodeCount + other.nodeCount, textLength: one.textLength + other.textLength,
                pathCount: one.pathCount + other.pathCount)
        }

        static func - (one: Usage, other: Usage) -> Usage {
            Usage(
                nodeCount: one.nodeCount - other.nodeCount, textLength: one.textLength - other.textLength,
                pathCount: one.pathCount - other.pathCount)
        }
    }

    let limits: ViewLimits
    let nodeLimit: Int
    private(set) var usage = Usage()
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
        if usage.nodeCount >= nodeLimit { isTruncated = true }
        usage.nodeCount += 1
        return usage.nodeCount <= nodeLimit
    }

    private mutating func holds(_ part: Part, in scope: Scope) -> Bool {
        guard let condition = part.condition else { return true }
        return value(of: condition, in: scope).isTrue != part.conditionIsNegated
    }

    /// Whether what was used and is about to be used is within all limits.
    private func permits(_ more: Usage) -> Bool {
        let sum = usage + more
        return sum.nodeCount <= nodeLimit && sum.textLength <= limits.totalTextLength && sum.pathCount <= pathLimit
    }

    // MARK: Values

    private var pathLimit: Int { min(nodeLimit, 1 << 24) * ViewLimits.pathsOfANode }

    /// Looks up a path; empty beyond the limit of paths.
    private mutating func value(of reference: Reference, in scope: Scope) -> Datum {
        guard usage.pathCount < pathLimit else {
            isTruncated = true
            return .text("")
        }
        usage.pathCount += 1
        return scope.value(of: reference)
    }

    /// Returns a value. A text with paths ends at most 4 bytes beyond `limit`, so that a few bytes of a document can't
    /// become many; a text that is too long stays longer than `limit`.
    mutating func value(of template: Template, upTo limit: Int, in scope: Scope) -> Datum {
        switch template {
        case .text(let text): return .text(text)
        case .json(let value): return .json(value)
        case .reference(let reference): return value(of: reference, in: scope)
        case .pieces(let pieces):
            var text = ""
            for piece in pieces {
                let room = limit - text.utf8.count
                if usage.pathCount >= pathLimit { isTruncated = true }
                guard room >= 0, usage.pathCount < pathLimit else { break }
                switch piece {
                case .text(let part): text += Self.prefix(part, room + 4)
                case .reference(let reference):
                    text += Self.prefix(value(of: reference, in: scope).text(upTo: room + 4), room + 4)
                }
            }
            return .text(text)
        }
    }

    // MARK: Appearance

    private mutating func appearance(of part: Part, _ kind: NodeKind, in scope: Scope) -> ViewNode.Appearance {
        let content = part.content
        var appearance = ViewNode.Appearance(kind: kind)
        (appearance.layout, appearance.mode) = (content.layout, content.mode)
        (appearance.heading, appearance.name) = (content.heading, content.name)
        if kind == .toggle {
            appearance.isOn = content.text.map { value(of: $0, upTo: 0, in: scope).isTrue } ?? false
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
            guard let value = attribute.row.form.read(value(of: reference, in: scope)) else { continue }
            appearance.settings.append(Setting(attribute: attribute, value: value))
        }
        return appearance
    }

    /// The maximum length of the next text.
    private var textRoom: Int { max(0, min(limits.maximumTextLength, limits.totalTextLength - usage.textLength)) }

    /// The value of an argument. A text that is made for it is a text of the tree, whose nodes store it.
    private mutating func argument(_ template: Template, in scope: Scope) -> Datum {
        guard case .pieces = template else { return value(of: template, upTo: 0, in: scope) }
        return .text(text(template, in: scope))
    }

    private mutating func text(_ template: Template?, in scope: Scope) -> String {
        guard let template else { return "" }
        let length = textRoom
        let text = value(of: template, upTo: length, in: scope).text(upTo: length)
        guard text.utf8.count > length else {
            usage.textLength += text.utf8.count
            return text
        }
        isTruncated = true
        usage.textLength += length
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
        let json = template.map { value(of: $0, upTo: room, in: scope).json } ?? null
        guard json.count <= room else {
            isTruncated = true
            return null
        }
        usage.textLength += json.count
        return json
    }

    private mutating func parameters(_ parameters: [(name: String, value: Template)], in scope: Scope) -> ArraySlice<
        UInt8
    > {
        var writer: [UInt8] = []
        for (name, value) in parameters {
            let start = (writer.isEmpty ? "{" : ",").utf8 + Datum.text(name).json + ":".utf8
            guard start.count <= limits.totalTextLength - usage.textLength else {
                isTruncated = true
                break
            }
            usage.textLength += start.count
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
            let entries = entries(of: part, in: scope, limit: max(0, nodeLimit - usage.nodeCount))
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
            if let old, let origin = before?.unchanged(old, entry), permits(origin.usage) {
                usage = usage + origin.usage
                made.nodes.append(before?.children.nodes[old] ?? .empty(key: entry.key))
                made.origins.append(origin)
                continue
            }
            let (start, wasTruncated) = (usage, isTruncated)
            isTruncated = false
            if let node = node(entry, in: scope, former: old.flatMap { before?.children.nodes[$0] }) {
                made.nodes.append(node)
                // A node that was cut is made again in the next tree, where there may be more room.
                made.origins.append(
                    isTruncated ? nil : entry.element.map { .init(element: $0, usage: usage - start) })
            }
            isTruncated = isTruncated || wasTruncated
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
            let elements = value(of: repetition.elements, in: scope).elements
            guard let elements, elements.count > 0 else {
                if let fallback = child.fallback { entries.append(Entry(part: fallback, key: key, element: nil)) }
                continue
            }
            let room = max(0, limit - entries.count)
            if elements.count > room { isTruncated = true }
            entries.reserveCapacity(entries.count + min(room, elements.count))
            var keys = RowKeys(prefix: key)
            for element in elements.prefix(room) {
                let key = keys.next(of: element, by: repetition.key, in: scope, &self)
                entries.append(Entry(part: child, key: key, element: element))
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

    mutating func next(
        of element: JSONValue, by key: Template?, in scope: Scope, _ resolver: inout Resolver
    ) -> String {
        defer { number += 1 }
        // The separator is the index's own, so that a key in the data can't be taken for an index.
        guard let key else { return "\(prefix).\(number)" }
        var inner = scope
        inner.items.append(element)
        let length = Resolver.maximumKeyLength
        let value = resolver.value(of: key, upTo: length, in: inner).text(upTo: length)
        let text = "\(prefix):\(Resolver.prefix(value, length))"
        guard let count = counts[text] else {
            counts[text] = 1
            return text
        }
        // With a sign that stands before the separator only here, no other key is like it.
        counts[text] = count + 1
        return "\(prefix)#\(count)\(text.dropFirst(prefix.count))"
    }
}
