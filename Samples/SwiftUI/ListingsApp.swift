import Runway
import SwiftUI

@main
struct ListingsApp: App {
    /// One layer for the whole app. The keychain holds its tokens between launches.
    private let network = NetworkLayer(tokens: KeychainTokenStore())

    var body: some Scene {
        WindowGroup {
            NavigationStack {
                RentalListView(network: network)
                    .navigationDestination(for: RentalRow.self) { row in RentalView(row, network: network) }
            }
        }
    }
}
