import Runway

/// A screen with a list and a map of the same homes: one answer through two reformers.
@MainActor
final class MapController: APIManagerDelegate {
    let screen: Screen
    let homes: APIManager<SecondHandList>

    init(network: NetworkLayer, screen: Screen) {
        self.screen = screen
        homes = APIManager(on: network)
        homes.delegate = self
    }

    func apiManagerDidSucceed(_ manager: any APIManaging) {
        do throws(NetworkError) {
            screen.show(try manager.fetch(PropertyListReformer()))
            screen.add(try manager.fetch(MapPinReformer()))
        } catch {
            screen.show(error)
        }
    }

    func apiManager(_ manager: any APIManaging, didFailWith error: NetworkError) {
        screen.show(error)
    }
}
