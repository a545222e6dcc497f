import RunwayScreens
import SwiftUI

/// The homes that the user has saved, also without a network. It reads the center, which is observable, and knows no table.
struct SavedView: View {
    let favourites: FavouriteCenter

    var body: some View {
        List {
            ForEach(favourites.favourites) { home in
                Text(home.note.isEmpty ? home.title : "\(home.title): \(home.note)")
            }
        }
        .navigationTitle("Saved")
        .screen("saved")
    }
}

/// Whether a home is saved, and a note on it: another view of the same record.
struct SavedNote: View {
    let row: RentalRow
    let favourites: FavouriteCenter
    @State private var message = ""

    private var home: SavedRental? { favourites.favourites.first { $0.id == row.id } }

    var body: some View {
        if let home {
            Text(home.note)
            Button("Forget") { change { try await favourites.remove(home.id) } }
        } else {
            Button("Save") { change { try await favourites.add(SavedRental(id: row.id, title: row.title)) } }
        }
        Text(message)
    }

    private func change(_ change: @escaping @MainActor () async throws -> Void) {
        Task {
            do { try await change() } catch { message = "\(error)" }
        }
    }
}
