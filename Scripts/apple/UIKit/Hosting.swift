public import AppleFoundation
public import SwiftUI

// What SwiftUI declares for UIKit, with UIKit's stubs, since SwiftUI's know nothing of UIKit.

// developer.apple.com: UIHostingController
open class UIHostingController<Content: View>: UIViewController {
    public let rootView: Content
    public init(rootView: Content) {
        self.rootView = rootView
        super.init(nibName: nil, bundle: nil)
    }
    public required init?(coder: NSCoder) { nil }
}
// developer.apple.com: UIViewControllerRepresentable, UIViewControllerRepresentableContext
@MainActor @preconcurrency public protocol UIViewControllerRepresentable: View where Body == Never {
    associatedtype UIViewControllerType: UIViewController
    typealias Context = UIViewControllerRepresentableContext<Self>
    func makeUIViewController(context: Context) -> UIViewControllerType
    func updateUIViewController(_ uiViewController: UIViewControllerType, context: Context)
}
extension UIViewControllerRepresentable { public var body: Never { fatalError("Nothing is drawn.") } }
@MainActor public struct UIViewControllerRepresentableContext<Representable> {}
