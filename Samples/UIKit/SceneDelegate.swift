import RunwayMediator
import UIKit

/// The window of the app, which Info.plist names (UIApplicationSceneManifest).
final class SceneDelegate: UIResponder, UIWindowSceneDelegate {
    var window: UIWindow?
    private var shell: NavigationShell?

    func scene(
        _ scene: UIScene, willConnectTo session: UISceneSession, options connectionOptions: UIScene.ConnectionOptions
    ) {
        guard let scene = scene as? UIWindowScene, let app = UIApplication.shared.delegate as? AppDelegate else {
            return
        }
        let window = UIWindow(windowScene: scene)
        let rentals = RentalListController(
            network: app.network, films: app.films, favourites: app.favourites, bridge: app.bridge)
        let shell = NavigationShell(mediator: app.mediator, root: rentals) {
            ShopController($0, bridge: app.bridge, mediator: app.mediator)
        }
        rentals.openOrders = { [weak shell] in shell?.showWeb("\(Shop.site)/\(Shop.page)") }
        window.rootViewController = shell.controller
        app.mediator.shell = shell
        self.shell = shell
        window.makeKeyAndVisible()
        self.window = window
    }

    /// Pages open in the window where the user works.
    func sceneDidBecomeActive(_ scene: UIScene) {
        (UIApplication.shared.delegate as? AppDelegate)?.mediator.shell = shell
    }

    /// A launch in the background may have been before the device was unlocked.
    func sceneWillEnterForeground(_ scene: UIScene) {
        (UIApplication.shared.delegate as? AppDelegate)?.films.start()
    }
}
