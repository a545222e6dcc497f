#if Command
    import Runway

    /// A screen with all folders of a user. Each is loaded by itself, and they are shown in their order whichever
    /// arrives first.
    @MainActor
    final class FavouritesController: ScreenController {
        let screen: Screen
        let folders: APIManager<Favourites>
        private var rows: [Int: [ViewData]] = [:]

        init(network: NetworkLayer, screen: Screen) {
            self.screen = screen
            folders = APIManager(on: network, overlap: .concurrent)
            folders.delegate = self
        }

        func show(_ manager: any APIManaging) throws(NetworkError) {
            guard let landed = manager.landedEndpoint as? Favourites else { return }
            rows[landed.folder] = try manager.fetch(PropertyListReformer())
            screen.show(rows.sorted { $0.key < $1.key }.flatMap(\.value))
        }
    }
#endif
