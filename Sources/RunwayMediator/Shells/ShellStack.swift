#if canImport(SwiftUI)
    public import SwiftUI
    #if canImport(UIKit) && !os(watchOS)
        import UIKit
    #endif

    /// Shows the screens of a ``StackShell`` above the root view of a window.
    ///
    /// Each stack is a `NavigationStack`, whose path has screens of the mediator only: links inside the app that push a
    /// value do not work in it, and links with a destination do.
    public struct ShellStack<Root: View>: View {
        private let shell: StackShell
        private let root: Root

        /// Creates the view of a window.
        ///
        /// - Parameters:
        ///   - shell: Has the screens.
        ///   - root: The view below all screens. A screen that opens as ``Presentation/root`` replaces it.
        public init(_ shell: StackShell, @ViewBuilder root: () -> Root) {
            self.shell = shell
            self.root = root()
        }

        /// The stacks of the window.
        public var body: some View { LayerView(shell: shell, id: nil, root: AnyView(root)) }
    }

    /// One stack, and the one that it presents.
    private struct LayerView: View {
        let shell: StackShell
        let id: ScreenID?
        /// The view below all screens; `nil` if the first screen is the lowest.
        let root: AnyView?

        var body: some View {
            NavigationStack(path: path) {
                lowest.navigationDestination(for: ScreenLayers.Entry.self) { EntryView(entry: $0) }
            }
            .sheet(item: presented(as: .sheet)) { LayerView(shell: shell, id: $0.id, root: nil) }
            #if os(macOS)
                .sheet(item: presented(as: .cover)) { LayerView(shell: shell, id: $0.id, root: nil) }
            #else
                .fullScreenCover(item: presented(as: .cover)) { LayerView(shell: shell, id: $0.id, root: nil) }
            #endif
        }

        private var depth: Int? { shell.layers.all.firstIndex { $0.id == id } }
        /// `nil` while the view of a closed stack goes.
        private var layer: ScreenLayers.Layer? { depth.map { shell.layers.all[$0] } }

        @ViewBuilder private var lowest: some View {
            if let layer, layer.rootCount == 1, let first = layer.entries.first {
                EntryView(entry: first)
            } else {
                root
            }
        }

        private var path: Binding<[ScreenLayers.Entry]> {
            Binding(
                get: { layer.map { Array($0.entries.dropFirst($0.rootCount)) } ?? [] },
                set: { shell.setPath($0, of: id) })
        }

        private func presented(as presentation: Presentation) -> Binding<ScreenLayers.Layer?> {
            let next = depth.flatMap { shell.layers.all.dropFirst($0 + 1).first }
            let shown = next?.presentation == presentation ? next : nil
            return Binding(get: { shown }, set: { if $0 == nil { shell.dismiss(shown?.id) } })
        }
    }

    private struct EntryView: View {
        let entry: ScreenLayers.Entry

        var body: some View {
            if let view = entry.screen.content(as: (any View).self) { AnyView(view) }
            #if canImport(UIKit) && !os(watchOS)
                if let controller = entry.screen.content(as: UIViewController.self) {
                    ControllerView(controller: controller)
                }
            #endif
        }
    }

    #if canImport(UIKit) && !os(watchOS)
        private struct ControllerView: UIViewControllerRepresentable {
            let controller: UIViewController
            func makeUIViewController(context: Context) -> UIViewController { controller }
            func updateUIViewController(_ controller: UIViewController, context: Context) {}
        }
    #endif
#endif
