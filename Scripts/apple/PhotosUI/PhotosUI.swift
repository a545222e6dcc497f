public import AppleFoundation
public import UIKit

// Declarations of PhotosUI that RunwayBridge uses, as developer.apple.com/documentation/photosui declares them.

// developer.apple.com: NSItemProvider.loadDataRepresentation(forTypeIdentifier:completionHandler:), of Foundation
open class NSItemProvider: NSObject {
    private let fakeData: Data?
    public init(fakeData: Data?) { self.fakeData = fakeData }
    open func loadDataRepresentation(
        forTypeIdentifier typeIdentifier: String,
        completionHandler: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) -> Progress {
        completionHandler(fakeData, nil)
        return Progress()
    }
}
// developer.apple.com: Progress, of Foundation
open class Progress: NSObject {}

// developer.apple.com: PHPickerFilter, PHPickerConfiguration, PHPickerResult
public struct PHPickerFilter: Sendable { public static let images = PHPickerFilter() }
public struct PHPickerConfiguration {
    public var filter: PHPickerFilter?
    public init() {}
}
public struct PHPickerResult {
    public let itemProvider: NSItemProvider
    public init(fakeProvider: NSItemProvider) { itemProvider = fakeProvider }
}

// developer.apple.com: PHPickerViewController, PHPickerViewControllerDelegate
@MainActor open class PHPickerViewController: UIViewController {
    public weak var delegate: (any PHPickerViewControllerDelegate)?
    public convenience init(configuration: PHPickerConfiguration) { self.init(nibName: nil, bundle: nil) }
    // Tests show it in no window.
    open override func dismiss(animated flag: Bool, completion: (() -> Void)? = nil) {}
}
@MainActor public protocol PHPickerViewControllerDelegate: NSObjectProtocol {
    func picker(_ picker: PHPickerViewController, didFinishPicking results: [PHPickerResult])
}
