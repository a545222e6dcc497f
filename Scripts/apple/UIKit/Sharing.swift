public import AppleFoundation

// developer.apple.com: UIActivity.ActivityType, UIActivityViewController
open class UIActivity: NSObject {
    public struct ActivityType: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
    }
}
@MainActor open class UIActivityViewController: UIViewController {
    public typealias CompletionWithItemsHandler = (UIActivity.ActivityType?, Bool, [Any]?, (any Error)?) -> Void
    open var completionWithItemsHandler: CompletionWithItemsHandler?
    public convenience init(activityItems: [Any], applicationActivities: [UIActivity]?) {
        self.init(nibName: nil, bundle: nil)
    }
}

// developer.apple.com: UIPopoverPresentationController, UIViewController.isModalInPresentation
@MainActor open class UIPopoverPresentationController: NSObject {
    open var sourceView: UIView?
}
extension UIViewController {
    public var popoverPresentationController: UIPopoverPresentationController? { nil }
    public var isModalInPresentation: Bool {
        get { false }
        set {}
    }
}

// developer.apple.com: UIImpactFeedbackGenerator, UINotificationFeedbackGenerator
@MainActor open class UIImpactFeedbackGenerator: NSObject {
    public enum FeedbackStyle: Int, Sendable { case light, medium, heavy }
    public init(style: FeedbackStyle) {}
    open func impactOccurred() {}
}
@MainActor open class UINotificationFeedbackGenerator: NSObject {
    public enum FeedbackType: Int, Sendable { case success, warning, error }
    open func notificationOccurred(_ notificationType: FeedbackType) {}
}
