public import AppleFoundation
public import ObjectiveC

// What the samples and RunwayScreens use of UIKit, as developer.apple.com/documentation/uikit declares it. Nothing is drawn.

// developer.apple.com: UIResponder, UIWindow, UIWindow.init(windowScene:)
@MainActor open class UIResponder: FakeObject {
    public nonisolated(unsafe) var fakeAssociations: [UnsafeRawPointer: Any] = [:]
    nonisolated open class func declareMethods() {}
    public init() {}
}
@MainActor open class UIWindow: UIView {
    open var rootViewController: UIViewController?
    // developer.apple.com: UIWindow.windowScene
    open weak var windowScene: UIWindowScene?
    public convenience init(windowScene: UIWindowScene) {
        self.init()
        self.windowScene = windowScene
    }
    open func makeKeyAndVisible() {}
}

// developer.apple.com: UIScene, UIWindowScene, UISceneSession, UIScene.ConnectionOptions
@MainActor open class UIScene: UIResponder {
    @MainActor open class ConnectionOptions {}
    // developer.apple.com: UIScene.ActivationState, UIScene.activationState, UIScene.session
    public enum ActivationState: Int, Sendable { case unattached = -1, foregroundActive, foregroundInactive, background }
    open internal(set) var activationState = ActivationState.unattached
    public let session = UISceneSession()
    // developer.apple.com: UIScene.didEnterBackgroundNotification and others. The scene is the object of each.
    nonisolated public class var willEnterForegroundNotification: Notification.Name { .init("willEnterForeground") }
    nonisolated public class var didActivateNotification: Notification.Name { .init("didActivate") }
    nonisolated public class var didEnterBackgroundNotification: Notification.Name { .init("didEnterBackground") }
    nonisolated public class var didDisconnectNotification: Notification.Name { .init("didDisconnect") }
}
open class UIWindowScene: UIScene {}
@MainActor open class UISceneSession {
    // developer.apple.com: UISceneSession.persistentIdentifier
    public let persistentIdentifier = UUID().uuidString
}
// developer.apple.com: UISceneDelegate, UIWindowSceneDelegate. Their members are optional there.
@MainActor public protocol UISceneDelegate: AnyObject {
    // developer.apple.com: scene(_:willConnectTo:options:)
    func scene(
        _ scene: UIScene, willConnectTo session: UISceneSession, options connectionOptions: UIScene.ConnectionOptions)
    // developer.apple.com: sceneWillEnterForeground(_:)
    func sceneWillEnterForeground(_ scene: UIScene)
}
@MainActor public protocol UIWindowSceneDelegate: UISceneDelegate {
    // developer.apple.com: UIWindowSceneDelegate.window
    var window: UIWindow? { get set }
}

