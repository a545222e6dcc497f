#if Command
    import Foundation
    import HTTPTypes
    import Hummingbird
    import Runway
    import RunwayServer
    import RunwayServerStorage
    import RunwayChat
    import RunwayStreams
    import RunwayTestServer
    import RunwayTesting

    /// Plays a conversation of two members. One of them loses the network, writes without it, and returns.
    ///
    /// The server, the sockets and the files are real. A relay in this process cuts the connections of the member who
    /// loses the network.
    @MainActor
    package enum ChatTour {
        private nonisolated static let conversation = "viewing"

        /// Plays the tour.
        ///
        /// - Throws: The error of a server or relay that can't start, and `CancellationError` if the task is cancelled.
        package static func play() async throws -> ChatTourReport {
            let folder = FileManager.default.temporaryDirectory.appending(path: "runway-demo-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let store = try SQLiteChatStore(at: folder.appending(path: "chat.sqlite"))
            let log = try SQLiteEventLog(file: folder.appending(path: "events.sqlite"))
            let router = try await router(over: store, log)
            return try await BoundedServer(router).serve { url, port in
                try await withBadNetwork(to: port, addresses: 1) { try await play($0, url, store, folder) }
            }
        }

        private static func router(
            over store: SQLiteChatStore, _ log: SQLiteEventLog
        ) async throws -> Router<BasicRequestContext> {
            let hub = try await EventHub(name: "chat", log: log)
            let router = Router()
            let member = { @Sendable (request: Hummingbird.Request) throws in
                guard let token = request.headers[.authorization], token.hasPrefix("Bearer ") else {
                    throw HTTPError(.unauthorized)
                }
                return String(token.dropFirst("Bearer ".count))
            }
            let topics = Set([ChatService.topic(of: conversation)])
            EventStreamRoute(hub) { request, _ in
                EventPermission(topics: topics, owner: try member(request), lifetime: .seconds(3600))
            }.add(to: router)
            ChatRoutes(ChatService(store: store, hub: hub)) { request, _, name in
                guard name == conversation else { throw HTTPError(.notFound) }
                return try member(request)
            }.add(to: router)
            return router
        }

        private static func play(
            _ relay: BadNetwork, _ url: String, _ store: SQLiteChatStore, _ folder: URL
        ) async throws -> ChatTourReport {
            let way = relay.paths[0]
            let ada = try await ChatApp(
                "ada", in: conversation, calling: "http://\(way.address):\(relay.port)",
                storingIn: folder.appending(path: "ada"))
            let bob = try await ChatApp("bob", in: conversation, calling: url, storingIn: folder.appending(path: "bob"))
            var report = ChatTourReport(screen: [], written: 0, offline: 0, missed: 0, stored: 0)
            do {
                try await chat(ada, over: way, bob, &report)
            } catch let error as ConditionTimedOut {
                report.problems.append("Of the conversation: \(error).")
            }
            let messages = try await store.page(of: conversation, .latest, upTo: 100, upToMembers: 10).messages
            (report.stored, report.screen) = (messages.count, ada.lines)
            if report.stored != report.written || ada.lines != bob.lines
                || ada.lines != messages.map({ "\($0.sender): \($0.text)" })
            {
                report.problems.append("Of the conversation: \(ada.lines), \(bob.lines); \(report).")
            }
            await ada.end()
            await bob.end()
            return report
        }

        private static func chat(
            _ ada: ChatApp, over way: NetworkPath, _ bob: ChatApp, _ report: inout ChatTourReport
        ) async throws {
            func send(_ text: String, from app: ChatApp) {
                if app.conversation.send(text) != nil { report.written += 1 }
            }
            func wait(for count: Int, on apps: ChatApp...) async throws {
                try await waitUntil("\(count) messages") { apps.allSatisfy { $0.lines.count == count } }
            }
            try await waitUntil("both streams") { ada.conversation.isLive && bob.conversation.isLive }
            send("Is the flat at the harbour still free?", from: ada)
            try await wait(for: 1, on: ada, bob)
            send("It is. You can see it at six.", from: bob)
            try await wait(for: 2, on: ada, bob)

            ada.status.set(.none)
            send("I am in the train.", from: ada)
            send("Six is fine.", from: ada)
            try await waitUntil("the offline queue") { ada.queuedCount == 2 }
            report.offline = ada.queuedCount
            try await way.set(.refusing)
            try await waitUntil("the loss of the stream") { !ada.conversation.isLive }
            send("Ring at the second door.", from: bob)
            try await wait(for: 3, on: bob)
            report.missed = bob.lines.count - ada.lines.count

            try await way.set(.passing(PathConditions()))
            ada.status.set(.wifi)
            try await wait(for: 5, on: ada, bob)
            try await waitUntil("the end of the queue") { ada.queuedCount == 0 }
        }
    }

    /// The results of a ``ChatTour``, counted by the apps and the server.
    package struct ChatTourReport: TourReport {
        package var screen: [String]
        /// The number of messages that both members wrote.
        package var written: Int
        /// The number of messages that were written without a network.
        package var offline: Int
        /// The number of messages that the other member wrote while one member had no network.
        package var missed: Int
        package var stored: Int
        /// Differences from the expected results; empty if there are none.
        package var problems: [String] = []

        /// The counts in sentences.
        package var description: String {
            "\(written) written, \(offline) offline, \(stored) on each screen"
        }
    }
#endif
