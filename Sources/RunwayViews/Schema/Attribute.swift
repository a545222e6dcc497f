/// The attributes of nodes. Each is one declaration of a style sheet and one modifier of SwiftUI.
enum Attribute: String, CaseIterable, Sendable {
    case width, height, maxWidth, grow
    case paddingInline, paddingBlock, gap, align
    case background, color, border, radius, shadow, opacity, clip
    case font, weight, textAlign, lines, decoration
    case fit, ratio
    case rotate, scale, animate
}

extension Attribute {
    /// The row of an attribute in the table.
    struct Row: Sendable {
        /// The values that the attribute can have.
        let form: ValueForm
        /// The property of the style sheet.
        let property: String
        /// The computed value of the property where the attribute is absent; `CanvasText` is the page's colour of text.
        let initial: String
        /// Text around the value in the declaration.
        var before = "", after = ""
        /// The modifier of SwiftUI.
        let modifier: String
    }

    /// All that is known of the attributes. The JSON Schema, the style sheet and the tests are made from it.
    static let table: [Attribute: Row] = [
        .width: Row(form: .length, property: "width", initial: "auto", modifier: "frame(width:)"),
        .height: Row(form: .length, property: "height", initial: "auto", modifier: "frame(height:)"),
        .maxWidth: Row(
            form: .number(0...10_000, .points), property: "max-width", initial: "none", modifier: "frame(maxWidth:)"),
        .grow: Row(
            form: .number(0...100, .none), property: "flex-grow", initial: "0", modifier: "frame(maxWidth: .infinity)"),
        .paddingInline: Row(
            form: .number(0...1000, .points), property: "padding-inline", initial: "0px",
            modifier: "padding(.horizontal)"),
        .paddingBlock: Row(
            form: .number(0...1000, .points), property: "padding-block", initial: "0px", modifier: "padding(.vertical)"),
        .gap: Row(
            form: .number(0...1000, .points), property: "gap", initial: "normal", modifier: "the stack's spacing"),
        .align: Row(
            form: .keyword(["start": "start", "center": "center", "end": "end"]), property: "align-items",
            initial: "start", modifier: "the stack's alignment"),
        .background: Row(
            form: .color, property: "background-color", initial: "rgba(0, 0, 0, 0)", modifier: "background(_:)"),
        .color: Row(form: .color, property: "color", initial: "CanvasText", modifier: "foregroundStyle(_:)"),
        .border: Row(
            form: .color, property: "border", initial: "0px none CanvasText", before: "1px solid ",
            modifier: "overlay(_:)"),
        .radius: Row(
            form: .number(0...1000, .points), property: "border-radius", initial: "0px",
            modifier: "clipShape(_:)"),
        .shadow: Row(
            form: .number(0...100, .points), property: "box-shadow", initial: "none", before: "0 0 ",
            after: " rgb(0 0 0 / 0.33)", modifier: "shadow(radius:)"),
        .opacity: Row(form: .number(0...1, .none), property: "opacity", initial: "1", modifier: "opacity(_:)"),
        .clip: Row(
            form: .flag(yes: "clip", no: "visible"), property: "overflow", initial: "visible", modifier: "clipShape(_:)"
        ),
        .font: Row(
            form: .keyword([
                "caption": "0.75rem", "footnote": "0.8125rem", "callout": "1rem", "body": "1.0625rem",
                "title3": "1.25rem",
                "title2": "1.375rem", "title": "1.75rem", "largeTitle": "2.125rem",
            ]), property: "font-size", initial: "17px", modifier: "font(_:)"),
        .weight: Row(
            form: .keyword(["regular": "400", "medium": "500", "semibold": "600", "bold": "700"]),
            property: "font-weight",
            initial: "400", modifier: "fontWeight(_:)"),
        .textAlign: Row(
            form: .keyword(["start": "start", "center": "center", "end": "end"]), property: "text-align",
            initial: "start",
            modifier: "multilineTextAlignment(_:)"),
        .lines: Row(
            form: .number(1...100, .whole), property: "-webkit-line-clamp", initial: "none", modifier: "lineLimit(_:)"),
        .decoration: Row(
            form: .keyword(["none": "none", "underline": "underline", "strike": "line-through"]),
            property: "text-decoration-line", initial: "none", modifier: "underline(_:), strikethrough(_:)"),
        .fit: Row(
            form: .keyword(["cover": "cover", "contain": "contain"]), property: "object-fit",
            initial: "contain",
            modifier: "aspectRatio(contentMode:)"),
        .ratio: Row(
            form: .number(0.01...100, .none), property: "aspect-ratio", initial: "auto", modifier: "aspectRatio(_:)"),
        .rotate: Row(
            form: .number(-360...360, .degrees), property: "rotate", initial: "none", modifier: "rotationEffect(_:)"),
        .scale: Row(form: .number(0...10, .none), property: "scale", initial: "none", modifier: "scaleEffect(_:)"),
        .animate: Row(form: .animation, property: "animation", initial: "none", modifier: "visualEffect(_:)"),
    ]

    /// The row of the attribute. A test checks that the table has one for each.
    var row: Row {
        guard let row = Self.table[self] else { preconditionFailure("the table has no row for \(rawValue)") }
        return row
    }
}

/// An attribute with its value.
struct Setting: Sendable, Hashable {
    let attribute: Attribute
    let value: StyleValue
}
