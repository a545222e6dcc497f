import RunwayJSON

/// Reads the nodes of a document, and collects what it ignores.
struct DocumentReader {
    /// A template that was read, with the names of its parameters.
    private struct Definition {
        let part: Part
        let parameters: [String]
    }

    /// The members of one node, by their names.
    struct Members {
        var values: [NodeMember: JSONValue] = [:]
        var attributes: [(attribute: Attribute, value: JSONValue)] = []
        var unknown: [JSONMember] = []
    }

    /// An array, and the name that each of its elements has in the node.
    private struct Repeated {
        let elements: Reference
        let name: String
    }

    let limits: ViewLimits
    let skin: ViewSkin
    private(set) var problems: [ViewError] = []
    private var sources: [String: JSONValue] = [:]
    private var definitions: [String: Definition] = [:]
    /// The templates that are being read, which must not be used inside.
    private var open: Set<String> = []
    private var nodeCount = 0

    init(limits: ViewLimits, skin: ViewSkin) { (self.limits, self.skin) = (limits, skin) }

    /// Reads a document: a node, or an object with `view` and `templates`.
    mutating func read(_ root: JSONValue) throws(ViewError) -> Part {
        var names = Names()
        if root["node"].exists { return try part(root, &names, depth: 1) }
        guard root.kind == .object, root["view"].exists else {
            throw ViewError(.structure, at: root, "A document is a node, or an object with \"view\" and \"templates\".")
        }
        for member in root.members where !["view", "templates", "$schema"].contains(member.key) {
            note(.unknownAttribute, member.value, "Unknown member of a document.")
        }
        let templates = root["templates"]
        guard !templates.exists || templates.kind == .object else {
            throw ViewError(.structure, at: templates, "The templates are an object of names and nodes.")
        }
        sources = Dictionary(templates.members.map { ($0.key, $0.value) }) { first, _ in first }
        let view = try part(root["view"], &names, depth: 1)
        // Also those that are not used, in the order of the document, so that a mistake shows before the first use.
        for member in templates.members { _ = try definition(member.key, at: member.value, depth: 1) }
        return view
    }

    /// Lists a problem, unless there are too many: a path takes time in proportion to the document.
    mutating func note(_ kind: ViewError.Kind, _ value: JSONValue, _ message: String) {
        if problems.count < limits.maximumProblemCount { problems.append(ViewError(kind, at: value, message)) }
    }

    // MARK: Nodes

    private mutating func part(
        _ value: JSONValue, _ names: inout Names, depth: Int, isChild: Bool = false
    ) throws(ViewError) -> Part {
        nodeCount += 1
        guard depth <= limits.effectiveDepth else {
            throw ViewError(.limit, at: value, "More than \(limits.effectiveDepth) levels of nodes.")
        }
        guard nodeCount <= limits.maximumNodeCount else {
            throw ViewError(.limit, at: value, "More than \(limits.maximumNodeCount) nodes.")
        }
        guard value.kind == .object else { throw ViewError(.structure, at: value, "A node is an object.") }
        let members = members(of: value)
        var draft = Part.Draft()
        guard let name = members.values[.node]?.string else {
            throw ViewError(.structure, at: value["node"], "A node has its name in \"node\".")
        }
        draft.kind = NodeKind(rawValue: name)
        if let other = members.values[.else] { draft.fallback = try part(other, &names, depth: depth + 1) }
        if let fallback = draft.fallback { draft.add(fallback) }
        guard let kind = draft.kind else {
            note(.unknownNode, members.values[.node] ?? value, "Unknown node \"\(JSONError.shortened(name))\".")
            return Part(draft)
        }
        for member in members.unknown {
            note(.unknownAttribute, member.value, "A \(kind.rawValue) has no \"\(JSONError.shortened(member.key))\".")
        }
        for member in NodeMember.allCases where !member.isMember(of: kind) {
            guard let value = members.values[member] else { continue }
            note(.unknownAttribute, value, "A \(kind.rawValue) has no \"\(member.rawValue)\".")
        }
        readCondition(members, &draft, &names)
        var repeated: Repeated?
        if let each = members.values[.each] { repeated = repetition(each, members, &names, isChild: isChild) }
        if let repeated { names.items.append(repeated.name) }
        try readContent(kind, value, members, &draft, &names, depth: depth)
        for (attribute, value) in members.attributes { try readSetting(attribute, value, &draft, &names) }
        if let repeated { try close(repeated, at: value, members, &draft, &names) }
        guard depth + draft.height - 1 <= limits.effectiveDepth else {
            throw ViewError(
                .limit, at: value, "More than \(limits.effectiveDepth) levels of nodes with those of templates.")
        }
        return Part(draft)
    }

    private mutating func members(of value: JSONValue) -> Members {
        var members = Members()
        for member in value.members {
            switch NodeWord.all[member.key] {
            case .member(let name) where members.values[name] == nil: members.values[name] = member.value
            case .attribute(let name) where !members.attributes.contains { $0.attribute == name }:
                members.attributes.append((name, member.value))
            case .member, .attribute: note(.invalidValue, member.value, "Repeated; the first counts.")
            case nil: members.unknown.append(member)
            }
        }
        return members
    }

