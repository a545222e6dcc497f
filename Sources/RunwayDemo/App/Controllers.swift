#if Command
    import Runway

    /// The controller of one screen. Shows the responses of its calls, and the errors of failed calls.
    @MainActor
    protocol ScreenController: APIManagerDelegate {
        var screen: Screen { get }

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

    /// A screen with lists of three teams. One delegate, one `Reformer`, which converts responses to rows, and one row
    /// view serve all three managers.
    @MainActor
    final class ListController: ScreenController {
        let screen: Screen
        private let network: NetworkLayer
        private(set) lazy var secondHand = APIManager<SecondHandList>(on: network, delegate: self)
        private(set) lazy var rentals = APIManager<RentalList>(on: network, delegate: self)
        private(set) lazy var newHomes = APIManager<NewHomesList>(on: network, delegate: self)
        private(set) lazy var detail = APIManager<SecondHandDetail>(on: network, delegate: self)
        /// The list that loads more pages as the user scrolls.
        private(set) lazy var pages = PagedAPIManager<SecondHandPages>(on: network, delegate: self)

        init(network: NetworkLayer, screen: Screen) { (self.network, self.screen) = (network, screen) }

        func show(_ manager: any APIManaging) throws(NetworkError) {
            screen.show(try manager.fetch(PropertyListReformer()))
        }
    }

    /// A screen that shows the same homes in a list and on a map. Two `Reformer` types convert one response.
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

    /// A screen with several parts: the folders of a user, or the homes of a showroom. The parts load independently,
    /// and appear in a fixed order.
    @MainActor
    final class PartsController<Part: Endpoint>: ScreenController {
        let screen: Screen
        let parts: APIManager<Part>
        private let place: (Part) -> Int
        private var rows: [Int: [ViewData]] = [:]

        /// - Parameter place: Returns the position of a part on the screen.
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

    /// A screen whose calls fail in different ways.
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
