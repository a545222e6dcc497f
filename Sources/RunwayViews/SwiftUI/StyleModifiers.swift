#if canImport(SwiftUI)
    import Foundation
    import SwiftUI

    /// The attributes of text, which texts inside inherit.
    struct TextModifier: ViewModifier {
        let style: NodeStyle
        @Environment(\.colorScheme) private var scheme
        @Environment(\.font) private var font
        @Environment(\.multilineTextAlignment) private var alignment
        @Environment(\.lineLimit) private var lineLimit

        func body(content: Content) -> some View {
            // Without a colour or a weight, the inherited one applies.
            let colored = content.foregroundStyle(
                style.foreground(scheme).map { AnyShapeStyle($0) } ?? AnyShapeStyle(.foreground))
            colored
                .font(style.font ?? font)
                .fontWeight(style.weight)
                .multilineTextAlignment(style.textAlignment ?? alignment)
                .lineLimit(style.lines ?? lineLimit)
                .underline(style.isUnderlined)
                .strikethrough(style.isStruck)
        }
    }

    /// The attributes of the box around the content.
    struct BoxModifier: ViewModifier {
        let style: NodeStyle
        @Environment(\.colorScheme) private var scheme

        func body(content: Content) -> some View {
            content
                .fixedSize(horizontal: style.hasWidthOfContent, vertical: style.hasHeightOfContent)
                .padding(.horizontal, style.paddingInline)
                .padding(.vertical, style.paddingBlock)
                .frame(width: style.width, height: style.height, alignment: .topLeading)
                .frame(maxWidth: style.maximumWidth, maxHeight: style.maximumHeight, alignment: .topLeading)
                .modifier(RatioModifier(ratio: style.ratio))
                .background(style.background(scheme))
                .clipShape(ClipShape(isClipping: style.isClipped, radius: style.radius))
                .overlay(RoundedRectangle(cornerRadius: style.radius).strokeBorder(style.border(scheme)))
        }
    }

    /// The ratio of width and height. Without one, SwiftUI would take that of the content.
    private struct RatioModifier: ViewModifier {
        let ratio: CGFloat?

        func body(content: Content) -> some View {
            if let ratio { content.aspectRatio(ratio, contentMode: .fit) } else { content }
        }
    }

    /// A rounded rectangle, or one so large that it clips nothing.
    private struct ClipShape: Shape {
        let isClipping: Bool
        let radius: Double

        func path(in rect: CGRect) -> Path {
            isClipping ? Path(roundedRect: rect, cornerRadius: radius) : Path(rect.insetBy(dx: -10_000, dy: -10_000))
        }
    }

    /// The attributes that need no place.
    struct EffectModifier: ViewModifier {
        let style: NodeStyle
        @State private var isAtEnd = false
        @Environment(\.layoutDirection) private var direction
        @Environment(\.accessibilityReduceMotion) private var reducesMotion

        func body(content: Content) -> some View {
            let (isAtEnd, sign) = (isAtEnd, direction == .rightToLeft ? -1.0 : 1.0)
            let move = reducesMotion ? nil : style.animation
            content
                .shadow(radius: style.shadow)
                .opacity(style.opacity)
                .rotationEffect(.degrees(style.rotation))
                .scaleEffect(style.scale)
                .visualEffect { content, geometry in
                    let state = move.map { (property: $0.property, value: isAtEnd ? $0.to : $0.from) }
                    func value(_ property: ViewAnimation.Property, or neutral: Double) -> Double {
                        if let state, state.property == property { state.value } else { neutral }
                    }
                    return
                        content
                        .offset(x: sign * geometry.size.width * value(.slide, or: 0) / 100)
                        .opacity(value(.opacity, or: 1))
                        .scaleEffect(value(.scale, or: 1))
                        .rotationEffect(.degrees(value(.rotate, or: 0)))
                }
                .onAppear {
                    guard let move else { return }
                    let once = Animation.linear(duration: move.seconds)
                    withAnimation(move.repeats ? once.repeatForever(autoreverses: move.reverses) : once) {
                        self.isAtEnd = true
                    }
                }
        }
    }

    /// The meaning of a node for VoiceOver.
    struct MeaningModifier: ViewModifier {
        let node: ViewNode

        func body(content: Content) -> some View {
            let isImageWithoutLabel = node.appearance.kind == .image && node.label.isEmpty
            content
                .accessibilityLabel(Text(node.label), isEnabled: !node.label.isEmpty)
                .accessibilityAddTraits(node.appearance.heading > 0 ? .isHeader : [])
                .accessibilityHidden(isImageWithoutLabel)
        }
    }
#endif
