import Runway
import RunwayTesting

// The controllers in the doc comments of Runway, line by line. They are compiled and not run.

private let network = NetworkLayer(transport: StubTransport { request in .json("{}") })
@MainActor private let list = PropertyListView()

@MainActor private final class PropertyListView {
    func show(_ rows: [ViewData]) {}
}

private func show(_ error: any Error) {}

@MainActor final class ListController: APIManagerDelegate {
    lazy var rentals = APIManager<RentalList>(on: network, delegate: self)
    func filter(city: String) { rentals.load(RentalList(city: city)) }
    func apiManagerDidSucceed(_ manager: any APIManaging) {
        do { list.show(try manager.fetch(PropertyListReformer())) } catch { show(error) }
    }
    func apiManager(_ manager: any APIManaging, didFailWith error: NetworkError) { show(error) }
}

extension Paged {
    @MainActor final class ListController: APIManagerDelegate {
        lazy var rentals = PagedAPIManager<RentalList>(on: network, delegate: self)
        func open(city: String) { rentals.load(RentalList(city: city)) }
        func scrolledToEnd() { rentals.loadNextPage() }
        func pulledDown() { rentals.reload() }
        func apiManagerDidSucceed(_ manager: any APIManaging) {
            do { list.show(try manager.fetch(PropertyListReformer())) } catch { show(error) }
        }
        func apiManager(_ manager: any APIManaging, didFailWith error: NetworkError) { show(error) }
    }
}
