import Runway
import RunwayScreens
import RunwayStorage
import UIKit

/// What the controllers of the app have in common, and the names of its screens. No controller knows of it.
enum AppScreens {
    @MainActor static let rules: [ScreenRule] = [
        .whenLoaded(UIViewController.self) { $0.view.backgroundColor = .systemBackground },
        .beforeAppearing(RentalController.self) { $0.navigationController?.isToolbarHidden = true },
        .screen(RentalListController.self, "rentals"),
        .screen(RentalController.self, "rental"),
        .screen(SavedController.self, "saved"),
        .screen(SignInController.self, "account"),
    ]
}

/// Writes what the user sees to the action log.
@MainActor func record(_ screens: Screens, in log: ActionLog) {
    screens.onEvent = { log.record($0.name, ["on": "\($0.screen)", "why": "\($0.reason)", "s": .double($0.seconds)]) }
}
