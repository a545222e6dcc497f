#if canImport(SwiftUI)
    public import SwiftUI

    extension View {
        /// Observes the screens in a window, and whether it is in the foreground.
        ///
        /// Apply it to the root view of each `WindowGroup`. Without it, `.screen("orders")` does nothing.
        public func screens(_ screens: Screens) -> some View { modifier(WindowModifier(screens: screens)) }

        /// Makes this view a screen, whose appearances are reported.
        ///
        /// SwiftUI calls `onAppear` before the first frame, and `onDisappear` after the view has left the window.
        ///
        /// - Parameter name: The name in each ``ScreenEvent``. It is read when the view appears.
        public func screen(_ name: String) -> some View { modifier(ScreenModifier(name: name)) }
    }

    /// A window of SwiftUI, for the views in it.
    private struct ObservedWindow: Sendable {
        let screens: Screens
        let scene: String
    }

    private struct WindowKey: EnvironmentKey {
        static let defaultValue: ObservedWindow? = nil
    }

    extension EnvironmentValues {
        fileprivate var screenWindow: ObservedWindow? {
            get { self[WindowKey.self] }
            set { self[WindowKey.self] = newValue }
        }
    }

    /// Holds the witness of a view between its appearances. It is made at the first use, since SwiftUI makes and
    /// discards initial values of a state.
    @MainActor private final class Lifetime {
        private var witness: Witness?

        func number(for screens: Screens, end: (Int) -> ScreenMachine.Signal) -> Int {
            let witness = witness ?? Witness(for: screens, end: end)
            self.witness = witness
            return witness.number
        }
    }

    private struct WindowModifier: ViewModifier {
        let screens: Screens
        @Environment(\.scenePhase) private var phase
        @State private var lifetime = Lifetime()

        private static func name(_ number: Int) -> String { "window \(number)" }

        func body(content: Content) -> some View {
            let scene = Self.name(
                lifetime.number(for: screens) { .scene(Self.name($0), .disconnected) })
            content
                .environment(\.screenWindow, ObservedWindow(screens: screens, scene: scene))
                .onChange(of: phase, initial: true) {
                    screens.receive(.scene(scene, phase == .background ? .background : .foreground))
                }
        }
    }

    private struct ScreenModifier: ViewModifier {
        let name: String
        @Environment(\.screenWindow) private var window
        @Environment(\.scenePhase) private var phase
        @State private var lifetime = Lifetime()

        func body(content: Content) -> some View {
            content
                .onAppear {
                    guard let window, let number else { return }
                    window.screens.receive(
                        .appeared(
                            .init(
                                id: number, name: name, scene: window.scene, isForeground: phase != .background)))
                }
                .onDisappear {
                    if let window, let number { window.screens.receive(.disappeared(number, isClosed: false)) }
                }
        }

        private var number: Int? { window.map { lifetime.number(for: $0.screens) { .released($0) } } }
    }
#endif
