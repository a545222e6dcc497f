import Runway
import RunwayScreens
import SwiftUI

@main
struct ListingsApp: App {
    /// One layer for the whole app. The keychain holds its tokens between launches.
    private let network = NetworkLayer(tokens: KeychainTokenStore())
    private let screens = Screens()
    /// What the app remembers, once its file is open.
    @State private var saved: (favourites: FavouriteCenter, drafts: MessageDraftCenter)?

    var body: some Scene {
        WindowGroup {
            NavigationStack {
                RentalListView(network: network, favourites: saved?.favourites)
                    .navigationDestination(for: RentalRow.self) { row in
                        RentalView(row, network: network, favourites: saved?.favourites, drafts: saved?.drafts)
                    }
            }
            .screens(screens)
            .task {
                saved = try? await FavouriteCenter.open(over: network)
            }
        }
    }
}
