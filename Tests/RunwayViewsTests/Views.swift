import RunwayJSON

@testable import RunwayViews

/// Reads a document and data from JSON text.
func view(_ text: String, skin: String = "{}", limits: ViewLimits = .default) throws -> ViewDocument {
    try ViewDocument(Array(text.utf8), skin: ViewSkin(JSONDocument(skin).root), limits: limits)
}

func data(_ text: String) throws -> JSONValue { try JSONDocument(text).root }

/// All of a tree, rows included, as one value.
final class Copy: Equatable {
    var key: String
    var appearance: ViewNode.Appearance
    var children: [Copy]

    init(_ node: ViewNode) {
        (key, appearance, children) = (node.key, node.appearance, node.children.map(Copy.init))
    }

    static func == (one: Copy, other: Copy) -> Bool {
        one.key == other.key && one.appearance == other.appearance && one.children == other.children
    }

    /// The texts of all nodes in their order.
    var texts: [String] { (appearance.text.isEmpty ? [] : [appearance.text]) + children.flatMap(\.texts) }

    var count: Int { children.reduce(1) { $0 + $1.count } }
}

extension ViewTree {
    var texts: [String] { Copy(root).texts }
}

extension ViewDocument {
    func texts(_ text: String) throws -> [String] { tree(of: try data(text)).texts }
}
