#if Command
    package import Foundation
    import Hummingbird
    import Runway
    import RunwayServer
    import RunwayServerStorage
    import RunwaySync
    import RunwayTestServer
    import RunwayTesting

    /// Two devices of one user change the same notes. One of them is on a train without a network, takes a photo, and
    /// is killed there.
    ///
    /// The server, the sockets, the files and `kill -9` are real. A relay cuts the connections of the device on the
    /// train.
    package enum DevicesTour {
        /// A run of the app on the device that goes by train.
        package enum Run: String, Sendable {
            /// The app loads the notes, and is killed.
            case atHome
            /// The app changes notes without a network, and is killed.
            case onTheTrain
            /// The app sends its changes, and asks about the conflict.
            case atWork
        }

        /// The content of the screen at the end of a run.
        private struct Shown: Codable {
            var lines: [String] = []
            var waiting = 0
            /// The questions about conflicts.
            var questions: [String] = []
            var isExchanged = false
        }

        /// The name of the command that runs ``use(_:in:calling:show:)``.
        package static let commandName = "demo-devices"

        /// 2026-10-01 in UTC.
        private static let october = Date(timeIntervalSince1970: 1_790_812_800)
        private static let notes = [
            ("Ask for the floor plan", -11), ("Visit the flat", -3), ("Measure the kitchen", 4),
            ("Compare the loans", -19), ("Cancel the old lease", 31), ("Order the van", 50),
        ].map { (title: $0, due: october + TimeInterval($1 * 86_400)) }
        private static let titles = (train: "Visit the flat at nine", desk: "Visit the flat with Bob")
        private static let chosen = "Visit the flat with Bob at nine"
        private static let wanted = [
            "· Cancel the old lease", "✓ \(chosen)",
            "· Measure the kitchen and the hall (the window, too), a photo of 20000 bytes", "✓ Ask for the floor plan",
        ]

        /// Plays the tour.
        ///
        /// - Parameter isApart: Whether the device on the train is a process of its own, which runs this program with
        ///   ``commandName``. The default is `true`. Otherwise it opens and closes its file in this process.
        /// - Throws: The error of a server or process that can't start, and `CancellationError` after a cancellation.
        @concurrent package static func play(isApart: Bool = true) async throws -> DevicesTourReport {
            let folder = FileManager.default.temporaryDirectory.appending(path: "runway-demo-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let store = try SyncStore.sqlite(at: folder.appending(path: "spaces.sqlite"))
            let hub = try await EventHub(name: "notes")
            var report = DevicesTourReport()
            do {
                let files = SyncFiles.folder(folder.appending(path: "photos").path)
                report = try await BoundedServer(router(over: store, hub, files)).serve { url, port in
                    try await withBadNetwork(to: port, addresses: 1) { relay in
                        let desk = try await NoteDevice(in: folder.appending(path: "desk"), calling: url)
                        let report = try await play(relay, desk) { run, url in
                            try await shown(run, in: folder.appending(path: "train"), calling: url, isApart)
                        }
                        try await desk.close()
                        return report
                    }
                }
            } catch let error as ConditionTimedOut {
                report.problems.append("Of the devices: \(error).")
            }
            try await store.close()
            return report
        }

        private static func router(
            over store: SyncStore, _ hub: EventHub, _ files: SyncFiles
        ) -> Router<BasicRequestContext> {
            let router = Router()
            let user = { @Sendable (request: Hummingbird.Request) throws in
                guard let token = request.headers[.authorization], token.hasPrefix("Bearer ") else {
                    throw HTTPError(.unauthorized)
                }
                return String(token.dropFirst("Bearer ".count))
            }
            let service = SyncService(store: store, hub: hub, conflicts: [NoteTable.name: .ask]) { user, list, _ in
                user == NoteDevice.user && list == NoteDevice.list
            }
            SyncRouter(service, files: files) { request, _ in try user(request) }.add(to: router)
            EventStreamRoute(hub) { request, _ in
                EventPermission(
                    topics: [SyncService.topic(of: NoteDevice.list)], owner: try user(request),
                    lifetime: .seconds(3600))
            }.add(to: router)
            return router
        }

        private static func play(
            _ relay: BadNetwork, _ desk: NoteDevice, _ train: (Run, _ url: String) async throws -> Shown
        ) async throws -> DevicesTourReport {
            let way = relay.paths[0]
            let url = "http://\(way.address):\(relay.port)"
            try await desk.add(notes)
            try await waitUntil("the notes at the server") { try await desk.exchange() }
            let home = try await train(.atHome, url)

            try await way.set(.refusing)
            let tunnel = try await train(.onTheTrain, url)
            try await desk.rename(2, titles.desk)
            try await desk.rename(3, "Measure the kitchen and the hall")
            try await desk.delete(4)
            try await desk.move(1, toStart: false)
            try await waitUntil("the desk's changes at the server") { try await desk.exchange() }
            let before = try await desk.lines

            try await way.set(.passing(PathConditions()))
            let work = try await train(.atWork, url)
            // The desk pulls when the server reports the change.
            try await waitUntil("equal devices") { try await desk.lines == work.lines }
            let (lines, status) = (try await desk.lines, try await desk.status)
            var report = DevicesTourReport(
                screen: lines, questions: work.questions, notes: notes.count, offline: tunnel.waiting,
                conflictsAsked: work.questions.count, waiting: work.waiting + status.waitingCount,
                equal: lines == work.lines)
            let isWanted =
                home.lines == notes.map { "· \($0.title)" } && tunnel.lines.first == wanted[0] && !tunnel.isExchanged
                && tunnel.lines != before && report.offline > 0 && work.isExchanged && lines == wanted
                && report.questions == ["\(titles.desk), or \(titles.train)?"]
                && report.waiting == 0 && status.refusedChanges.isEmpty
            if !isWanted { report.problems.append("The devices showed \([home, tunnel, work]); \(report); \(lines).") }
            return report
        }

        /// Performs a run of the app on the device that goes by train. Its process is killed at the end of a run,
        /// except the last.
        private static func shown(
            _ run: Run, in folder: URL, calling url: String, _ isApart: Bool
        ) async throws -> Shown {
            var line: String?
            if isApart {
                let child = try ChildProcess([commandName, run.rawValue, folder.path, url])
                line = await child.nextLine()
                if line != nil, run != .atWork { try await child.kill() } else { _ = await child.end() }
            } else {
                try await use(run, in: folder, calling: url) { line = $0 }
            }
            guard let line else { throw CancellationError() }
            return try JSONDecoder().decode(Shown.self, from: Data(line.utf8))
        }

        /// Performs one run of the app.
        ///
        /// - Parameters:
        ///   - run: The run to perform.
        ///   - folder: The app's folder.
        ///   - url: The base URL of the server.
        ///   - show: Called with the content of the screen at the end, as JSON.
        /// - Throws: An error of the file, or of `show`.
        package static func use(
            _ run: Run, in folder: URL, calling url: String, show: (String) async throws -> Void
        ) async throws {
            let device = try await NoteDevice(in: folder, calling: url)
            var shown = Shown()
            switch run {
            case .atHome: try await waitUntil("the notes") { try await device.exchange() }
            case .onTheTrain:
                try await device.rename(2, titles.train)
                try await device.remark(3, "the window, too", with: Data(repeating: 1, count: 20_000))
                try await device.delete(6)
                try await device.move(5, toStart: true)
                try await device.finishAll(before: october)
            case .atWork:
                try await waitUntil("the sending of all changes") { try await device.exchange() }
                shown.questions = try await device.resolveConflicts { _, _ in chosen }
                try await waitUntil("the sending of the user's choice") { try await device.exchange() }
                try await waitUntil("the photo at the server") { try await device.hasSentPhotos }
            }
            shown.isExchanged = try await device.exchange()
            (shown.lines, shown.waiting) = (try await device.lines, try await device.status.waitingCount)
            try await show(String(decoding: try JSONEncoder().encode(shown), as: UTF8.self))
            try await device.close()
        }
    }

    /// The results of a ``DevicesTour``, as the devices showed them.
    package struct DevicesTourReport: TourReport {
        /// The notes at the end.
        package var screen: [String] = []
        /// The questions about conflicts.
        package var questions: [String] = []
        /// The number of notes at the beginning.
        package var notes = 0
        /// The number of changes that waited on the train.
        package var offline = 0
        /// The number of conflicts about which the user was asked.
        package var conflictsAsked = 0
        /// The number of changes of both devices that wait at the end.
        package var waiting = 0
        /// Whether both devices show the same at the end.
        package var equal = false
        /// Deviations from the expected results; empty if there are none.
        package var problems: [String] = []

        /// The counts as text.
        package var description: String {
            let end = equal ? "both devices are equal" : "the devices differ"
            let counts = "\(notes) notes, \(offline) changes without a network, \(conflictsAsked) conflict asked"
            return "\(counts); \(end), \(waiting) changes wait"
        }
    }
#endif
