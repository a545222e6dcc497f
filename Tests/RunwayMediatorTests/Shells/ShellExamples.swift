import Foundation

// The examples of the shells, which Scripts/apple.sh compiles.
#if canImport(SwiftUI)
    import RunwayMediator
    import SwiftUI

    private struct SwiftUIExample: View {
        private struct OrderList: View {
            let mediator: Mediator
            var body: some View { Text("orders") }
        }

        let mediator: Mediator
        let shell: StackShell

        var body: some View {
            ShellStack(shell) { OrderList(mediator: mediator) }
                .onAppear { mediator.shell = shell }
                .onOpenURL { mediator.open($0.absoluteString) }
        }
    }
#endif

#if canImport(UIKit) && !os(watchOS)
    import UIKit

    @MainActor private enum UIKitExample {
        private final class OrderList: UIViewController {
            init(mediator: Mediator) { super.init(nibName: nil, bundle: nil) }
            required init?(coder: NSCoder) { nil }
        }
        private final class WebController: UIViewController {
            init(_ address: String) { super.init(nibName: nil, bundle: nil) }
            required init?(coder: NSCoder) { nil }
        }

        static func show(_ mediator: Mediator, in window: UIWindow) -> NavigationShell {
            let shell = NavigationShell(mediator: mediator, root: OrderList(mediator: mediator)) { WebController($0) }
            window.rootViewController = shell.controller
            mediator.shell = shell
            return shell
        }
    }
#endif
