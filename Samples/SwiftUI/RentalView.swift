import Foundation
import Runway
import RunwayJSON
import RunwayScreens
import SwiftUI

/// One home, a film of it to send, and a message to its owner.
struct RentalView: View {
    /// Where the app has recorded a film.
    private static let film = FileManager.default.temporaryDirectory.appendingPathComponent("film.mp4")
    private let row: RentalRow
    private let favourites: FavouriteCenter?
    private let drafts: MessageDraftCenter?
    private let cards: HomeCards?
    /// The values of the card, once a response has landed.
    @State private var card: JSONDocument?
    @State private var details: APIManager<RentalDetails>
    @State private var upload: FilmUploadModel

    init(
        _ row: RentalRow, network: NetworkLayer, favourites: FavouriteCenter?, drafts: MessageDraftCenter?,
        cards: HomeCards?
    ) {
        (self.row, self.favourites, self.drafts, self.cards) = (row, favourites, drafts, cards)
        _details = State(initialValue: APIManager(on: network))
        _upload = State(initialValue: FilmUploadModel(network))
    }

    var body: some View {
        Form {
            if let cards, let card {
                HomeCardView(card, in: cards)
            } else if let home = details.rawData {
                Text(home["address"].string ?? "")
                Text("\(home["rent"].int ?? 0) a month")
            } else if let error = details.error {
                Text(error.detail)
            } else {
                ProgressView()
            }
            if let fraction = upload.fraction {
                ProgressView(value: fraction)
            } else {
                Button("Send the film") { upload.start(Self.film, of: row.id) }
            }
            Text(upload.message)
            if let favourites { SavedNote(row: row, favourites: favourites) }
            if let drafts { MessageField(rental: row.id, drafts: drafts) }
        }
        .navigationTitle(row.title)
        .screen("rental")
        .task {
            guard (try? await details.landing(of: RentalDetails(id: row.id))) != nil, let cards else { return }
            card = try? JSONDocument(JSONEncoder().encode(await details.fetchConcurrently(cards.reformer)))
        }
    }
}

/// Sends a film and shows how far it is.
@MainActor @Observable
final class FilmUploadModel {
    /// Between 0 and 1 while the film is sent.
    private(set) var fraction: Double?
    private(set) var message = ""
    private let network: NetworkLayer

    init(_ network: NetworkLayer) { self.network = network }

    func start(_ film: URL, of id: Int) {
        fraction = 0
        Task {
            do throws(NetworkError) {
                // Called on the main actor, as this method is.
                _ = try await network.upload(FilmUpload(film: film, id: id)) { [self] in fraction = $0.fraction }
                message = "Sent"
            } catch {
                message = error.detail
            }
            fraction = nil
        }
    }
}
