#if Command
    import Foundation
    import Runway
    import RunwayTables

    /// Stores the homes that the user has seen in lists, and the homes that the user has saved.
    @MainActor
    final class FavouriteCenter: DataCenter {
        let store: RecordStore
        let network: NetworkLayer
        /// The favourites exist only on the device: no response of a server contains them.
        let invalidates: [any Endpoint.Type] = []
        private let landing: TableLanding

        init(_ store: RecordStore, _ network: NetworkLayer) {
            (self.store, self.network) = (store, network)
            landing = network.land(SecondHandPages.self, in: store, by: SecondHandReformer()) {
                HomeTable.district == $0.district
            }
        }

        /// Opens the app's file of records, and creates the two data centers that use it.
        static func open(
            in folder: URL, over network: NetworkLayer
        ) async throws -> (favourites: FavouriteCenter, drafts: OfferDraftCenter) {
            let store = try await RecordStore.open(
                at: folder.appending(path: "records.sqlite"),
                tables: [HomeTable.self, FavouriteTable.self, OfferDraftTable.self])
            return (FavouriteCenter(store, network), OfferDraftCenter(store, network))
        }

        /// Returns the homes in a district's list, as the last response contained them.
        func list(of district: String) async throws -> [ViewData] {
            await landing.committed()
            return try await store.read { file in
                try SecondHandReformer().reform(
                    file.fetch(
                        HomeTable.self, where: HomeTable.district == district, orderedBy: [.ascending(HomeTable.id)]))
            }
        }

        /// Saves a home in the database, and its picture in a file beside the database.
        func add(_ home: SavedHome, with picture: [UInt8]) async throws {
            let draft = Draft(home)
            try await store.withFile(Data(picture)) { file in
                var draft = draft
                draft[FavouriteTable.picture] = file
                let saved = draft
                try await write { try $0.save(saved) }
            }
        }

        /// Returns the picture of a saved home; empty if the home is not saved.
        func picture(of id: String) async throws -> [UInt8] {
            let row = try await store.read { try $0.fetchFirst(FavouriteTable.self, where: FavouriteTable.home == id) }
            guard let file = row?[FavouriteTable.picture] else { return [] }
            var bytes: [UInt8] = []
            for try await part in store.bytes(of: file) { bytes += part }
            return bytes
        }

        /// Returns the saved homes, each as a new record that `record` creates.
        func favourites<R: VirtualRecord>(as record: () -> R) async throws -> [R] {
            try await store.read { file -> [Draft] in
                let favourites = try file.fetch(FavouriteTable.self, orderedBy: [.ascending(FavouriteTable.home)])
                let ids = favourites.compactMap { $0[FavouriteTable.home] }
                let homes = try file.fetch(HomeTable.self, where: HomeTable.id.isAny(of: ids))
                return favourites.map { favourite in
                    Draft(favourite, homes.first { $0[HomeTable.id] == favourite[FavouriteTable.home] } ?? Values())
                }
            }.records(as: record)
        }
    }

    /// Stores the offers that the user writes, and sends them later.
    @MainActor
    final class OfferDraftCenter: DataCenter {
        let store: RecordStore
        let network: NetworkLayer
        /// An offer changes the details of its home.
        let invalidates: [any Endpoint.Type] = [SecondHandDetail.self]

        init(_ store: RecordStore, _ network: NetworkLayer) { (self.store, self.network) = (store, network) }

        /// Returns the offers that were not sent, each as a new record that `record` creates.
        func drafts<R: VirtualRecord>(as record: () -> R) async throws -> [R] {
            try await store.read {
                try $0.fetch(OfferDraftTable.self, orderedBy: [.ascending(OfferDraftTable.home)])
            }.records(as: record)
        }

        /// Stores an offer that is not to be sent yet.
        func postpone(_ offer: some VirtualRecord) async throws { try await save(offer) }

        /// Sends an offer, and then removes its draft.
        func send(_ offer: OfferDraft) async throws {
            _ = try await network.call(SecondHandOffer(id: offer.home, price: offer.price))
            try await write { try $0.delete(OfferDraftTable.self, where: OfferDraftTable.home == offer.home) }
        }
    }
#endif
