/// One change that makes the next tree of a former one.
///
/// An edit names nodes by their keys. What it shows is read from the new tree:
///
/// ```swift
/// let next = document.tree(of: changed, after: tree)
/// for edit in next.edits(since: tree) { apply(edit, next.node(at: edit.path)) }
/// ```
///
/// Edits are applied in their order. Those of one parent begin with removals; insertions and moves follow from the
/// first child to the last, and then changes.
public struct ViewEdit: Sendable, Hashable {
    /// The change of a node.
    public enum Action: Sendable, Hashable {
        /// The node looks different; its children have edits of their own.
        case change
        /// The node and all below it are replaced by a node with the same key.
        case replace
        /// The node is gone.
        case remove
        /// The node is new, behind the sibling with this key; `nil` for the first.
        case insert(after: String?)
        /// The node is behind the sibling with this key; `nil` for the first.
        case move(after: String?)
    }

    /// The keys of the nodes from the outermost child to this node; empty for the root.
    public let path: [String]
    /// The change of the node.
    public let action: Action
}

extension ViewTree {
    /// Returns the edits that make this tree of a former one: none for equal trees, and no more than the nodes that
    /// differ.
    ///
    /// Pass the former tree to ``ViewDocument/tree(of:after:)``, too: nodes that were taken over are not compared. Rows
    /// that have never been read are compared by their data, and replaced.
    public func edits(since former: ViewTree) -> [ViewEdit] {
        var difference = Difference()
        difference.compare(former.root, root, at: [])
        return difference.edits
    }
}
