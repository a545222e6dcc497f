#if Command
    package import Foundation
    import Hummingbird
    import Runway
    import RunwayStorage
    import RunwayTesting
    import RunwayTransport

    /// An app opens a home and makes offers in a process without a network. When the network is back, the process is
    /// killed and restarted.
    ///
    /// The processes, `kill -9`, the sockets and the files of app and server are real.
    package enum TrainTour {
        package enum Run: String, Sendable {
            /// The app opens a home with a network, and is killed.
            case atHome
            /// The app opens the home without a network, and makes offers. The network returns, and the app is killed
            /// while an offer is in flight.
            case onTheTrain
            case atWork
        }

        /// The name of the command that runs ``use(_:in:calling:)``.
        package static let commandName = "demo-train"

        private static let home = 7
        private static let prices = [510, 515, 520]
        private static var id: String { "E\(100_000 + home)" }

        /// Plays the tour.
        ///
        /// - Parameter seed: The seed of the listings. The default is 1.
        /// - Throws: The error of a server or process that can't start, and `CancellationError` after a cancellation.
        @concurrent package static func play(seed: UInt64 = 1) async throws -> TrainTourReport {
            let folder = FileManager.default.temporaryDirectory.appending(path: "runway-demo-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            let catalogue = ListingCatalogue(seed: seed, listingsPerKind: home)
            let server = try TrainServer(catalogue, in: folder)
            let router = Router()
            server.add(to: router)
            let (screens, isComplete) = try await BoundedServer(router).serve { url, _ in
                func start(_ run: Run) throws -> ChildProcess {
                    try ChildProcess([commandName, run.rawValue, folder.appending(path: "app").path, url])
                }
                let first = try start(.atHome)
                guard let fetched = await first.nextLine() else { throw CancellationError() }
                try await first.kill()
                let second = try start(.onTheTrain)
                guard let stored = await second.nextLine() else { throw CancellationError() }
                // The server has the first offer, but has not responded yet.
                try await server.gate.waitForArrivals()
                try await second.kill()
                server.gate.open()
                let third = try start(.atWork)
                return ([fetched, stored], await third.end() == 0)
            }
            try await server.close()
            var report = TrainTourReport(
                screen: [screens[1]], openings: screens.count,
                detailRequests: server.detailRequests.value, changes: prices.count, effects: server.offers.count,
                repeated: server.offerRequestCount - server.offers.count)
            let row = catalogue.listing(.secondHand, number: home)?.rowText
            if screens.contains(where: { $0 != row }) {
                report.problems.append("The details screen showed \(screens), and not \(row ?? "").")
            }
            if !isComplete { report.problems.append("The last run of the app did not send all of its offers.") }
            if report.detailRequests != 1 || server.offers != prices || report.repeated != 1 {
                report.problems.append("Of the offers: \(server.offers); \(report).")
            }
            return report
        }

        /// Performs one run of the app.
        ///
        /// - Parameters:
        ///   - run: The run to perform.
        ///   - folder: The app's folder.
        ///   - url: The base URL of the server.
        /// - Throws: The error of a call or of the transport. `CancellationError` if sending takes over a minute.
        @MainActor package static func use(_ run: Run, in folder: URL, calling url: String) async throws {
            let status = SettableNetworkStatus(run == .onTheTrain ? .none : .wifi)
            let queue = OfflineQueue(
                at: folder.appending(path: "changes/changes.sqlite"),
                replaying: [ReplayedEndpoint(SecondHandOffer.self)])
            let network = NetworkLayer(
                name: "train", transport: try NIOTransport(), diskCache: DiskCache(in: folder.appending(path: "cache")),
                offlineQueue: queue, status: status)
            network.configure(SecondHandService.self) { $0.baseURLs = [.release: url] }
            if run != .atWork {
                let screen = Screen { _ in }
                let lists = ListController(network: network, screen: screen)
                _ = try await lists.detail.landing(of: lists.detail.load(SecondHandDetail(id: id)))
                await network.cache.flush()
                let text = screen.lines.joined(separator: "\n")
                if run == .atHome { return try await ChildProcess.waitForKill(saying: text) }
                for price in prices { _ = try await network.submit(SecondHandOffer(id: id, price: price)) }
                status.set(.wifi)
                try await ChildProcess.waitForKill(saying: text)
            }
            for _ in 0..<600 {
                await queue.flush()
                if try await queue.changes().isEmpty { return await queue.close() }
                try await Task.sleep(for: .milliseconds(100))
            }
            throw CancellationError()
        }
    }

    /// The results of a ``TrainTour``, counted by the app and the server.
    package struct TrainTourReport: TourReport {
        /// The lines of the details screen while there is no network.
        package var screen: [String]
        package var openings: Int
        /// The number of details requests that the server received.
        package var detailRequests: Int
        /// The number of changes that the app made without a network.
        package var changes: Int
        /// The number of changes that took effect on the server.
        package var effects: Int
        /// The number of changes that the server received again, without a second effect.
        package var repeated: Int
        /// Differences from the expected results; empty if there are none.
        package var problems: [String] = []

        /// The counts as text.
        package var description: String {
            "\(openings) openings, \(detailRequests) request; \(changes) offers made, \(effects) at the server; \(repeated) was sent twice"
        }
    }
#endif
