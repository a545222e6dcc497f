#if Command
    package import Foundation
    import Hummingbird
    import Runway
    import RunwayServer
    import RunwayServerStorage
    import RunwayStorage
    import RunwayTesting
    import RunwayTransport

    /// An app records actions in a process that is killed while a batch is in flight, and then restarted.
    ///
    /// The process, `kill -9`, the sockets and the files of app and server are real.
    package enum LogTour {
        /// The name of the command that runs ``record(_:in:sendingTo:untilKilled:)``.
        package static let commandName = "demo-log"

        /// The number of actions in each run. The first batch of 30 arrives, and the second is in flight at the kill.
        private static let counts = (first: 70, second: 20)

        private enum Logging: APIService {
            static let name = "logging"
            static let environments: [ServiceEnvironment: String] = [:]
            static let deadline = Duration.seconds(60)
        }

        /// Plays the tour.
        ///
        /// - Throws: The error of a server or process that can't start, and `CancellationError` after a cancellation.
        @concurrent package static func play() async throws -> LogTourReport {
            let folder = FileManager.default.temporaryDirectory.appending(path: "runway-demo-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            let file = folder.appending(path: "server/actions.sqlite")
            let sink = LogTourSink(try SQLiteActionLogSink(at: file))
            let router = Router()
            ActionLogRoute(to: sink).add(to: router)
            let isComplete = try await BoundedServer(router).serve { url, _ in
                let arguments = [commandName, folder.appending(path: "app/actions.sqlite").path, url]
                let first = try ChildProcess(arguments + ["\(counts.first)", "--until-killed"])
                guard await first.nextLine() != nil else { throw CancellationError() }
                // The server has stored the batch, but not responded yet.
                try await sink.gate.waitForArrivals()
                try await first.kill()
                sink.gate.open()
                let second = try ChildProcess(arguments + ["\(counts.second)"])
                return await second.end() == 0
            }
            try await sink.base.close()
            let stored = try ActionLogFile(at: file).records(limit: 10_000)
            var report = LogTourReport(
                recorded: counts.first + counts.second, stored: stored.count, requests: sink.requestCount,
                repeated: sink.receivedCount - stored.count)
            if !isComplete { report.problems.append("The second run of the app did not send all of its log.") }
            if Set(stored.map(\.id)).count != stored.count { report.problems.append("An action is stored twice.") }
            if report.stored != report.recorded || report.repeated != 30 {
                report.problems.append("Of the log: \(report).")
            }
            return report
        }

        /// Records actions, as an app does in one run.
        ///
        /// - Parameters:
        ///   - count: The number of actions.
        ///   - file: The file of the log.
        ///   - url: The base URL of the server.
        ///   - isKilled: If `true`, the process reports the recording, and waits to be killed. If `false`, it sends the
        ///     log.
        /// - Throws: `StorageError`, or the error of the transport. `CancellationError` if sending takes over a minute.
        @concurrent package static func record(
            _ count: Int, in file: URL, sendingTo url: String, untilKilled isKilled: Bool
        ) async throws {
            let network = NetworkLayer(name: "log", transport: try NIOTransport())
            network.configure(Logging.self) { $0.baseURLs = [.release: url] }
            let log = ActionLog(at: file, sendingTo: Logging.self, at: "log", over: network)
            for receipt in (0..<count).map({ log.record("opened", ["listing": .integer(Int64($0))]) }) {
                try await receipt.committed()
            }
            if isKilled { try await ChildProcess.waitForKill(saying: "recorded") }
            for _ in 0..<600 {
                await log.flush()
                let state = await log.currentState
                if state.waitingCount == 0, state.problem == nil { return await log.close() }
                try await Task.sleep(for: .milliseconds(100))
            }
            throw CancellationError()
        }
    }

    /// A sink that delays the response to the second batch until the batch arrives again.
    final class LogTourSink: ActionLogSink {
        let base: SQLiteActionLogSink
        let gate = ScriptedGate()
        private let received = ReceivedCount()
        private let requests = ReceivedCount()

        var requestCount: Int { requests.value }
        /// The number of received actions, including repeated ones.
        var receivedCount: Int { received.value }

        init(_ base: SQLiteActionLogSink) { self.base = base }

        func store(_ batch: ActionLogBatch) async throws -> ActionLogStorage {
            let storage = try await base.store(batch)
            received.add(batch.records.count)
            requests.add(1)
            if batch.number == 2 { try await gate.pass() }
            return storage
        }
    }

    /// The results of a ``LogTour``, counted by the app and the server.
    package struct LogTourReport: TourReport {
        /// The number of actions that the app recorded in both runs.
        package var recorded: Int
        package var stored: Int
        /// The number of requests that the server received, each with a batch of actions.
        package var requests: Int
        /// The number of actions that the server received again, and did not store twice.
        package var repeated: Int
        /// Differences from the expected results; empty if there are none.
        package var problems: [String] = []

        /// The counts in sentences.
        package var description: String {
            "\(recorded) recorded, \(stored) at the server; \(repeated) were sent twice"
        }
    }
#endif