// developer.apple.com: UIApplication, UIApplicationDelegate
@MainActor open class UIApplication: UIResponder {
    public struct LaunchOptionsKey: Hashable, Sendable {}
    // developer.apple.com: UIApplication.shared
    open class var shared: UIApplication { UIApplication() }
    // developer.apple.com: UIApplication.delegate. It can be set there.
    public var delegate: (any UIApplicationDelegate)? { nil }
    // developer.apple.com: UIApplication.open(_:options:completionHandler:)
    public struct OpenExternalURLOptionsKey: Hashable, Sendable {}
    open func open(
        _ url: URL, options: [OpenExternalURLOptionsKey: Any] = [:],
        completionHandler completion: (@MainActor @Sendable (Bool) -> Void)? = nil
    ) { Self.fakeOpened.append(url.absoluteString) }
    /// The addresses that the system was asked to open.
    public static var fakeOpened: [String] = []
    // developer.apple.com: UIApplication.beginBackgroundTask(withName:expirationHandler:)
    nonisolated open func beginBackgroundTask(
        withName taskName: String?, expirationHandler handler: (@MainActor @Sendable () -> Void)? = nil
    ) -> UIBackgroundTaskIdentifier { .invalid }
    // developer.apple.com: UIApplication.endBackgroundTask(_:)
    nonisolated open func endBackgroundTask(_ identifier: UIBackgroundTaskIdentifier) {}
}
// developer.apple.com: UIBackgroundTaskIdentifier
public struct UIBackgroundTaskIdentifier: RawRepresentable, Hashable, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }
    public static let invalid = UIBackgroundTaskIdentifier(rawValue: 0)
}
@MainActor public protocol UIApplicationDelegate: AnyObject {
    init()
    func application(
        _ application: UIApplication, didFinishLaunchingWithOptions options: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool
    // developer.apple.com: application(_:handleEventsForBackgroundURLSession:completionHandler:). Its methods are optional there.
    func application(
        _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String,
        completionHandler: @escaping () -> Void)
}
extension UIApplicationDelegate { public static func main() {} }

// developer.apple.com: UIView
@MainActor open class UIView: UIResponder {
    open var frame = CGRect.zero
    open var bounds: CGRect { .zero }
    public convenience init(frame: CGRect) { self.init() }
    open func addSubview(_ view: UIView) {}
    // developer.apple.com: UIView.window
    open internal(set) weak var window: UIWindow?
    // developer.apple.com: UIView.backgroundColor, translatesAutoresizingMaskIntoConstraints, safeAreaLayoutGuide, topAnchor and others
    open var backgroundColor: UIColor?
    open var translatesAutoresizingMaskIntoConstraints = true
    open var safeAreaLayoutGuide: UILayoutGuide { UILayoutGuide() }
    open var topAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor() }
    open var leadingAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor() }
    open var trailingAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor() }
}
// developer.apple.com/documentation/uikit/uicolor
open class UIColor: @unchecked Sendable {
    public init() {}
    open class var systemBackground: UIColor { UIColor() }
}
// developer.apple.com/documentation/uikit/uilayoutguide
@MainActor open class UILayoutGuide {
    open var topAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor() }
    open var leadingAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor() }
    open var trailingAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor() }
}
// developer.apple.com/documentation/uikit/nslayoutanchor, a generic class there
@MainActor open class NSLayoutXAxisAnchor {
    open func constraint(equalTo anchor: NSLayoutXAxisAnchor) -> NSLayoutConstraint { NSLayoutConstraint() }
}
@MainActor open class NSLayoutYAxisAnchor {
    open func constraint(equalTo anchor: NSLayoutYAxisAnchor) -> NSLayoutConstraint { NSLayoutConstraint() }
}
// developer.apple.com/documentation/uikit/uiimage
open class UIImage: @unchecked Sendable {
    // developer.apple.com/documentation/uikit/uiimage/init(contentsoffile:)
    public init?(contentsOfFile path: String) { nil }
    // developer.apple.com/documentation/uikit/uiimage/init(data:), jpegData(compressionquality:). The pixels follow a NUL.
    public init?(data: Data) {
        guard let mark = data.firstIndex(of: 0) else { return nil }
        fakePixels = data[(mark + 1)...]
    }
    public func jpegData(compressionQuality: Double) -> Data? { fakePixels.map { Data($0) } }
    private(set) var fakePixels: Data?
}
// developer.apple.com/documentation/uikit/uilabel
open class UILabel: UIView {
    open var text: String?
    open var numberOfLines = 1
}
// developer.apple.com/documentation/uikit/uiprogressview
open class UIProgressView: UIView {
    // developer.apple.com/documentation/uikit/uiprogressview/style
    public enum Style: Sendable { case `default`, bar }
    open var progress: Float = 0
    public convenience init(progressViewStyle style: Style) { self.init() }
}
// developer.apple.com/documentation/uikit/uitextfield
open class UITextField: UIView {
    open var text: String?
    open var placeholder: String?
    open var isSecureTextEntry = false
}
// developer.apple.com/documentation/uikit/uisearchbar
open class UISearchBar: UIView { open var text: String? }
// developer.apple.com/documentation/uikit/uistackview
open class UIStackView: UIView {
    open var axis = NSLayoutConstraint.Axis.horizontal
    public convenience init(arrangedSubviews views: [UIView]) { self.init() }
}
// developer.apple.com/documentation/uikit/nslayoutconstraint
@MainActor open class NSLayoutConstraint {
    open class func activate(_ constraints: [NSLayoutConstraint]) {}
    // developer.apple.com/documentation/uikit/nslayoutconstraint/axis
    public enum Axis: Sendable { case horizontal, vertical }
}

// developer.apple.com: UIAction, UIButton, UIBarButtonItem
@MainActor open class UIAction: UIResponder {
    public convenience init(title: String = "", handler: @escaping @MainActor (UIAction) -> Void) { self.init() }
}
open class UIButton: UIView {
    public enum ButtonType: Sendable { case system, custom }
    public convenience init(type: ButtonType = .system, primaryAction: UIAction?) { self.init() }
}
@MainActor open class UIBarButtonItem: UIResponder {
    public convenience init(title: String? = nil, primaryAction: UIAction? = nil) { self.init() }
}

