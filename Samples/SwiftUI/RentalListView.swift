import Runway
import SwiftUI

/// Search as you type, and page after page. A view reads its manager, which is observable.
struct RentalListView: View {
    private let network: NetworkLayer
    @State private var rentals: PagedAPIManager<RentalList>
    @State private var city = ""

    init(network: NetworkLayer) {
        self.network = network
        _rentals = State(initialValue: PagedAPIManager(on: network))
    }

    private var rows: [RentalRow] { rentals.items.compactMap { RentalRow($0) } }

    var body: some View {
        let rows = rows
        List {
            ForEach(rows) { row in
                NavigationLink(row.title, value: row)
                    .onAppear { if row == rows.last { rentals.loadNextPage() } }
            }
            if rentals.isLoading { ProgressView() }
            if let error = rentals.error { Text(error.detail) }
            NavigationLink("Account") { SignInView(network: network) }
        }
        .navigationTitle("Rentals")
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
