#if Command
    import Runway

    /// A screen of lists: managers of three teams, one delegate, one reformer, one row view.
    @MainActor
    final class ListController: ScreenController {
        let screen: Screen
        private let network: NetworkLayer
        private(set) lazy var secondHand = APIManager<SecondHandList>(on: network, delegate: self)
        private(set) lazy var rentals = APIManager<RentalList>(on: network, delegate: self)
        private(set) lazy var newHomes = APIManager<NewHomesList>(on: network, delegate: self)
        private(set) lazy var detail = APIManager<SecondHandDetail>(on: network, delegate: self)

        init(network: NetworkLayer, screen: Screen) {
            self.network = network
            self.screen = screen
        }

        func show(_ manager: any APIManaging) throws(NetworkError) {
            screen.show(try manager.fetch(PropertyListReformer()))
        }
    }
#endif
