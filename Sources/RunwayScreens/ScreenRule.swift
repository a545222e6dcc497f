/// Configures controllers of a class and of its subclasses, or makes them screens that are observed.
///
/// ```swift
/// let rules: [ScreenRule] = [
///     .whenLoaded(Controller.self) { $0.isPaper = true },
///     .beforeAppearing(OrderDetails.self) { $0.isBarHidden = true },
///     .screen(OrderList.self, "orders"),
///     .screen(OrderDetails.self) { $0.isDraft ? nil : "order" },
/// ]
/// ```
///
/// List rules for a base class before those for its subclasses. All rules for the class of a controller and for its
/// base classes configure the controller, in the order of the list. The last rule that names the screen wins.
///
/// A rule for a class of UIKit, such as `UIViewController`, applies to subclasses in the app's bundle only, so that it
/// changes no alert of the system. To reach a controller of the system, write a rule for exactly its class, such as
/// `UINavigationController` or `UIHostingController<OrderView>`.
@MainActor public struct ScreenRule {
    /// The effect of a rule on a controller to which it applies.
    enum Effect {
        case configure(Moment, (AnyObject, _ isOwn: Bool) -> Void)
        /// Returns `nil` if the rule does not apply, and an absent name if the controller is no screen.
        case name((AnyObject, _ isOwn: Bool) -> String??)
    }

    /// When a controller is configured.
    enum Moment { case loaded, beforeAppearing }

    let effect: Effect

    /// Configures a controller once, in `viewDidLoad` of its base class.
    ///
    /// If a controller calls `super.viewDidLoad()` first, its own statements run after the rule, and can change what
    /// the rule has set.
    ///
    /// - Parameters:
    ///   - type: The class of the controllers.
    ///   - configure: Receives the controller, whose view is loaded.
    public static func whenLoaded<Controller: AnyObject>(
        _ type: Controller.Type, configure: @escaping @MainActor (Controller) -> Void
    ) -> ScreenRule { rule(for: type, at: .loaded, configure) }

    /// Configures a controller each time before it appears, in `viewWillAppear` of its base class.
    ///
    /// UIKit also calls it when a swipe back is cancelled, and does not promise that the controller then appears.
    ///
    /// - Parameters:
    ///   - type: The class of the controllers.
    ///   - configure: Receives the controller. A second call must change nothing that the first has not.
    public static func beforeAppearing<Controller: AnyObject>(
        _ type: Controller.Type, configure: @escaping @MainActor (Controller) -> Void
    ) -> ScreenRule { rule(for: type, at: .beforeAppearing, configure) }

    /// Makes controllers screens, whose appearances are reported.
    ///
    /// - Parameters:
    ///   - type: The class of the controllers.
    ///   - name: The name in each ``ScreenEvent``.
    public static func screen<Controller: AnyObject>(_ type: Controller.Type, _ name: String) -> ScreenRule {
        screen(type) { _ in name }
    }

    /// Makes controllers screens whose names depend on their state.
    ///
    /// - Parameters:
    ///   - type: The class of the controllers.
    ///   - name: Is called each time a controller appears. If it returns `nil`, the controller is no screen.
    public static func screen<Controller: AnyObject>(
        _ type: Controller.Type, name: @escaping @MainActor (Controller) -> String?
    ) -> ScreenRule {
        ScreenRule(effect: .name { subject(type, $0, isOwn: $1).map { name($0) } })
    }

    private static func rule<Controller: AnyObject>(
        for type: Controller.Type, at moment: Moment, _ configure: @escaping @MainActor (Controller) -> Void
    ) -> ScreenRule {
        ScreenRule(effect: .configure(moment) { subject(type, $0, isOwn: $1).map { configure($0) } })
    }

    /// Returns a controller as the class of a rule, or `nil` if the rule does not apply.
    private static func subject<Controller: AnyObject>(
        _ type: Controller.Type, _ controller: AnyObject, isOwn: Bool
    ) -> Controller? {
        isOwn || Swift.type(of: controller) == type ? controller as? Controller : nil
    }
}

extension [ScreenRule] {
    /// Configures a controller by the rules of a moment, in their order.
    ///
    /// - Parameter isOwn: Whether the class of the controller is the app's.
    @MainActor func configure(_ controller: AnyObject, isOwn: Bool, at moment: ScreenRule.Moment) {
        for rule in self {
            if case .configure(moment, let configure) = rule.effect { configure(controller, isOwn) }
        }
    }

    /// Returns the name that the last rule for the controller states; `nil` if it is no screen.
    @MainActor func name(of controller: AnyObject, isOwn: Bool) -> String? {
        for rule in reversed() {
            if case .name(let name) = rule.effect, let name = name(controller, isOwn) { return name }
        }
        return nil
    }
}
