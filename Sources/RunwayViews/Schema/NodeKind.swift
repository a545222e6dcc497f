/// The nodes of a document, by their names.
enum NodeKind: String, CaseIterable, Sendable {
    case text, image, box, list, pager, input, spacer, slot, use
    case toggle = "switch"
}

/// How a box arranges its children.
enum BoxLayout: String, CaseIterable, Sendable {
    case row, column, overlay, wrap
}

/// The keyboard and the concealment of an input.
enum InputMode: String, CaseIterable, Sendable {
    case text, email, number, password, search, phone = "tel"
}

/// The members of a node that are no attributes: content, structure and meaning.
enum NodeMember: String, CaseIterable, Sendable {
    case node, `if`, each, `as`, key, `else`, on, label
    case children, layout, text, heading, source, value, placeholder, mode, name, template, with

    /// The nodes that have the member; `nil` if all have it.
    var kinds: [NodeKind]? {
        switch self {
        case .node, .if, .each, .as, .key, .else: nil
        case .on, .label: NodeKind.allCases.filter { $0 != .use && $0 != .spacer }
        case .children: [.box, .list, .pager]
        case .layout: [.box]
        case .text, .heading: [.text]
        case .source: [.image]
        case .value: [.input, .toggle]
        case .placeholder, .mode: [.input]
        case .name: [.slot]
        case .template: [.use]
        case .with: [.use, .slot]
        }
    }

    func isMember(of kind: NodeKind) -> Bool { kinds?.contains(kind) ?? true }
}

/// All names that a node can have, for one lookup per member.
enum NodeWord: Sendable {
    case member(NodeMember)
    case attribute(Attribute)

    static let all: [String: NodeWord] = {
        var words: [String: NodeWord] = [:]
        for member in NodeMember.allCases { words[member.rawValue] = .member(member) }
        for attribute in Attribute.allCases { words[attribute.rawValue] = .attribute(attribute) }
        return words
    }()
}

/// An action of the user on a node, by the name in its `on`.
enum Gesture: String, CaseIterable, Sendable {
    case tap, change
}
