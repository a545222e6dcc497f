#if Command
    import Runway

    /// A screen with a few chosen new homes. Each is loaded by itself, and they are shown in the order of choice
    /// whichever arrives first.
    @MainActor
    final class ShowroomController: ScreenController {
        /// The number of homes in a showroom.
        nonisolated static let homeCount = 9

        let screen: Screen
        let homes: APIManager<NewHomeDetail>
        private let ids: [String]
        private var rows: [String: [ViewData]] = [:]

        init(network: NetworkLayer, screen: Screen, ids: [String]) {
            self.screen = screen
            self.ids = ids
            homes = APIManager(on: network, overlap: .concurrent)
            homes.delegate = self
        }

        func show(_ manager: any APIManaging) throws(NetworkError) {
            guard let landed = manager.landedEndpoint as? NewHomeDetail else { return }
            rows[landed.id] = try manager.fetch(PropertyListReformer())
            screen.show(ids.flatMap { rows[$0] ?? [] })
        }
    }
#endif
