#if canImport(SwiftUI)
    import Foundation
    import SwiftUI

    /// The attributes of a node as values of SwiftUI. An absent one has the value that changes nothing.
    struct NodeStyle {
        let node: ViewNode
        let parent: BoxLayout

        private func number(_ attribute: Attribute) -> Double? {
            if case .number(let number) = node.value(attribute) { number } else { nil }
        }
        private func length(_ attribute: Attribute) -> CGFloat? { number(attribute).map { CGFloat($0) } }
        private func word(_ attribute: Attribute) -> String {
            if case .keyword(let word) = node.value(attribute) { word } else { "" }
        }
        private func color(_ attribute: Attribute, _ scheme: ColorScheme) -> Color? {
            guard case .color(let light, let dark) = node.value(attribute) else { return nil }
            let color = scheme == .dark ? dark : light
            return Color(
                red: Double(color.red) / 255, green: Double(color.green) / 255, blue: Double(color.blue) / 255,
                opacity: Double(color.alpha) / 255)
        }

        // MARK: Stacks

        var gap: Double { number(.gap) ?? 0 }
        var horizontal: HorizontalAlignment {
            switch word(.align) {
            case "center": .center
            case "end": .trailing
            default: .leading
            }
        }
        var vertical: VerticalAlignment {
            switch word(.align) {
            case "center": .center
            case "end": .bottom
            default: .top
            }
        }
        var both: Alignment { Alignment(horizontal: .leading, vertical: vertical) }

        // MARK: Sizes

        var width: CGFloat? { length(.width) }
        var height: CGFloat? { length(.height) }
        var maximumWidth: CGFloat? {
            let fills = word(.width) == "fill" || grows && (parent == .row || parent == .wrap)
            return length(.maxWidth) ?? (fills ? .infinity : nil)
        }
        var maximumHeight: CGFloat? { word(.height) == "fill" || grows && parent == .column ? .infinity : nil }
        var hasWidthOfContent: Bool { word(.width) == "content" }
        var hasHeightOfContent: Bool { word(.height) == "content" }
        private var grows: Bool { (number(.grow) ?? 0) > 0 }
        var paddingInline: Double { number(.paddingInline) ?? 0 }
        var paddingBlock: Double { number(.paddingBlock) ?? 0 }
        var ratio: CGFloat? { length(.ratio) }
        var contentMode: ContentMode { word(.fit) == "cover" ? .fill : .fit }

        // MARK: Colours and shapes

        func background(_ scheme: ColorScheme) -> Color { color(.background, scheme) ?? .clear }
        func foreground(_ scheme: ColorScheme) -> Color? { color(.color, scheme) }
        func border(_ scheme: ColorScheme) -> Color { color(.border, scheme) ?? .clear }
        var radius: Double { number(.radius) ?? 0 }
        var shadow: Double { number(.shadow) ?? 0 }
        var opacity: Double { number(.opacity) ?? 1 }
        var isClipped: Bool { node.value(.clip) == .flag(true) || radius > 0 || contentMode == .fill }

        // MARK: Text

        var font: Font? {
            switch word(.font) {
            case "caption": .caption
            case "footnote": .footnote
            case "callout": .callout
            case "body": .body
            case "title3": .title3
            case "title2": .title2
            case "title": .title
            case "largeTitle": .largeTitle
            default: nil
            }
        }
        var weight: Font.Weight? {
            switch word(.weight) {
            case "regular": .regular
            case "medium": .medium
            case "semibold": .semibold
            case "bold": .bold
            default: nil
            }
        }
        var textAlignment: TextAlignment? {
            switch word(.textAlign) {
            case "start": .leading
            case "center": .center
            case "end": .trailing
            default: nil
            }
        }
        var lines: Int? { number(.lines).map { Int($0) } }
        var isUnderlined: Bool { word(.decoration) == "underline" }
        var isStruck: Bool { word(.decoration) == "strike" }

        // MARK: Effects

        var rotation: Double { number(.rotate) ?? 0 }
        var scale: Double { number(.scale) ?? 1 }
        var animation: ViewAnimation? {
            if case .animation(let animation) = node.value(.animate) { animation } else { nil }
        }
    }
#endif
