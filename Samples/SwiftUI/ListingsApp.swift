import Runway
import RunwayBridge
import RunwayMediator
import RunwayScreens
import SwiftUI

@main
struct ListingsApp: App {
    /// One layer for the whole app. The keychain holds its tokens between launches.
    private let network: NetworkLayer
    private let screens = Screens()
    private let mediator: Mediator
    /// What the pages of the shop may ask.
    private let bridge: Bridge
    /// Shows the pages of the mediator above the root view of the window.
    @State private var shell: StackShell
    /// The card of homes; `nil` if it can't be opened.
    private let cards: HomeCards?
    /// What the app remembers, once its file is open.
    @State private var saved: (favourites: FavouriteCenter, drafts: MessageDraftCenter)?

    init() {
        let network = NetworkLayer(tokens: KeychainTokenStore())
        let mediator = Mediator {
            AddressModule()
            HomeModule()
        }
        let bridge = Shop.bridge(over: network, in: mediator)
        let shell = StackShell(mediator: mediator) { Screen(ShopView(address: $0, bridge: bridge, mediator: mediator)) }
        (self.network, self.mediator, self.bridge) = (network, mediator, bridge)
        cards = try? HomeCards(over: network, in: mediator)
        _shell = State(initialValue: shell)
    }

    var body: some Scene {
        WindowGroup {
            ShellStack(shell) {
                RentalListView(
                    network: network, favourites: saved?.favourites, drafts: saved?.drafts, cards: cards,
                    bridge: bridge,
                    openOrders: { shell.showWeb("\(Shop.site)/\(Shop.page)") })
            }
            .screens(screens)
            .onAppear { mediator.shell = shell }
            .task { await cards?.run() }
            .task {
                saved = try? await FavouriteCenter.open(over: network)
            }
        }
    }
}
