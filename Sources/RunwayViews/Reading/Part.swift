/// One node of the document, read and checked. It becomes any number of nodes of a tree.
final class Part: Sendable {
    /// The repetition of a node for each element of an array.
    struct Repetition: Sendable {
        let elements: Reference
        /// The key of an element; `nil` if its index is the key.
        let key: Template?
        /// The paths in the node that do not begin at the element.
        let outside: [Reference]
    }

    struct Event: Sendable {
        let name: String
        let detail: Template?
    }

    /// The template that a `use` names, with its arguments in the order of the template's parameters.
    struct Use: Sendable {
        let part: Part
        let arguments: [Template]
    }

    /// The maximum length of the names of events, slots and parameters in bytes: every node repeats them.
    static let maximumNameLength = 128

    /// `nil` for a node that this version does not know, of which only ``fallback`` is shown.
    let kind: NodeKind?
    let condition: Reference?
    let conditionIsNegated: Bool
    let repetition: Repetition?
    let fallback: Part?
    let content: Content
    let children: [Part]
    let use: Use?
    /// The settings that depend on no data, in the order of ``Attribute``.
    let settings: [Setting]
    let dynamicSettings: [(attribute: Attribute, reference: Reference)]
    /// Every path in the node and below it, without those in templates, whose arguments are included.
    let references: [Reference]
    /// The number of levels of nodes, including those of templates.
    let height: Int

    /// The members that are neither attributes nor structure.
    struct Content: Sendable {
        var layout = BoxLayout.column
        var mode = InputMode.text
        var heading = 0
        var name = ""
        /// The text of a text, the address of an image, or the value of an input or a switch.
        var text: Template?
        var label: Template?
        var placeholder: Template?
        var events: [Gesture: Event] = [:]
        /// The parameters of a slot.
        var parameters: [(name: String, value: Template)] = []
    }

    init(_ draft: Draft) {
        (kind, condition, conditionIsNegated) = (draft.kind, draft.condition, draft.conditionIsNegated)
        (repetition, fallback, content, children) = (draft.repetition, draft.fallback, draft.content, draft.children)
        (use, settings, dynamicSettings) = (draft.use, draft.settings, draft.dynamicSettings)
        (references, height) = (draft.references, draft.height)
    }

    /// A part while it is read.
    struct Draft {
        var kind: NodeKind?
        var condition: Reference?
        var conditionIsNegated = false
        var repetition: Repetition?
        var fallback: Part?
        var content = Content()
        var children: [Part] = []
        var use: Use?
        var settings: [Setting] = []
        var dynamicSettings: [(attribute: Attribute, reference: Reference)] = []
        var references: [Reference] = []
        var height = 1

        /// Adds a node below this one or in its place; both are a level, since both are a call when a tree is made.
        mutating func add(_ part: Part) {
            references += part.references
            height = max(height, part.height + 1)
        }
    }
}
