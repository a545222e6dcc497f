#if canImport(UIKit) && !os(watchOS)
    import Foundation
    import ObjectiveC
    import UIKit

    extension Screens {
        /// The object that receives the callbacks of controllers.
        private static var installed: Screens?
        private static var hasReplacedMethods = false

        /// Begins to configure and observe controllers.
        ///
        /// Call it once, before the first controller loads its view: in
        /// `application(_:didFinishLaunchingWithOptions:)`. A second call has no effect. If another object of
        /// this class calls it, that object receives the callbacks from then on.
        ///
        /// Four methods of `UIViewController` receive another implementation, which calls the original one:
        /// `viewDidLoad`, `viewWillAppear`, `viewDidAppear` and `viewDidDisappear`. If a controller overrides one of
        /// them without calling `super`, that method of it is not observed. The app must have adopted scenes.
        public func install() {
            Self.installed = self
            guard !Self.hasReplacedMethods else { return }
            Self.hasReplacedMethods = true
            UIViewController.extend(#selector(UIViewController.viewDidLoad)) { Self.installed?.didLoad($0) }
            UIViewController.extendAnimated(#selector(UIViewController.viewWillAppear(_:))) {
                Self.installed?.willAppear($0)
            }
            UIViewController.extendAnimated(#selector(UIViewController.viewDidAppear(_:))) {
                Self.installed?.didAppear($0)
            }
            UIViewController.extendAnimated(#selector(UIViewController.viewDidDisappear(_:))) {
                Self.installed?.didDisappear($0)
            }
            let changes: [(Notification.Name, ScreenMachine.SceneChange)] = [
                (UIScene.willEnterForegroundNotification, .foreground), (UIScene.didActivateNotification, .foreground),
                (UIScene.didEnterBackgroundNotification, .background),
                (UIScene.didDisconnectNotification, .disconnected),
            ]
            for (name, change) in changes {
                _ = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { notification in
                    guard let scene = notification.object as? UIScene else { return }
                    MainActor.assumeIsolated {
                        Self.installed?.receive(.scene(scene.session.persistentIdentifier, change))
                    }
                }
            }
        }

        private func didLoad(_ controller: UIViewController) {
            rules.configure(controller, isOwn: isOwn(controller), at: .loaded)
        }

        private func willAppear(_ controller: UIViewController) {
            rules.configure(controller, isOwn: isOwn(controller), at: .beforeAppearing)
        }

        private func didAppear(_ controller: UIViewController) {
            guard let name = name(of: controller), let scene = controller.viewIfLoaded?.window?.windowScene else {
                return
            }
            let ancestors = sequence(first: controller, next: \.parent).dropFirst()
            let isForeground = scene.activationState != .background && scene.activationState != .unattached
            receive(
                .appeared(
                    .init(
                        id: witness(of: controller).number, name: name, scene: scene.session.persistentIdentifier,
                        container: ancestors.first { self.name(of: $0) != nil }.map { witness(of: $0).number },
                        isForeground: isForeground)))
        }

        private func didDisappear(_ controller: UIViewController) {
            guard let witness = controller.witness else { return }
            let isClosed = sequence(first: controller, next: \.parent).contains {
                $0.isBeingDismissed || $0.isMovingFromParent
            }
            receive(.disappeared(witness.number, isClosed: isClosed))
        }

        private func name(of controller: UIViewController) -> String? {
            rules.name(of: controller, isOwn: isOwn(controller))
        }

        private func isOwn(_ controller: UIViewController) -> Bool {
            Self.isOwn(Bundle(for: type(of: controller)).bundlePath, of: Bundle.main.bundlePath)
        }

        private func witness(of controller: UIViewController) -> Witness {
            if let witness = controller.witness { return witness }
            let witness = Witness(for: self) { .released($0) }
            controller.witness = witness
            return witness
        }
    }
#endif
