import Foundation
import Runway
import RunwayMediator
import RunwayScreens
import RunwayStorage
import UIKit

@main
final class AppDelegate: UIResponder, UIApplicationDelegate {
    /// One layer for the whole app. The keychain holds its tokens between launches, and calls in flight end in the background.
    let network = NetworkLayer(tokens: KeychainTokenStore(), grace: AppGrace(application: .shared))
    private(set) lazy var films = FilmDownloads(on: network)
    let mediator = Mediator { AddressModule() }
    /// What the pages of the shop may ask.
    private(set) lazy var bridge = Shop.bridge(over: network, in: mediator)
    /// What the app remembers, once its file is open.
    private(set) lazy var favourites = Task { [network] in
        try await FavouriteCenter.open(over: network).favourites
    }

    private let screens = Screens(AppScreens.rules)
    /// What the user does, for the server.
    private lazy var log = ActionLog(
        at: URL(fileURLWithPath: NSHomeDirectory()).appendingPathComponent(
            "Library/Application Support/Actions/actions.sqlite"),
        sendingTo: Listings.self, at: "log", over: network)

    func application(
        _ application: UIApplication, didFinishLaunchingWithOptions options: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        // At every launch, also one in the background, where no scene is shown.
        films.start()
        record(screens, in: log)
        screens.install()
        return true
    }

    /// The system has launched the app since a download has ended.
    func application(
        _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String,
        completionHandler: @escaping () -> Void
    ) {
        films.handleEvents(completionHandler)
    }
}
