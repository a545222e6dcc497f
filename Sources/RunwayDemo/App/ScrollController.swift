#if Command
    import Runway

    /// A screen with a list that is extended as the user scrolls.
    @MainActor
    final class ScrollController: ScreenController {
        let screen: Screen
        let homes: PagedAPIManager<SecondHandPages>

        init(network: NetworkLayer, screen: Screen) {
            self.screen = screen
            homes = PagedAPIManager(on: network)
            homes.delegate = self
        }

        func show(_ manager: any APIManaging) throws(NetworkError) {
            screen.show(try manager.fetch(PropertyListReformer()))
        }
    }
#endif
