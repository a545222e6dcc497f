import UIKit

/// The window of the app, which Info.plist names (UIApplicationSceneManifest).
final class SceneDelegate: UIResponder, UIWindowSceneDelegate {
    var window: UIWindow?

    func scene(
        _ scene: UIScene, willConnectTo session: UISceneSession, options connectionOptions: UIScene.ConnectionOptions
    ) {
        guard let scene = scene as? UIWindowScene, let app = UIApplication.shared.delegate as? AppDelegate else {
            return
        }
        let window = UIWindow(windowScene: scene)
        window.rootViewController = UINavigationController(
            rootViewController: RentalListController(
                network: app.network, films: app.films, favourites: app.favourites))
        window.makeKeyAndVisible()
        self.window = window
    }

    /// A launch in the background may have been before the device was unlocked.
    func sceneWillEnterForeground(_ scene: UIScene) {
        (UIApplication.shared.delegate as? AppDelegate)?.films.start()
    }
}
