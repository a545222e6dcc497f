import AppleFoundation

// What UIKit does when controllers are pushed and presented. A transition lasts until a test finishes it; what is asked for during one
// is dropped, as UIKit drops it with a line in the console.

// developer.apple.com: UIModalPresentationStyle
public enum UIModalPresentationStyle: Int, Sendable { case automatic = -2, fullScreen = 0, pageSheet }

// developer.apple.com: UIViewControllerTransitionCoordinator, UIViewControllerTransitionCoordinatorContext
@MainActor public protocol UIViewControllerTransitionCoordinatorContext {
    var isCancelled: Bool { get }
}
@MainActor public protocol UIViewControllerTransitionCoordinator: UIViewControllerTransitionCoordinatorContext {
    @discardableResult func animate(
        alongsideTransition animation: ((any UIViewControllerTransitionCoordinatorContext) -> Void)?,
        completion: ((any UIViewControllerTransitionCoordinatorContext) -> Void)?) -> Bool
}

// developer.apple.com: UINavigationControllerDelegate. Its methods are optional there.
@MainActor public protocol UINavigationControllerDelegate: AnyObject {
    func navigationController(
        _ navigationController: UINavigationController, didShow viewController: UIViewController, animated: Bool)
}

/// A transition that is running.
@MainActor public final class FakeTransition: UIViewControllerTransitionCoordinator {
    /// The transitions that a test has not finished yet.
    public private(set) static var running: [FakeTransition] = []
    /// What was asked for during a transition, or outside a window.
    public internal(set) static var dropped: [String] = []

    public private(set) var isCancelled = false
    private let controllers: [UIViewController]
    private let end: (_ isCancelled: Bool) -> Void
    private var completions: [(any UIViewControllerTransitionCoordinatorContext) -> Void] = []

    init(_ controllers: [UIViewController], end: @escaping (_ isCancelled: Bool) -> Void) {
        self.controllers = controllers
        self.end = end
        for controller in controllers { controller.fakeTransition = self }
        Self.running.append(self)
    }

    @discardableResult public func animate(
        alongsideTransition animation: ((any UIViewControllerTransitionCoordinatorContext) -> Void)?,
        completion: ((any UIViewControllerTransitionCoordinatorContext) -> Void)?
    ) -> Bool {
        if let completion { completions.append(completion) }
        return true
    }

    /// Ends the transition as an animation ends, or as a finger that moves back.
    public func finish(cancelling: Bool = false) {
        isCancelled = cancelling
        Self.running.removeAll { $0 === self }
        for controller in controllers { controller.fakeTransition = nil }
        end(cancelling)
        for completion in completions { completion(self) }
    }

    public static func reset() { (running, dropped) = ([], []) }
}

extension UIViewController {
    func fakePresent(_ controller: UIViewController, _ completion: (() -> Void)?) {
        guard let window = view.window, presentedViewController == nil, FakeTransition.running.isEmpty else {
            FakeTransition.dropped.append("present")
            return
        }
        presentedViewController = controller
        controller.presentingViewController = self
        _ = FakeTransition([self, controller]) { _ in
            controller.fakeAppear(in: window)
            (controller as? UINavigationController)?.fakeShowTop(in: window)
            completion?()
        }
    }

    func fakeDismiss(_ completion: (() -> Void)?) {
        if presentedViewController == nil, let presenting = presentingViewController {
            return presenting.fakeDismiss(completion)
        }
        guard FakeTransition.running.isEmpty else {
            FakeTransition.dropped.append("dismiss")
            return
        }
        guard let presented = presentedViewController else { return }
        _ = FakeTransition([self, presented]) { [self] isCancelled in
            if !isCancelled { fakeRemovePresented() }
            completion?()
        }
    }

    private func fakeRemovePresented() {
        guard let presented = presentedViewController else { return }
        presented.fakeRemovePresented()
        presented.fakeDisappear(dismissing: true)
        presented.presentingViewController = nil
        presentedViewController = nil
    }

    /// Begins to swipe the controller down, as its user does.
    public func fakeSwipeDown() { presentingViewController?.fakeDismiss(nil) }
}

extension UINavigationController {
    func fakeShowTop(in window: UIWindow) {
        guard let top = viewControllers.last, top.view.window == nil else { return }
        top.fakeAppear(in: window, of: self)
        delegate?.navigationController(self, didShow: top, animated: true)
    }

    func fakeSet(_ controllers: [UIViewController], animated: Bool) {
        if !FakeTransition.running.isEmpty { FakeTransition.dropped.append("set") }
        let old = viewControllers
        viewControllers = controllers
        fakeChange(from: old, animated: animated)
    }

    /// Begins to swipe back from the top controller, as its user does.
    public func fakeSwipeBack() {
        let old = viewControllers
        viewControllers.removeLast()
        fakeChange(from: old, animated: true)
    }

    private func fakeChange(from old: [UIViewController], animated: Bool) {
        guard let window = view.window, old.last !== viewControllers.last else { return }
        let change = { [self] (isCancelled: Bool) in
            if isCancelled {
                viewControllers = old
                return
            }
            let isPopped = old.last.map { top in !viewControllers.contains { $0 === top } } ?? false
            old.last?.fakeDisappear(popping: isPopped)
            fakeShowTop(in: window)
        }
        if animated { _ = FakeTransition([self], end: change) } else { change(false) }
    }
}
