import Foundation
import Observation
import Runway
import RunwayTables

/// The homes that the user has seen in lists, and those that they have saved: also without a network.
@MainActor @Observable
final class FavouriteCenter: DataCenter {
    @ObservationIgnored let store: RecordStore
    @ObservationIgnored let network: NetworkLayer
    /// Favourites are the device's own: no response contains them.
    @ObservationIgnored let invalidates: [any Endpoint.Type] = []
    @ObservationIgnored private let landing: TableLanding
    @ObservationIgnored private let saved: Observed<[SavedRental]>
    @ObservationIgnored private var lists: [String: Observed<[RentalRow]>] = [:]

    /// The saved homes. A SwiftUI view that reads them is updated.
    var favourites: [SavedRental] { saved.value ?? [] }

    init(_ store: RecordStore, _ network: NetworkLayer) {
        (self.store, self.network) = (store, network)
        // One line: from now on every list lands in the table, and is there at a launch without a network.
        landing = network.land(RentalList.self, in: store, by: RentalReformer()) { RentalTable.city == $0.city }
        saved = store.observe(as: { SavedRental() }) {
            try $0.fetch(FavouriteTable.self, orderedBy: [.ascending(FavouriteTable.title)])
        }
    }

    /// Opens the file of the app, and the centers over it.
    static func open(
        over network: NetworkLayer,
        in folder: URL = URL(fileURLWithPath: NSHomeDirectory()).appendingPathComponent("Library/Application Support")
    ) async throws -> (favourites: FavouriteCenter, drafts: MessageDraftCenter) {
        let store = try await RecordStore.open(
            at: folder.appendingPathComponent("saved.sqlite"),
            tables: [RentalTable.self, FavouriteTable.self, MessageDraftTable.self])
        return (FavouriteCenter(store, network), MessageDraftCenter(store, network))
    }

    /// Returns the homes of a city whose list has landed.
    func rentals(in city: String) -> [RentalRow] {
        let list =
            lists[city]
            ?? store.observe(by: RentalReformer()) {
                try $0.fetch(
                    RentalTable.self, where: RentalTable.city == city, orderedBy: [.ascending(RentalTable.title)])
            }
        lists = [city: list]
        return list.value ?? []
    }

    func add(_ home: SavedRental) async throws { try await save(home) }

    /// Stores a picture of a saved home in a file beside its row.
    func add(_ picture: Data, to home: SavedRental) async throws {
        let draft = Draft(home)
        try await store.withFile(picture) { file in
            var draft = draft
            draft[FavouriteTable.picture] = file
            let saved = draft
            try await write { try $0.save(saved) }
        }
    }

    /// Returns where the picture of a home is; `nil` if there is none.
    func picture(of id: Int) async throws -> URL? {
        let row = try await store.read { try $0.fetchFirst(FavouriteTable.self, where: FavouriteTable.rental == id) }
        guard let file = row?[FavouriteTable.picture] else { return nil }
        return try await store.url(of: file)
    }

    func remove(_ id: Int) async throws {
        try await write { try $0.delete(FavouriteTable.self, where: FavouriteTable.rental == id) }
    }

    /// Calls a function with the saved homes, now and after each change, as records that the caller chooses.
    func showFavourites<R: VirtualRecord>(
        as record: @escaping @MainActor () -> R, _ show: @escaping @MainActor ([R]) -> Void
    ) async throws {
        let favourites = store.observe(as: record) {
            try $0.fetch(FavouriteTable.self, orderedBy: [.ascending(FavouriteTable.title)])
        }
        for try await homes in favourites { show(homes) }
    }
}

/// Messages that the user has begun to write.
@MainActor
final class MessageDraftCenter: DataCenter {
    let store: RecordStore
    let network: NetworkLayer
    /// Drafts are the device's own, too.
    let invalidates: [any Endpoint.Type] = []

    init(_ store: RecordStore, _ network: NetworkLayer) { (self.store, self.network) = (store, network) }

    /// Returns the message to the owner of a home.
    func draft(to rental: Int) async throws -> MessageDraft {
        let rows = try await store.read {
            try $0.fetch(MessageDraftTable.self, where: MessageDraftTable.rental == rental)
        }
        return rows.records(as: { MessageDraft(rental: rental) }).first ?? MessageDraft(rental: rental)
    }

    /// Stores a message; an empty one is removed.
    func postpone(_ draft: MessageDraft) async throws {
        if !draft.text.isEmpty { return try await save(draft) }
        try await write { try $0.delete(MessageDraftTable.self, where: MessageDraftTable.rental == draft.rental) }
    }

    /// Sends a message, and then removes its draft.
    func send(_ draft: MessageDraft) async throws {
        _ = try await network.call(RentalMessage(id: draft.rental, text: draft.text))
        try await postpone(MessageDraft(rental: draft.rental))
    }
}
