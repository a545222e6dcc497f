#if Command
    import Runway

    /// A screen whose services are in trouble, each in its own way.
    @MainActor
    final class TroubleController: ScreenController {
        let screen: Screen
        private let network: NetworkLayer
        private(set) lazy var slow = APIManager<SlowList>(on: network, delegate: self)
        private(set) lazy var failing = APIManager<FailingList>(on: network, delegate: self)
        private(set) lazy var truncated = APIManager<TruncatedList>(on: network, delegate: self)
        private(set) lazy var envelope = APIManager<FailingEnvelope>(on: network, delegate: self)

        init(network: NetworkLayer, screen: Screen) {
            self.network = network
            self.screen = screen
        }

        func show(_ manager: any APIManaging) {
            screen.show([])
        }
    }
#endif