    private mutating func readCondition(_ members: Members, _ draft: inout Part.Draft, _ names: inout Names) {
        guard let value = members.values[.if] else { return }
        let text = value.string ?? ""
        let isNegated = text.hasPrefix("!")
        guard let reference = reference(String(text.drop { $0 == "!" }), &names) else {
            return note(.invalidValue, value, "A condition is one path such as \"{coupon.open}\", or \"!\" and a path.")
        }
        (draft.condition, draft.conditionIsNegated) = (reference, isNegated)
        draft.references.append(reference)
    }

    private func reference(_ text: String, _ names: inout Names) -> Reference? {
        guard case .reference(let reference)? = Template(text, names: &names) else { return nil }
        return reference
    }

    // MARK: Repetitions

    private mutating func repetition(
        _ value: JSONValue, _ members: Members, _ names: inout Names, isChild: Bool
    ) -> Repeated? {
        guard isChild else {
            note(.invalidValue, value, "Only a child of a box, a list or a pager can be repeated.")
            return nil
        }
        guard let elements = value.string.flatMap({ reference($0, &names) }) else {
            note(.invalidValue, value, "A repetition is one path to an array, such as \"{items}\".")
            return nil
        }
        let name = members.values[.as]?.string ?? "item"
        guard Names.isName(name) else {
            note(.invalidValue, members.values[.as] ?? value, "A name consists of letters, digits, \"_\" and \"-\".")
            return nil
        }
        return Repeated(elements: elements, name: name)
    }

    /// Adds the repetition, when all paths in the node are known.
    private mutating func close(
        _ repeated: Repeated, at node: JSONValue, _ members: Members, _ draft: inout Part.Draft, _ names: inout Names
    ) throws(ViewError) {
        let key = content(members.values[.key], &names)
        names.items.removeLast()
        let item = Reference.Base.item(names.items.count)
        let inside = draft.references + (key?.references ?? [])
        draft.references = Array(Set(inside.filter { $0.base != item }))
        guard draft.references.count <= Names.maximumOutsidePaths else {
            let limit = Names.maximumOutsidePaths
            throw ViewError(.limit, at: node, "More than \(limit) paths that do not begin at the repeated element.")
        }
        draft.repetition = .init(elements: repeated.elements, key: key, outside: draft.references)
        draft.references.append(repeated.elements)
    }

    // MARK: Content

    private mutating func readContent(
        _ kind: NodeKind, _ node: JSONValue, _ members: Members, _ draft: inout Part.Draft, _ names: inout Names,
        depth: Int
    ) throws(ViewError) {
        let values = members.values.filter { $0.key.isMember(of: kind) }
        draft.content.layout = word(values[.layout], or: .column)
        draft.content.mode = word(values[.mode], or: .text)
        if let name = values[.name] {
            draft.content.name = name.string.flatMap { $0.utf8.count <= Part.maximumNameLength ? $0 : nil } ?? ""
            if draft.content.name.isEmpty { note(.invalidValue, name, "The name of a slot, of up to 128 bytes.") }
        }
        if let heading = values[.heading] {
            if let level = heading.int, (1...6).contains(level) {
                draft.content.heading = level
            } else {
                note(.invalidValue, heading, "The level of a heading is 1 to 6.")
            }
        }
        draft.content.text = content(values[.text] ?? values[.source] ?? values[.value], &names)
        draft.content.label = content(values[.label], &names)
        draft.content.placeholder = content(values[.placeholder], &names)
        readEvents(values[.on], &draft, &names)
        var arguments: [(name: String, value: Template)] = []
        if let with = values[.with] {
            if with.kind != .object { note(.invalidValue, with, "An object of names and values.") }
            for member in with.members {
                guard member.key.utf8.count <= Part.maximumNameLength else {
                    note(.invalidValue, member.value, "The name of a parameter has up to 128 bytes.")
                    continue
                }
                if let value = argument(member.value, &names) { arguments.append((member.key, value)) }
            }
        }
        let filled = draft.content
        let texts =
            [filled.text, filled.label, filled.placeholder].compactMap { $0 } + arguments.map(\.value)
            + filled.events.values.compactMap(\.detail)
        draft.references += texts.flatMap(\.references)
        if kind == .slot { draft.content.parameters = arguments }
        if kind == .use { try readUse(node, arguments, &draft, depth: depth) }
        if let children = values[.children] {
            guard children.kind == .array else {
                throw ViewError(.structure, at: children, "The children are an array.")
            }
            for child in children.elements {
                draft.children.append(try part(child, &names, depth: depth + 1, isChild: true))
                draft.add(draft.children[draft.children.count - 1])
            }
        }
    }

