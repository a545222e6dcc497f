#if Command
    import Runway

    /// A screen with a few chosen new homes, each loaded by itself, and shown in the order of choice whichever comes
    /// first.
    @MainActor
    final class ShowroomController: ScreenController {
        /// How many homes a showroom has.
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
