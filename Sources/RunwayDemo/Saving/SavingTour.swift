#if Command
    package import Foundation
    import Hummingbird
    import Runway
    import RunwayJSON
    import RunwayTransport

    /// Plays an app in three processes. In the first, the user saves a home and writes an offer. The second shows both
    /// without a server. Both processes are killed. The third sends the offer.
    package enum SavingTour {
        /// A run of the app.
        package enum Run: String, Sendable {
            /// The app loads a list, saves a home with its picture and writes an offer; then it is killed.
            case atHome
            /// The app shows the saved home and the offer without a server, changes the offer, and is killed.
            case underground
            /// The app loads the list, which no longer contains one of its homes, and sends the offer.
            case atWork
        }

        /// The content of the app's screens in one run.
        struct Shown: Codable {
            var list: [String] = []
            /// The saved homes, as rows of a list.
            var rows: [String] = []
            /// The saved homes, as heads of their screens.
            var heads: [String] = []
            /// The prices of offers that were not sent.
            var prices: [Int] = []
            /// The bytes of the saved homes' pictures.
            var pictures: [[UInt8]] = []
        }

        /// The name of the command that runs ``use(_:in:calling:)``.
        package static let commandName = "demo-saving"

        private static let (city, district) = ("shanghai", "pudong")
        private static let (note, prices) = ("call on Monday", [510, 525])

        /// Plays the tour.
        ///
        /// - Parameter seed: The seed of the listings. The default is 1.
        /// - Throws: The error of a server or a process that can't start, and `CancellationError` when the task is
        ///   cancelled.
        @concurrent package static func play(seed: UInt64 = 1) async throws -> SavingTourReport {
            let folder = FileManager.default.temporaryDirectory.appending(path: "runway-demo-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            let server = SavingServer(seed: seed)
            let listings = server.listings(in: city, district)
            guard let saved = listings.first, let withdrawn = listings.last else { throw CancellationError() }
            @Sendable func screens(of run: Run, calling url: String) async throws -> Shown {
                let child = try ChildProcess([commandName, run.rawValue, folder.path, url])
                guard let line = await child.nextLine() else { throw CancellationError() }
                if run == .atWork { _ = await child.end() } else { try await child.kill() }
                return try JSONDecoder().decode(Shown.self, from: Data(line.utf8))
            }
            @Sendable func served(_ run: Run) async throws -> (Shown, url: String) {
                let router = Router()
                server.add(to: router)
                return try await BoundedServer(router).serve { url, _ in (try await screens(of: run, calling: url), url)
                }
            }
            let (home, url) = try await served(.atHome)
            let requests = server.listRequests.value
            // The server has ended before this run begins.
            let underground = try await screens(of: .underground, calling: url)
            server.withdraw(withdrawn)
            let (work, _) = try await served(.atWork)

            var report = SavingTourReport(
                screen: underground.heads + underground.rows, homes: underground.list.count, listRequests: requests,
                favourites: underground.rows.count, pictures: server.pictureRequests.value,
                drafts: underground.prices.count, offers: server.offers.count,
                left: underground.list.count - work.list.count)
            let rows = listings.map(\.rowText)
            let row =
                "\(saved.rowText.prefix { $0 != "·" })· \(note) · a picture of \(SavingServer.picture.count) bytes"
            for (shown, list, drafts) in [
                (home, rows, [prices[0]]), (underground, rows, [prices[0]]), (work, rows.dropLast(), [prices[1]]),
            ] {
                let isWanted =
                    shown.list == list && shown.rows == [row] && shown.heads == ["\(saved.title.chinese): \(note)"]
                    && shown.prices == drafts && shown.pictures == [SavingServer.picture]
                if !isWanted { report.problems.append("A run of the app showed \(shown).") }
            }
            if server.offers != [prices[1]] || report.pictures != 1 {
                report.problems.append("Of the saved homes: \(server.offers); \(report).")
            }
            return report
        }

        /// Performs one run of the app.
        @MainActor package static func use(_ run: Run, in folder: URL, calling url: String) async throws {
            let network = NetworkLayer(name: "saving", transport: try NIOTransport())
            network.configure(SecondHandService.self) { $0.baseURLs = [.release: url] }
            network.configure(PictureService.self) { $0.baseURLs = [.release: url] }
            let (favourites, offers) = try await FavouriteCenter.open(in: folder, over: network)
            let pages = PagedAPIManager<SecondHandPages>(on: network)
            if run == .underground {
                if (try? await pages.landing(of: SecondHandPages(city: city, district: district))) != nil { return }
            } else {
                try await pages.landing(of: SecondHandPages(city: city, district: district))
                while try await pages.landingOfNextPage() != nil {}
            }
            let screen = Screen { _ in }
            screen.show(try await favourites.list(of: district))
            if run == .atHome, let home = pages.items.first?["esf_id"].string {
                let picture = try await network.call(SecondHandPicture(id: home))
                try await favourites.add(SavedHome(id: home, note: note), with: picture.bytes)
                try await offers.postpone(OfferDraft(home: home, price: prices[0]))
            }
            // Each home has one record, and two views show it.
            let homes = try await favourites.favourites(as: { SavedHome() })
            var pictures: [[UInt8]] = []
            for home in homes { pictures.append(try await favourites.picture(of: home.id)) }
            let drafts = try await offers.drafts(as: { OfferDraft() })
            let shown = Shown(
                list: screen.lines, rows: homes.map { SavedHomeRow($0).line },
                heads: homes.map { SavedHomeHead($0).line }, prices: drafts.map(\.price), pictures: pictures)
            for draft in drafts {
                if run == .underground { try await offers.postpone(OfferDraft(home: draft.home, price: prices[1])) }
                if run == .atWork { try await offers.send(draft) }
            }
            let line = String(decoding: try JSONEncoder().encode(shown), as: UTF8.self)
            if run != .atWork { try await ChildProcess.waitForKill(saying: line) }
            FileHandle.standardOutput.write(Data("\(line)\n".utf8))
        }
    }

    /// The results of a ``SavingTour``, counted by the app and the server.
    package struct SavingTourReport: TourReport {
        /// A saved home in two views, as the app showed it without a server.
        package var screen: [String]
        /// The number of homes in the list that the app showed without a server.
        package var homes: Int
        /// The number of list requests that the server had received before the app ran without a server.
        package var listRequests: Int
        /// The number of homes that the user has saved.
        package var favourites: Int
        /// The number of pictures that the server has sent.
        package var pictures: Int
        /// The number of unsent offers in the app's file.
        package var drafts: Int
        /// The number of offers that arrived at the server.
        package var offers: Int
        /// The number of homes that the list no longer contained in the last run.
        package var left: Int
        /// Deviations from the expected results; empty if there are none.
        package var problems: [String] = []

        /// The counts as text.
        package var description: String {
            "\(homes) homes shown, \(favourites) saved, \(drafts) offer written and \(offers) sent; \(left) home left the list"
        }
    }
#endif
