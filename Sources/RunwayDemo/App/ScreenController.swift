#if Command
    import Runway

    /// A controller of one screen: it shows what lands, and the error of what failed.
    @MainActor
    protocol ScreenController: APIManagerDelegate {
        /// The screen of the controller.
        var screen: Screen { get }

        /// Shows the response that landed.
        func show(_ manager: any APIManaging) throws(NetworkError)
    }

    extension ScreenController {
        func apiManagerDidSucceed(_ manager: any APIManaging) {
            do throws(NetworkError) {
                try show(manager)
            } catch {
                screen.show(error)
            }
            screen.landed(manager.landedFlight)
        }

        func apiManager(_ manager: any APIManaging, didFailWith error: NetworkError) {
            screen.show(error)
            screen.landed(manager.landedFlight)
        }
    }
#endif
