import Runway
import RunwayBridge
import RunwayScreens
import SwiftUI

/// Search as you type, and page after page. A view reads its manager, which is observable.
struct RentalListView: View {
    private let network: NetworkLayer
    private let favourites: FavouriteCenter?
    private let drafts: MessageDraftCenter?
    private let cards: HomeCards?
    private let bridge: Bridge
    private let openOrders: () -> Void
    @State private var rentals: PagedAPIManager<RentalList>
    @State private var city = ""

    init(
        network: NetworkLayer, favourites: FavouriteCenter?, drafts: MessageDraftCenter?, cards: HomeCards?,
        bridge: Bridge, openOrders: @escaping () -> Void
    ) {
        self.network = network
        (self.favourites, self.drafts, self.cards) = (favourites, drafts, cards)
        (self.bridge, self.openOrders) = (bridge, openOrders)
        _rentals = State(initialValue: PagedAPIManager(on: network))
    }

    /// The rows of the server or, before they land and without a network, those that landed last.
    private var rows: [RentalRow] {
        let rows = rentals.items.compactMap { RentalRow($0) }
        return rows.isEmpty ? favourites?.rentals(in: city) ?? [] : rows
    }

    var body: some View {
        let rows = rows
        List {
            ForEach(rows) { row in
                NavigationLink(row.title) {
                    RentalView(row, network: network, favourites: favourites, drafts: drafts, cards: cards)
                }
                .onAppear { if row == rows.last { rentals.loadNextPage() } }
            }
            if rentals.isLoading { ProgressView() }
            if let error = rentals.error { Text(error.detail) }
            if let favourites { NavigationLink("Saved") { SavedView(favourites: favourites) } }
            Button("Orders") { openOrders() }
            NavigationLink("Account") { SignInView(network: network, bridge: bridge, cards: cards) }
        }
        .navigationTitle("Rentals")
        .screen("rentals")
        .searchable(text: $city)
        .task(id: city) {
            // The task starts also when the list appears again, with the rows that it has.
            if rentals.endpoint?.city == city, !rentals.items.isEmpty, !rentals.isLoading { return }
            // Each character cancels this task and starts another: only a pause is searched for.
            do { try await Task.sleep(for: .milliseconds(300)) } catch { return }
            rentals.load(RentalList(city: city))
        }
    }
}
