import Foundation
import Runway
import RunwayScreens
import RunwayStorage
import RunwayTesting
import Testing

// The examples of the documentation, for controllers of no framework, since Linux has no UIKit.

class Controller {
    var isPaper = false
    var isBarHidden = false
}
final class OrderList: Controller {}
final class OrderDetails: Controller { var isDraft = false }

@MainActor let rules: [ScreenRule] = [
    .whenLoaded(Controller.self) { $0.isPaper = true },
    .beforeAppearing(OrderDetails.self) { $0.isBarHidden = true },
    .screen(OrderList.self, "orders"),
    .screen(OrderDetails.self) { $0.isDraft ? nil : "order" },
]

@MainActor final class Journal: ScreensDelegate {
    var events: [ScreenEvent] = []
    var onReport: ((ScreenEvent) -> Void)?

    func screens(_ screens: Screens, didReport event: ScreenEvent) {
        events.append(event)
        onReport?(event)
    }
}

/// Writes what the user sees to the action log.
@MainActor func write(_ screens: Screens, to log: ActionLog) {
    screens.onEvent = { log.record($0.name, ["on": "\($0.screen)", "why": "\($0.reason)", "s": .double($0.seconds)]) }
}

@MainActor private func overviewExample(_ journal: Journal) {
    let screens = Screens(rules)
    screens.delegate = journal
}
