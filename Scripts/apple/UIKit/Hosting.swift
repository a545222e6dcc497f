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
// developer.apple.com: UIViewRepresentable, UIViewRepresentableContext
@MainActor @preconcurrency public protocol UIViewRepresentable: View where Body == Never {
    associatedtype UIViewType: UIView
    typealias Context = UIViewRepresentableContext<Self>
    func makeUIView(context: Context) -> UIViewType
    func updateUIView(_ uiView: UIViewType, context: Context)
}
extension UIViewRepresentable { public var body: Never { fatalError("Nothing is drawn.") } }
@MainActor public struct UIViewRepresentableContext<Representable> {}
// developer.apple.com: UIViewControllerRepresentable, UIViewControllerRepresentableContext
@MainActor @preconcurrency public protocol UIViewControllerRepresentable: View where Body == Never {
    associatedtype UIViewControllerType: UIViewController
    typealias Context = UIViewControllerRepresentableContext<Self>
    func makeUIViewController(context: Context) -> UIViewControllerType
    func updateUIViewController(_ uiViewController: UIViewControllerType, context: Context)
}
extension UIViewControllerRepresentable { public var body: Never { fatalError("Nothing is drawn.") } }
@MainActor public struct UIViewControllerRepresentableContext<Representable> {}
