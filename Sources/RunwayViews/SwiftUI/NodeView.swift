#if canImport(SwiftUI)
    import Foundation
    import SwiftUI

    /// One node: a button if it reacts to taps, so that keyboards and VoiceOver activate it.
    struct NodeView: View {
        let node: ViewNode
        let parent: BoxLayout
        @Environment(\.treeHost) private var host

        var body: some View {
            if let tap = node.tap {
                Button {
                    host.onEvent(tap, nil)
                } label: {
                    StyledNode(node: node, parent: parent)
                }.buttonStyle(.plain)
            } else {
                StyledNode(node: node, parent: parent)
            }
        }
    }

    /// A child, whose state belongs to its key. The places are identified by indices, so that only visible rows are
    /// made.
    private struct ChildView: View {
        let node: ViewNode
        let parent: BoxLayout

        init(of node: ViewNode, at index: Int, in parent: BoxLayout) {
            (self.node, self.parent) = (node.children[index], parent)
        }

        var body: some View { NodeView(node: node, parent: parent).id(node.key) }
    }

    /// A node with its attributes, from the inside to the outside.
    private struct StyledNode: View {
        let node: ViewNode
        let parent: BoxLayout

        var body: some View {
            let style = NodeStyle(node: node, parent: parent)
            NodeContent(node: node)
                .modifier(TextModifier(style: style))
                .modifier(BoxModifier(style: style))
                .modifier(EffectModifier(style: style))
                .modifier(MeaningModifier(node: node))
        }
    }

    /// A node without its attributes.
    private struct NodeContent: View {
        let node: ViewNode
        @Environment(\.treeHost) private var host

        var body: some View {
            let style = NodeStyle(node: node, parent: .column)
            switch node.appearance.kind {
            case .text: Text(node.text)
            case .image:
                AsyncImage(url: host.url(of: node.text)) { image in
                    image.resizable().aspectRatio(style.ratio, contentMode: style.contentMode)
                } placeholder: {
                    Color.clear
                }
            case .box: BoxContent(node: node, style: style)
            case .list:
                ScrollView(.vertical) {
                    LazyVStack(alignment: .leading, spacing: style.gap) {
                        ForEach(node.children.indices, id: \.self) { ChildView(of: node, at: $0, in: .column) }
                    }
                }
            case .pager:
                ScrollView(.horizontal) {
                    LazyHStack(alignment: .top, spacing: 0) {
                        ForEach(node.children.indices, id: \.self) { index in
                            ChildView(of: node, at: index, in: .row).containerRelativeFrame(.horizontal)
                        }
                    }.scrollTargetLayout()
                }.scrollTargetBehavior(.paging)
            case .input: InputView(node: node, text: node.text)
            case .toggle: SwitchView(node: node, isOn: node.appearance.isOn)
            case .spacer: Spacer(minLength: 0)
            case .slot: SlotView(node: node)
            case .use: EmptyView()
            }
        }
    }

    private struct BoxContent: View {
        let node: ViewNode
        let style: NodeStyle

        private var children: some View {
            ForEach(node.children.indices, id: \.self) { ChildView(of: node, at: $0, in: node.appearance.layout) }
        }

        var body: some View {
            switch node.appearance.layout {
            case .row: HStack(alignment: style.vertical, spacing: style.gap) { children }
            case .column: VStack(alignment: style.horizontal, spacing: style.gap) { children }
            case .overlay: ZStack(alignment: style.both) { children }
            case .wrap: WrapLayout(gap: style.gap) { children }
            }
        }
    }

    /// A slot of the app, or its `else`.
    private struct SlotView: View {
        let node: ViewNode
        @Environment(\.treeHost) private var host

        var body: some View {
            if let make = host.slots[node.appearance.name] {
                make(node.appearance.parameters)
            } else if let fallback = node.children.first {
                NodeView(node: fallback, parent: .column)
            }
        }
    }

    /// An input whose text is the user's until the tree has another.
    private struct InputView: View {
        let node: ViewNode
        @State var text: String
        @Environment(\.treeHost) private var host

        var body: some View {
            field
                .onChange(of: node.text) { text = node.text }
                .onSubmit { if let change = node.change { host.onEvent(change, text) } }
        }

        @ViewBuilder private var field: some View {
            if node.appearance.mode == .password {
                SecureField(node.appearance.placeholder, text: $text)
            } else {
                TextField(node.appearance.placeholder, text: $text)
            }
        }
    }

    /// A switch whose state is the user's until the tree has another.
    private struct SwitchView: View {
        let node: ViewNode
        @State var isOn: Bool
        @Environment(\.treeHost) private var host

        var body: some View {
            Toggle(node.label, isOn: $isOn)
                .labelsHidden()
                .onChange(of: node.appearance.isOn) { isOn = node.appearance.isOn }
                .onChange(of: isOn) {
                    if let change = node.change, isOn != node.appearance.isOn { host.onEvent(change, "\(isOn)") }
                }
        }
    }

    /// Rows that are as wide as there is place, each below the former.
    private struct WrapLayout: Layout {
        let gap: Double

        func sizeThatFits(proposal: ProposedViewSize, subviews: Subviews, cache: inout ()) -> CGSize {
            let places = places(of: subviews, width: proposal.width ?? .infinity)
            return CGSize(width: places.map(\.maxX).max() ?? 0, height: places.map(\.maxY).max() ?? 0)
        }

        func placeSubviews(in bounds: CGRect, proposal: ProposedViewSize, subviews: Subviews, cache: inout ()) {
            for (subview, place) in zip(subviews, places(of: subviews, width: bounds.width)) {
                let point = CGPoint(x: bounds.minX + place.minX, y: bounds.minY + place.minY)
                subview.place(at: point, anchor: .topLeading, proposal: ProposedViewSize(place.size))
            }
        }

        private func places(of subviews: Subviews, width: CGFloat) -> [CGRect] {
            var (x, y, height): (CGFloat, CGFloat, CGFloat) = (0, 0, 0)
            return subviews.map { subview in
                let size = subview.sizeThatFits(.unspecified)
                if x > 0, x + size.width > width { (x, y, height) = (0, y + height + gap, 0) }
                defer { (x, height) = (x + size.width + gap, max(height, size.height)) }
                return CGRect(x: x, y: y, width: size.width, height: size.height)
            }
        }
    }
#endif
