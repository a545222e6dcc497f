#if canImport(UIKit) && canImport(WebKit)
    import CoreLocation
    import CoreMotion
    import Foundation
    import PhotosUI
    import Runway
    public import UIKit

    extension DeviceFunctions {
        /// Returns the functions of this device.
        ///
        /// The system asks the user for the position, with the sentence `NSLocationWhenInUseUsageDescription` of the
        /// app's `Info.plist`. The picker of photos needs no permission: the app receives only what the user picks.
        ///
        /// - Parameter controller: Returns the controller that presents the picker and the sheet for sharing; `nil`
        ///   makes them fail with ``BridgeError/Kind/unavailable``.
        public static func live(
            presentingFrom controller: @escaping @MainActor @Sendable () -> UIViewController?
        ) -> DeviceFunctions {
            DeviceFunctions(
                networkStatus: PathNetworkStatus(), location: position,
                motion: { try await DeviceMotions().stream() },
                photo: { try await Sheet<Data>().result { try PhotoPicker.present(for: $0, from: controller()) } },
                share: { item in
                    try await Sheet<Void>().result { sheet in
                        let (text, url) = (item.text.map { [$0] }, item.url.flatMap { URL(string: $0) }.map { [$0] })
                        let items: [Any] = (text ?? []) + (url ?? [])
                        let view = UIActivityViewController(activityItems: items, applicationActivities: nil)
                        view.completionWithItemsHandler = { _, isDone, _, _ in
                            sheet.end(isDone ? .success(()) : .failure(.closedByUser))
                        }
                        return try view.presented(from: controller())
                    }
                }, haptic: { await $0.play() })
        }

        private static func position() async throws -> Position {
            // While the session is valid, the system asks the user for permission if it has to.
            let session = CLServiceSession(authorization: .whenInUse)
            defer { session.invalidate() }
            for try await update in CLLocationUpdate.liveUpdates() {
                if update.authorizationDenied || update.authorizationDeniedGlobally || update.authorizationRestricted {
                    throw BridgeError(.notPermitted, "The app may not use the position of the device.")
                }
                if let location = update.location {
                    return Position(
                        latitude: location.coordinate.latitude, longitude: location.coordinate.longitude,
                        accuracy: location.horizontalAccuracy)
                }
            }
            throw BridgeError(.unavailable, "The device has no position.")
        }
    }

    extension BridgeError {
        fileprivate static let closedByUser = BridgeError(.closed, "The user closed it without a result.")
    }

    extension UIViewController {
        /// Presents this controller, and returns it.
        fileprivate func presented(from controller: UIViewController?) throws(BridgeError) -> UIViewController {
            guard let controller else { throw BridgeError(.unavailable, "No window can show it.") }
            // On an iPad a sheet for sharing points at a view.
            popoverPresentationController?.sourceView = controller.view
            controller.present(self, animated: true)
            return self
        }
    }

    /// A controller that is presented until the user ends it, or until the task is cancelled.
    @MainActor private final class Sheet<Value: Sendable> {
        private var continuation: CheckedContinuation<Value, any Error>?
        private weak var controller: UIViewController?
        private var isCancelled = false

        func result(_ present: @MainActor (Sheet<Value>) throws -> UIViewController) async throws -> Value {
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    self.continuation = continuation
                    if isCancelled { return end(.failure(.closedByUser)) }
                    do { controller = try present(self) } catch { finish { $0.resume(throwing: error) } }
                }
            } onCancel: {
                Task { @MainActor in self.cancel() }
            }
        }

        func end(_ result: Result<Value, BridgeError>) {
            finish { $0.resume(with: result.mapError { $0 as any Error }) }
        }

        private func finish(_ resume: (CheckedContinuation<Value, any Error>) -> Void) {
            guard let continuation else { return }
            self.continuation = nil
            resume(continuation)
        }

        private func cancel() {
            isCancelled = true
            controller?.dismiss(animated: true)
            end(.failure(.closedByUser))
        }
    }

    /// Lets the user pick one picture.
    @MainActor private final class PhotoPicker: NSObject, PHPickerViewControllerDelegate {
        private let sheet: Sheet<Data>
        /// Retains this object until it is called as the delegate, which `PHPickerViewController` refers to weakly.
        private var retained: PhotoPicker?

        static func present(
            for sheet: Sheet<Data>, from controller: UIViewController?
        ) throws(BridgeError) -> UIViewController {
            var configuration = PHPickerConfiguration()
            configuration.filter = .images
            let view = PHPickerViewController(configuration: configuration)
            let picker = PhotoPicker(sheet)
            picker.retained = picker
            view.delegate = picker
            // A sheet that is swiped down notifies no delegate.
            view.isModalInPresentation = true
            return try view.presented(from: controller)
        }

        private init(_ sheet: Sheet<Data>) { self.sheet = sheet }

        func picker(_ picker: PHPickerViewController, didFinishPicking results: [PHPickerResult]) {
            picker.dismiss(animated: true)
            retained = nil
            guard let provider = results.first?.itemProvider else { return sheet.end(.failure(.closedByUser)) }
            _ = provider.loadDataRepresentation(forTypeIdentifier: "public.image") { [sheet] data, _ in
                // Encoded anew from its pixels: a file may contain where and when a photograph was taken.
                let picture = data.flatMap { UIImage(data: $0)?.jpegData(compressionQuality: 0.9) }
                Task { @MainActor in
                    sheet.end(
                        picture.map { .success($0) }
                            ?? .failure(BridgeError(.unavailable, "The picture can't be loaded.")))
                }
            }
        }
    }

    /// Reads the motion of the device while the stream is read.
    @MainActor private final class DeviceMotions {
        private let manager = CMMotionManager()

        func stream() throws -> AsyncThrowingStream<DeviceFunctions.Motion, any Error> {
            let unavailable = BridgeError(.unavailable, "The device does not report its motion.")
            guard manager.isDeviceMotionAvailable else { throw unavailable }
            manager.deviceMotionUpdateInterval = 1.0 / 30
            return AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
                manager.startDeviceMotionUpdates(to: .main) { motion, _ in
                    guard let motion else { return continuation.finish(throwing: unavailable) }
                    let acceleration = motion.userAcceleration
                    continuation.yield(
                        DeviceFunctions.Motion(
                            roll: motion.attitude.roll, pitch: motion.attitude.pitch, yaw: motion.attitude.yaw,
                            acceleration: [acceleration.x, acceleration.y, acceleration.z]))
                }
                continuation.onTermination = { _ in Task { @MainActor in self.manager.stopDeviceMotionUpdates() } }
            }
        }
    }

    extension DeviceFunctions.Haptic {
        @MainActor fileprivate func play() {
            switch self {
            case .light: UIImpactFeedbackGenerator(style: .light).impactOccurred()
            case .medium: UIImpactFeedbackGenerator(style: .medium).impactOccurred()
            case .heavy: UIImpactFeedbackGenerator(style: .heavy).impactOccurred()
            case .success: UINotificationFeedbackGenerator().notificationOccurred(.success)
            case .warning: UINotificationFeedbackGenerator().notificationOccurred(.warning)
            case .error: UINotificationFeedbackGenerator().notificationOccurred(.error)
            }
        }
    }
#endif
