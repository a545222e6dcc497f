#if canImport(SwiftUI)
    public import Foundation
    public import SwiftUI

    /// Shows a tree with views of SwiftUI, which lays it out.
    ///
    /// Lists are lazy: a row is made when it is about to be visible. Fonts follow the size that the user prefers, and
    /// motion stops if the user reduces it.
    public struct TreeView: View {
        private let root: ViewNode
        private let host: TreeHost

        /// Creates a view.
        ///
        /// - Parameters:
        ///   - tree: The tree to show. Make it outside the main actor.
        ///   - addresses: The addresses of images that are loaded. The default is ``ViewAddresses/https``.
        ///   - files: The folder of the images that have no scheme; by default there is none, and they are not shown.
        ///   - slots: The app's own views by the names of slots. Each is made of the parameters of the slot, as JSON
        ///     text. A slot whose name is absent shows its `else`.
        ///   - onEvent: Receives each event, with the text of a changed input, or `true` or `false` for a switch.
        public init(
            _ tree: ViewTree,
            addresses: ViewAddresses = .https,
            files: URL? = nil,
            slots: [String: @MainActor @Sendable (_ parameters: ArraySlice<UInt8>) -> AnyView] = [:],
            onEvent: @escaping @MainActor @Sendable (_ event: ViewEvent, _ value: String?) -> Void
        ) {
            root = tree.root
            host = TreeHost(addresses: addresses, files: files, slots: slots, onEvent: onEvent)
        }

        /// The view of the root.
        public var body: some View { NodeView(node: root, parent: .column).environment(\.treeHost, host) }
    }

    /// The app's side of a tree.
    struct TreeHost: Sendable {
        var addresses = ViewAddresses.https
        var files: URL?
        var slots: [String: @MainActor @Sendable (_ parameters: ArraySlice<UInt8>) -> AnyView] = [:]
        var onEvent: @MainActor @Sendable (_ event: ViewEvent, _ value: String?) -> Void = { _, _ in }

        /// The URL of an image; `nil` if its address is not allowed.
        func url(of address: String) -> URL? {
            guard addresses.allows(address) else { return nil }
            return address.contains("://") ? URL(string: address) : files?.appending(path: address)
        }
    }

    private struct TreeHostKey: EnvironmentKey {
        static let defaultValue = TreeHost()
    }

    extension EnvironmentValues {
        var treeHost: TreeHost {
            get { self[TreeHostKey.self] }
            set { self[TreeHostKey.self] = newValue }
        }
    }
#endif
