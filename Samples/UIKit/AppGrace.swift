import Runway
import UIKit

/// Time in the background for the calls that are in flight when the user leaves the app.
struct AppGrace: BackgroundGrace {
    let application: UIApplication
    func begin(_ name: String, onExpiry: @escaping @Sendable () -> Void) -> Int? {
        let task = application.beginBackgroundTask(withName: name) { onExpiry() }
        return task == .invalid ? nil : task.rawValue
    }
    func end(_ token: Int) { application.endBackgroundTask(UIBackgroundTaskIdentifier(rawValue: token)) }
}
