#if Command
    import Runway

    /// A screen with a list and a map of the same homes: one response through two reformers.
    @MainActor
    final class MapController: ScreenController {
        let screen: Screen
        let homes: APIManager<SecondHandList>

        init(network: NetworkLayer, screen: Screen) {
            self.screen = screen
            homes = APIManager(on: network)
            homes.delegate = self
        }

        func show(_ manager: any APIManaging) throws(NetworkError) {
            screen.show(try manager.fetch(PropertyListReformer()))
            screen.add(try manager.fetch(MapPinReformer()))
        }
    }
#endif