    private mutating func word<Word: RawRepresentable & CaseIterable>(
        _ value: JSONValue?, or other: Word
    ) -> Word where Word.RawValue == String {
        guard let value else { return other }
        if let word = value.string.flatMap(Word.init(rawValue:)) { return word }
        note(.invalidValue, value, "One of \(Word.allCases.map(\.rawValue).joined(separator: ", ")).")
        return other
    }

    /// Reads a text with paths, a number or a Boolean.
    private mutating func content(_ value: JSONValue?, _ names: inout Names) -> Template? {
        guard let value else { return nil }
        switch value.kind {
        case .string: return argument(value, &names)
        case .number, .boolean: return .json(value)
        case .missing, .null, .array, .object:
            note(.invalidValue, value, "A text, in which {path} stands for a value.")
            return nil
        }
    }

    /// Reads a text with paths, or any other value as it is.
    private mutating func argument(_ value: JSONValue, _ names: inout Names) -> Template? {
        guard let text = value.string else { return .json(value) }
        if let template = Template(text, names: &names) { return template }
        note(.invalidValue, value, "A path in braces is names with full stops between them; \"{{\" is a brace.")
        return nil
    }

    private mutating func readEvents(_ value: JSONValue?, _ draft: inout Part.Draft, _ names: inout Names) {
        guard let value else { return }
        guard value.kind == .object else {
            return note(.invalidValue, value, "Gestures and the names of their events.")
        }
        for member in value.members {
            guard let gesture = Gesture(rawValue: member.key) else {
                note(.unknownAttribute, member.value, "Unknown gesture \"\(JSONError.shortened(member.key))\".")
                continue
            }
            let (event, detail) = (member.value, member.value["detail"])
            guard let name = event.string ?? event["name"].string, !name.isEmpty,
                name.utf8.count <= Part.maximumNameLength
            else {
                note(.invalidValue, event, "The name of an event, or an object with \"name\" and \"detail\".")
                continue
            }
            draft.content.events[gesture] = Part.Event(
                name: name, detail: detail.exists ? argument(detail, &names) : nil)
        }
    }

    // MARK: Attributes

    private mutating func readSetting(
        _ attribute: Attribute, _ value: JSONValue, _ draft: inout Part.Draft, _ names: inout Names
    ) throws(ViewError) {
        if draft.kind == .use { return note(.unknownAttribute, value, "A use has no attributes; its template has.") }
        let form = attribute.row.form
        var stated = value
        if let text = value.string {
            if text.hasPrefix("$") {
                guard let token = skin.tokens[String(text.dropFirst())] else {
                    throw ViewError(.missingToken, at: value, "The skin has no token \"\(JSONError.shortened(text))\".")
                }
                stated = token
            } else if text.hasPrefix("{"), let reference = reference(text, &names) {
                draft.dynamicSettings.append((attribute, reference))
                return draft.references.append(reference)
            }
        }
        guard let read = form.read(.json(stated)) else {
            return note(.invalidValue, value, "\"\(attribute.rawValue)\" is \(form.description).")
        }
        draft.settings.append(Setting(attribute: attribute, value: read))
    }

    // MARK: Templates

    private mutating func readUse(
        _ node: JSONValue, _ arguments: [(name: String, value: Template)], _ draft: inout Part.Draft, depth: Int
    ) throws(ViewError) {
        let name = node["template"]
        guard let text = name.string else {
            throw ViewError(.structure, at: name, "A use names its \"template\".")
        }
        let definition = try definition(text, at: name, depth: depth + 1)
        for argument in arguments where !definition.parameters.contains(argument.name) {
            // To find the value again takes time in proportion to the number of arguments.
            guard problems.count < limits.maximumProblemCount else { break }
            note(
                .unknownAttribute, node["with"][argument.name],
                "The template \"\(JSONError.shortened(text))\" has no such parameter.")
        }
        let values = Dictionary(arguments) { first, _ in first }
        draft.use = Part.Use(
            part: definition.part, arguments: definition.parameters.map { values[$0] ?? .text("") })
        draft.height = max(draft.height, definition.part.height + 1)
    }

    /// Returns a template, which is read at its first use.
    private mutating func definition(
        _ name: String, at use: JSONValue, depth: Int
    ) throws(ViewError) -> Definition {
        if let definition = definitions[name] { return definition }
        guard let source = sources[name] else {
            throw ViewError(.missingTemplate, at: use, "There is no template \"\(JSONError.shortened(name))\".")
        }
        guard open.insert(name).inserted else {
            throw ViewError(.templateCycle, at: use, "The template \"\(JSONError.shortened(name))\" uses itself.")
        }
        var names = Names(parameters: [])
        let part = try part(source, &names, depth: depth)
        open.remove(name)
        guard names.parameters?.count ?? 0 <= Names.maximumParameters else {
            throw ViewError(.limit, at: source, "More than \(Names.maximumParameters) parameters of a template.")
        }
        let definition = Definition(part: part, parameters: names.parameters ?? [])
        definitions[name] = definition
        return definition
    }
}