// developer.apple.com: UIViewController, UINavigationController, UINavigationItem
@MainActor open class UIViewController: UIResponder {
    open var title: String?
    open var view = UIView()
    open var navigationItem: UINavigationItem { UINavigationItem() }
    open var navigationController: UINavigationController? { nil }
    public init(nibName: String?, bundle: Bundle?) { super.init() }
    nonisolated open override class func declareMethods() { fakeDeclareMethods() }
    public required init?(coder: NSCoder) { nil }
    // developer.apple.com: UIViewController.viewIfLoaded, parent, isMovingFromParent, isBeingDismissed
    open var viewIfLoaded: UIView? { fakeIsLoaded ? view : nil }
    open internal(set) weak var parent: UIViewController?
    open internal(set) var isMovingFromParent = false
    open internal(set) var isBeingDismissed = false
    // developer.apple.com: UIViewController.viewDidLoad(), viewWillAppear(_:), viewDidAppear(_:), viewDidDisappear(_:). A call of
    // `super` arrives at the implementation that the runtime has.
    open func loadView() {}
    open func viewDidLoad() { fakeSend(Selector("viewDidLoad")) }
    open func viewWillAppear(_ animated: Bool) { fakeSend(Selector("viewWillAppear:"), animated) }
    open func viewDidAppear(_ animated: Bool) { fakeSend(Selector("viewDidAppear:"), animated) }
    open func viewDidDisappear(_ animated: Bool) { fakeSend(Selector("viewDidDisappear:"), animated) }
    // developer.apple.com: UIViewController.present(_:animated:completion:), dismiss(animated:completion:), presentedViewController,
    // presentingViewController, modalPresentationStyle, transitionCoordinator
    open func present(_ controller: UIViewController, animated flag: Bool, completion: (() -> Void)? = nil) {
        fakePresent(controller, completion)
    }
    open func dismiss(animated flag: Bool, completion: (() -> Void)? = nil) { fakeDismiss(completion) }
    open internal(set) var presentedViewController: UIViewController?
    open internal(set) weak var presentingViewController: UIViewController?
    open var modalPresentationStyle = UIModalPresentationStyle.automatic
    open var transitionCoordinator: (any UIViewControllerTransitionCoordinator)? { fakeTransition }
    var fakeTransition: FakeTransition?
    var fakeIsLoaded = false
    /// The calls of the original implementations, each with the selector that it received.
    public internal(set) var fakeCalls: [String] = []
}
open class UINavigationController: UIViewController {
    public init(rootViewController: UIViewController) {
        viewControllers = [rootViewController]
        super.init(nibName: nil, bundle: nil)
    }
    public required init?(coder: NSCoder) { nil }
    // developer.apple.com: UINavigationController.viewControllers, setViewControllers(_:animated:), delegate, isToolbarHidden
    open internal(set) var viewControllers: [UIViewController]
    open func setViewControllers(_ controllers: [UIViewController], animated: Bool) {
        fakeSet(controllers, animated: animated)
    }
    open weak var delegate: (any UINavigationControllerDelegate)?
    open var isToolbarHidden = true
    open func pushViewController(_ controller: UIViewController, animated: Bool) {
        fakeSet(viewControllers + [controller], animated: animated)
    }
}
@MainActor open class UINavigationItem: UIResponder {
    open var searchController: UISearchController?
    open var leftBarButtonItem: UIBarButtonItem?
    open var rightBarButtonItem: UIBarButtonItem?
    open var rightBarButtonItems: [UIBarButtonItem]?
    open var prompt: String?
}

// developer.apple.com: UISearchController, UISearchResultsUpdating
open class UISearchController: UIViewController {
    open weak var searchResultsUpdater: (any UISearchResultsUpdating)?
    open var searchBar: UISearchBar { UISearchBar() }
    public init(searchResultsController: UIViewController?) { super.init(nibName: nil, bundle: nil) }
    public required init?(coder: NSCoder) { nil }
}
@MainActor public protocol UISearchResultsUpdating: AnyObject {
    func updateSearchResults(for searchController: UISearchController)
}

// developer.apple.com: UITableViewController, UITableView, UITableViewCell, UIListContentConfiguration
open class UITableViewController: UIViewController {
    open var tableView: UITableView! { UITableView() }
    public init(style: UITableView.Style) { super.init(nibName: nil, bundle: nil) }
    public required init?(coder: NSCoder) { nil }
    open func tableView(_ tableView: UITableView, numberOfRowsInSection section: Int) -> Int { 0 }
    open func tableView(_ tableView: UITableView, cellForRowAt indexPath: IndexPath) -> UITableViewCell {
        UITableViewCell()
    }
    open func tableView(_ tableView: UITableView, willDisplay cell: UITableViewCell, forRowAt indexPath: IndexPath) {}
    open func tableView(_ tableView: UITableView, didSelectRowAt indexPath: IndexPath) {}
}
open class UITableView: UIView {
    public enum Style: Sendable { case plain, grouped }
    open func register(_ cellClass: AnyClass?, forCellReuseIdentifier identifier: String) {}
    open func dequeueReusableCell(withIdentifier identifier: String, for indexPath: IndexPath) -> UITableViewCell {
        UITableViewCell()
    }
    open func reloadData() {}
}
open class UITableViewCell: UIView {
    open var contentConfiguration: (any UIContentConfiguration)?
    open func defaultContentConfiguration() -> UIListContentConfiguration { UIListContentConfiguration() }
}
public protocol UIContentConfiguration {}
@MainActor public struct UIListContentConfiguration: UIContentConfiguration {
    public var text: String?
    public var secondaryText: String?
    public var image: UIImage?
}
extension IndexPath {
    /// UIKit's own view of the second index.
    public var row: Int { self[1] }
}
