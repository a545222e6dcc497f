#if canImport(UIKit) && !os(watchOS)
    import SwiftUI
    public import UIKit

    /// Shows screens in a window of UIKit: a navigation controller, and those that are presented above it.
    ///
    /// ```swift
    /// let shell = NavigationShell(mediator: mediator, root: OrderList(mediator: mediator)) { WebController($0) }
    /// window.rootViewController = shell.controller
    /// mediator.shell = shell
    /// ```
    ///
    /// The scene's delegate holds the shell, and sets ``Mediator/shell`` whenever its scene becomes active.
    ///
    /// The content of each ``Screen`` is a controller, or a view of SwiftUI. A screen that goes, by a swipe or by code
    /// of the app, ends the wait of its caller (``MediatorError/Kind/closed``), as do the screens above it. The app may
    /// push and present controllers of its own.
    ///
    /// UIKit drops what is asked of it during a transition. The shell compares what it has to show with what UIKit
    /// shows, and makes one change after the other, each when the last one has ended.
    @MainActor public final class NavigationShell: Shell {
        /// The controller of the window, or of a tab.
        public let controller: UINavigationController
        private let root: UIViewController
        private let mediator: Mediator
        private let web: (String) -> UIViewController
        private var webCount = 0

        /// The screens that have to be shown.
        private var layers = ScreenLayers()
        /// The screens that UIKit shows, as far as the shell has made it show them.
        private var shown: [ShownLayer]
        /// Whether a controller is being presented or dismissed.
        private var isChanging = false
        private var isScheduled = false

        /// Creates the controller of a window.
        ///
        /// - Parameters:
        ///   - mediator: Is notified of closed screens. The shell holds it.
        ///   - root: The controller below all screens. A screen that opens as ``Presentation/root`` replaces it.
        ///   - web: Makes the controller that shows a web page of the site. Its web view asks
        ///     ``Mediator/navigate(to:in:)``.
        public init(mediator: Mediator, root: UIViewController, web: @escaping (String) -> UIViewController) {
            let stack = StackController(rootViewController: root)
            controller = stack
            self.root = root
            self.mediator = mediator
            self.web = web
            shown = [ShownLayer(id: nil, stack: stack)]
            stack.whenChanged = { [weak self] in self?.schedule() }
        }

        /// Shows a screen: ``Presentation/push``, ``Presentation/sheet``, ``Presentation/cover`` and
        /// ``Presentation/root``. Any other presentation is a push.
        public func show(_ screen: Screen, id: ScreenID, of page: any Page, as presentation: Presentation) {
            report(layers.show(ScreenLayers.Entry(id: id, screen: screen), as: presentation))
            settle()
        }

        /// Pushes a web page.
        public func showWeb(_ address: String) {
            webCount += 1
            let entry = ScreenLayers.Entry(id: ScreenID(web: webCount), screen: Screen(web(address)))
            report(layers.show(entry, as: .push))
            settle()
        }

        /// Closes a screen and all that are above it.
        public func close(_ id: ScreenID) {
            report(layers.close(id).filter { $0 != id })
            settle()
        }

        private func report(_ closed: [ScreenID]) {
            for id in closed { mediator.didClose(id) }
        }

        /// Settles in the next turn of the main actor, when the callback of UIKit has returned.
        private func schedule() {
            if isScheduled { return }
            isScheduled = true
            Task { [weak self] in
                self?.isScheduled = false
                self?.settle()
            }
        }

        private func settle() {
            if isChanging { return }
            if let coordinator = shown.lazy.compactMap(\.stack.transitionCoordinator).first {
                coordinator.animate(alongsideTransition: nil) { [weak self] _ in self?.schedule() }
                return
            }
            notice()
            if dismiss() { return }
            // An animation has to end before the next change.
            if stack() { return settle() }
            present()
        }

        /// Removes the screens that UIKit no longer has.
        private func notice() {
            var gone: [ScreenID] = []
            for (depth, layer) in shown.enumerated() {
                if depth > 0, layer.stack.presentingViewController == nil {
                    gone += shown[depth...].flatMap { $0.entries.map(\.id) }
                    shown.removeSubrange(depth...)
                    break
                }
                let controllers = layer.stack.viewControllers
                let first = layer.entries.firstIndex { entry in !controllers.contains { $0 === entry.controller } }
                guard let first else { continue }
                gone += layer.entries[first...].map(\.id)
                shown[depth].entries.removeSubrange(first...)
            }
            layers.remove(gone)
            report(gone.reversed())
        }

        /// Dismisses the lowest stack that is presented and has to go, with those above it.
        private func dismiss() -> Bool {
            let common = zip(shown, layers.all).prefix { $0.id == $1.id }.count
            guard shown.count > common else { return false }
            let presenting = shown[common].stack.presentingViewController
            shown.removeSubrange(common...)
            // The app may have presented a controller of its own below the stack.
            guard let presenting else { return false }
            isChanging = true
            presenting.dismiss(animated: true) { [weak self] in self?.changed() }
            return true
        }

        /// Changes the controllers of the stacks that UIKit has, and leaves those that the app has pushed.
        private func stack() -> Bool {
            var hasChanged = false
            for depth in shown.indices {
                let layer = layers.all[depth]
                let isRoot = depth == 0 && layer.rootCount == 1
                let entries = shown[depth].entries
                var common = zip(entries, layer.entries).prefix { $0.id == $1.id }.count
                guard common != entries.count || common != layer.entries.count else { continue }
                var controllers = shown[depth].stack.viewControllers
                if depth == 0, isRoot != shown[0].isRoot {
                    controllers = isRoot ? [] : [root]
                    common = 0
                } else if common < entries.count {
                    let first = controllers.firstIndex { $0 === entries[common].controller } ?? controllers.endIndex
                    controllers.removeSubrange(first...)
                }
                shown[depth].isRoot = isRoot
                shown[depth].entries.removeSubrange(common...)
                for entry in layer.entries.dropFirst(common) { shown[depth].entries.append(ShownEntry(entry)) }
                controllers += shown[depth].entries[common...].map(\.controller)
                shown[depth].stack.setViewControllers(controllers, animated: depth == shown.count - 1)
                hasChanged = true
            }
            return hasChanged
        }

        /// Presents the next stack, once the window is visible.
        private func present() {
            guard layers.all.count > shown.count, var top = shown.last?.stack as UIViewController?,
                top.viewIfLoaded?.window != nil
            else { return }
            while let other = top.presentedViewController { top = other }
            let layer = layers.all[shown.count]
            let entries = layer.entries.map(ShownEntry.init)
            let stack = StackController(rootViewController: entries[0].controller)
            stack.setViewControllers(entries.map(\.controller), animated: false)
            // `automatic` is a sheet; tvOS has no other name for it.
            stack.modalPresentationStyle = layer.presentation == .cover ? .fullScreen : .automatic
            stack.whenChanged = { [weak self] in self?.schedule() }
            isChanging = true
            top.present(stack, animated: true) { [weak self] in self?.changed() }
            if stack.presentingViewController == nil {
                // UIKit has refused, and does not call the completion.
                isChanging = false
                report(layers.cut(layer.id, to: 0))
            } else {
                shown.append(ShownLayer(id: layer.id, stack: stack, entries: entries))
            }
        }

        private func changed() {
            isChanging = false
            settle()
        }
    }

    /// A stack that UIKit has.
    @MainActor private struct ShownLayer {
        let id: ScreenID?
        let stack: StackController
        var entries: [ShownEntry] = []
        /// Whether the first screen has replaced the root of the app.
        var isRoot = false
    }

    @MainActor private struct ShownEntry {
        let id: ScreenID
        let controller: UIViewController

        init(_ entry: ScreenLayers.Entry) {
            id = entry.id
            if let controller = entry.screen.content(as: UIViewController.self) {
                self.controller = controller
            } else if let view = entry.screen.content(as: (any View).self) {
                controller = UIHostingController(rootView: AnyView(view))
            } else {
                preconditionFailure("the content of a screen is a controller or a view")
            }
        }
    }

    /// Reports each change of its stack, and its end.
    private final class StackController: UINavigationController, UINavigationControllerDelegate {
        var whenChanged: (@MainActor () -> Void)?

        override func viewDidLoad() {
            super.viewDidLoad()
            delegate = self
        }

        override func viewDidAppear(_ animated: Bool) {
            super.viewDidAppear(animated)
            whenChanged?()
        }

        override func viewDidDisappear(_ animated: Bool) {
            super.viewDidDisappear(animated)
            whenChanged?()
        }

        func navigationController(
            _ navigationController: UINavigationController, didShow viewController: UIViewController, animated: Bool
        ) {
            whenChanged?()
        }
    }
#endif
