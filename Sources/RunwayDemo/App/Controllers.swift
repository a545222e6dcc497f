#if Command
    import Runway

    /// A controller of one screen: it shows the responses that land, and the errors of calls that failed.
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

    /// A screen of lists: managers of three teams, one delegate, one reformer, one row view.
    @MainActor
    final class ListController: ScreenController {
        let screen: Screen
        private let network: NetworkLayer
        private(set) lazy var secondHand = APIManager<SecondHandList>(on: network, delegate: self)
        private(set) lazy var rentals = APIManager<RentalList>(on: network, delegate: self)
        private(set) lazy var newHomes = APIManager<NewHomesList>(on: network, delegate: self)
        private(set) lazy var detail = APIManager<SecondHandDetail>(on: network, delegate: self)
        /// A list that is extended as the user scrolls.
        private(set) lazy var pages = PagedAPIManager<SecondHandPages>(on: network, delegate: self)

        init(network: NetworkLayer, screen: Screen) { (self.network, self.screen) = (network, screen) }

        func show(_ manager: any APIManaging) throws(NetworkError) {
            screen.show(try manager.fetch(PropertyListReformer()))
        }
    }

    /// A screen with a list and a map of the same homes: one response through two reformers.
    @MainActor
    final class MapController: ScreenController {
        let screen: Screen
        private let network: NetworkLayer
        private(set) lazy var homes = APIManager<SecondHandList>(on: network, delegate: self)

        init(network: NetworkLayer, screen: Screen) { (self.network, self.screen) = (network, screen) }

        func show(_ manager: any APIManaging) throws(NetworkError) {
            screen.show(try manager.fetch(PropertyListReformer()))
            screen.add(try manager.fetch(MapPinReformer()))
        }
    }

    /// A screen with several parts: the folders of a user, or a showroom of chosen homes. Each part is loaded by
    /// itself; they are shown in their order, whichever arrives first.
    @MainActor
    final class PartsController<Part: Endpoint>: ScreenController {
        let screen: Screen
        let parts: APIManager<Part>
        private let place: (Part) -> Int
        private var rows: [Int: [ViewData]] = [:]

        /// - Parameter place: Returns the place of a part among the others.
        init(network: NetworkLayer, screen: Screen, place: @escaping (Part) -> Int) {
            (self.screen, self.place) = (screen, place)
            parts = APIManager(on: network, overlap: .concurrent)
            parts.delegate = self
        }

        func show(_ manager: any APIManaging) throws(NetworkError) {
            guard let landed = manager.landedEndpoint as? Part else { return }
            rows[place(landed)] = try manager.fetch(PropertyListReformer())
            screen.show(rows.sorted { $0.key < $1.key }.flatMap(\.value))
        }
    }

    /// A screen whose services are in trouble, each in its own way.
    @MainActor
    final class TroubleController: ScreenController {
        let screen: Screen
        private let network: NetworkLayer
        private(set) lazy var slow = APIManager<SlowList>(on: network, delegate: self)
        private(set) lazy var failing = APIManager<FailingList>(on: network, delegate: self)
        private(set) lazy var truncated = APIManager<TruncatedList>(on: network, delegate: self)
        private(set) lazy var envelope = APIManager<FailingEnvelope>(on: network, delegate: self)

        init(network: NetworkLayer, screen: Screen) { (self.network, self.screen) = (network, screen) }

        func show(_ manager: any APIManaging) { screen.show([]) }
    }
#endif
