import AppleFoundation
import ObjectiveC

// What a test makes UIKit do. The order of callbacks is that of developer.apple.com/documentation/uikit/uiviewcontroller.

extension UIViewController {
    /// Declares the methods that the runtime knows. The original ones note the selector with which they were called.
    nonisolated static func fakeDeclareMethods() {
        FakeRuntime.declare(Selector("viewDidLoad"), of: UIViewController.self) { controller, selector in
            MainActor.assumeIsolated { controller.fakeCalls.append("\(selector)") }
        }
        for name in ["viewWillAppear:", "viewDidAppear:", "viewDidDisappear:"] {
            FakeRuntime.declare(Selector(name), of: UIViewController.self) { controller, selector, animated in
                MainActor.assumeIsolated { controller.fakeCalls.append("\(selector)\(animated)") }
            }
        }
    }

    func fakeSend(_ selector: Selector) {
        guard let method = FakeRuntime.method(selector, of: UIViewController.self) else { return }
        unsafeBitCast(method_getImplementation(method), to: ((UIViewController, Selector) -> Void).self)(self, selector)
    }

    func fakeSend(_ selector: Selector, _ animated: Bool) {
        guard let method = FakeRuntime.method(selector, of: UIViewController.self) else { return }
        let function = unsafeBitCast(
            method_getImplementation(method), to: ((UIViewController, Selector, Bool) -> Void).self)
        function(self, selector, animated)
    }

    /// Loads the view, adds it to a window and calls what UIKit calls then.
    public func fakeAppear(in window: UIWindow, of parent: UIViewController? = nil) {
        self.parent = parent
        if !fakeIsLoaded {
            fakeIsLoaded = true
            viewDidLoad()
        }
        viewWillAppear(true)
        view.window = window
        viewDidAppear(true)
    }

    /// Removes the view from its window: since the controller was popped or dismissed, or since another one hides it. It calls
    /// these children first.
    public func fakeDisappear(popping: Bool = false, dismissing: Bool = false, calling children: [UIViewController] = []) {
        (isMovingFromParent, isBeingDismissed) = (popping, dismissing)
        for child in children { child.fakeDisappear() }
        view.window = nil
        viewDidDisappear(true)
        (isMovingFromParent, isBeingDismissed) = (false, false)
    }
}

extension UIScene {
    /// Changes the state, and posts what UIKit posts. On the way to the foreground it changes between two notifications.
    public func fakeChange(to state: ActivationState) {
        func post(_ name: Notification.Name) { NotificationCenter.default.post(name: name, object: self) }
        let old = activationState
        if state == .foregroundActive, old != .foregroundInactive { post(Self.willEnterForegroundNotification) }
        activationState = state
        switch state {
        case .foregroundActive: post(Self.didActivateNotification)
        case .background: post(Self.didEnterBackgroundNotification)
        case .unattached: if old != .unattached { post(Self.didDisconnectNotification) }
        case .foregroundInactive: break
        }
    }
}
