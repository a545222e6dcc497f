import Runway
import UIKit

@main
final class AppDelegate: UIResponder, UIApplicationDelegate {
    /// One layer for the whole app. The keychain holds its tokens between launches, and calls in flight end in the background.
    let network = NetworkLayer(tokens: KeychainTokenStore(), grace: AppGrace(application: .shared))
    var window: UIWindow?

    func application(
        _ application: UIApplication, didFinishLaunchingWithOptions options: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        let window = UIWindow(frame: UIScreen.main.bounds)
        window.rootViewController = UINavigationController(
            rootViewController: RentalListController(network: network))
        window.makeKeyAndVisible()
        self.window = window
        return true
    }
}
