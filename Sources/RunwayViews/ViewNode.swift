/// One node of a tree: no template, condition, repetition, path or token is left in it. It never changes.
///
/// In two trees that follow each other, nodes that are alike in all below them are the same object.
public final class ViewNode: Sendable {
    /// All of a node but its children.
    struct Appearance: Sendable, Hashable {
        var kind: NodeKind
        var layout = BoxLayout.column
        var mode = InputMode.text
        /// The level of a heading, 1 to 6; 0 if the node is none.
        var heading = 0
        /// The name of a slot.
        var name = ""
        /// The text of a text, the address of an image, or the value of an input.
        var text = ""
        var isOn = false
        var label = ""
        var placeholder = ""
        var events: [Gesture: ViewEvent] = [:]
        /// The parameters of a slot, as JSON text of an object.
        var parameters: ArraySlice<UInt8> = []
        var settings: [Setting] = []
    }

    /// The key of the node, unique among its siblings: with those of the nodes above it, the identity of the node.
    public let key: String
    /// The children. Those of a list or a pager are made when they are read.
    public let children: ViewChildren
    let appearance: Appearance

    init(key: String, appearance: Appearance, children: ViewChildren) {
        (self.key, self.appearance, self.children) = (key, appearance, children)
    }

    /// A box without children, in place of nothing.
    static func empty(key: String) -> ViewNode {
        ViewNode(key: key, appearance: Appearance(kind: .box), children: .none)
    }

    /// The name of the node in the document, such as `text`.
    public var kind: String { appearance.kind.rawValue }

    /// The text of a text, the address of an image or the value of an input, as data filled it; empty for other nodes.
    public var text: String { appearance.text }

    /// The description for people who do not see the node; empty if it has none.
    public var label: String { appearance.label }

    /// The event of a tap; `nil` if the node does not react to it.
    public var tap: ViewEvent? { appearance.events[.tap] }

    /// The event of a change by the user of an input or a switch; `nil` if the node does not react to it.
    public var change: ViewEvent? { appearance.events[.change] }

    /// Returns the value of an attribute; `nil` if it is absent.
    func value(_ attribute: Attribute) -> StyleValue? {
        appearance.settings.last { $0.attribute == attribute }?.value
    }
}

extension ViewNode: Equatable {
    /// Returns whether two nodes have the same key and look the same, with all below them. Makes all rows of lists.
    public static func == (one: ViewNode, other: ViewNode) -> Bool {
        one === other
            || one.key == other.key && one.appearance == other.appearance && one.children.elementsEqual(other.children)
    }
}

/// An event that a document names: the app binds it to a page, a command or a handler.
public struct ViewEvent: Sendable, Hashable {
    /// The name of the event, such as `coupon.tap`.
    public let name: String
    /// The value that the document passes with the event, as JSON text; `null` without one.
    public let detail: ArraySlice<UInt8>
}

/// A view filled with data.
public struct ViewTree: Sendable {
    /// The outermost node. Its key is empty.
    public let root: ViewNode
    /// Whether nodes or texts are left out, because of ``ViewLimits``.
    public let isTruncated: Bool
    /// The document from which the tree was made.
    let part: Part

    /// Returns the node with these keys, from the outermost child to the node; `nil` if there is none.
    public func node(at path: [String]) -> ViewNode? {
        path.reduce(root as ViewNode?) { node, key in node?.children.node(key: key) }
    }
}
