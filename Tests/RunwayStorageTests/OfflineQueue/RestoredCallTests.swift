import Foundation
import HTTPTypes
import Runway
import RunwayJSON
import RunwayTesting
import Synchronization
import Testing

@testable import RunwayStorage

/// A stored call comes back as the endpoint that was called.
@Suite(.timeLimit(.minutes(10)))
struct RestoredCallTests {
    private struct Place: Codable, Equatable {
        var shelf: String
        var weight: Double
    }

    private struct MoveNote: Endpoint, Decodable {
        static let service = Notebook.self
        static let method = HTTPRequest.Method.post
        static let offline = OfflinePolicy.queued
        static let retry = RetryPolicy.off
        var path: EndpointPath { "notes/\(id)/move" }
        @Unencoded var id: Int
        @Unencoded var link: URL?
        @Unencoded var place: Place
        @Unencoded var isUrgent = false
        var text: String
        var day: Date
    }

    private static let move = MoveNote(
        id: 7, link: URL(string: "https://notes.example.com/7"), place: Place(shelf: "top", weight: .infinity),
        isUrgent: true, text: "a", day: Date(timeIntervalSince1970: 0.125))

    /// One run of an app that moves notes.
    private struct Run {
        let folder: ScratchFolder
        let queue: OfflineQueue
        let network: NetworkLayer
        /// What the handler receives.
        let results: AsyncStream<(move: MoveNote?, change: QueuedChange)>

        init(_ folder: ScratchFolder, _ status: NetworkStatus, maximumChangeByteCount: Int = 1 << 20) {
            self.folder = folder
            var options = OfflineQueueOptions()
            options.survivesPowerLoss = false
            options.maximumChangeByteCount = maximumChangeByteCount
            let (results, handler) = AsyncStream.makeStream(of: (move: MoveNote?, change: QueuedChange).self)
            self.results = results
            let endpoint = ReplayedEndpoint(MoveNote.self) { move, change, _ in handler.yield((move, change)) }
            queue = OfflineQueue(at: folder.file, replaying: [endpoint], options: options)
            network = NetworkLayer(
                transport: NoteServer(), pipeline: .tested, offlineQueue: queue, status: SettableNetworkStatus(status))
        }

        func first() async -> (move: MoveNote?, change: QueuedChange)? {
            var iterator = results.makeAsyncIterator()
            return await iterator.next()
        }
    }

    /// A file in which an earlier run has stored the call.
    private func stored(_ change: (inout StoredChange) -> Void = { _ in }) async throws -> ScratchFolder {
        let folder = ScratchFolder()
        let run = Run(folder, .none)
        await #expect(throws: NetworkError.self) { try await run.network.call(Self.move) }
        await run.queue.close()
        let journal = try Journal(in: folder)
        let placed = try #require(try journal.entries().first)
        var stored = try #require(StoredChange(placed))
        change(&stored)
        try journal.replace(placed, with: try stored.bytes(), .seconds(0), keepsAge: true)
        try journal.close()
        return folder
    }

    @Test func handlerGetsTheCallOfAnEarlierRun() async throws {
        let run = Run(try await stored(), .wifi)
        let move = try #require(await run.first()?.move)
        #expect(move.id == 7 && move.link == Self.move.link && move.place == Self.move.place && move.isUrgent)
        #expect(move.text == "a" && move.day == Self.move.day)
        await run.queue.close()
    }

    @Test func parametersHaveNoUnencodedProperty() async throws {
        let run = Run(try await stored(), .none)
        let change = try #require(try await run.queue.changes().first)
        #expect(change.parameters["text"].string == "a" && change.parameters["id"].int == nil)
        let plain = try JSONDecoder().decode([String: String].self, from: JSONEncoder().encode(TextOfNote(id: 1)))
        #expect(plain == ["text": "a"])
        await run.queue.close()
    }

    private struct TextOfNote: Endpoint {
        static let service = Notebook.self
        var path: EndpointPath { "notes/\(id)" }
        @Unencoded var id: Int
        var text = "a"
    }

    /// Of a version of the app in which the endpoint was not `Decodable`, or had other properties.
    @Test(arguments: [nil, #"{"text":"a"}"#, "no JSON"])
    func changeOfAnotherVersionArrivesWithoutItsCall(_ call: String?) async throws {
        let run = Run(try await stored { $0.call = call }, .wifi)
        let result = try #require(await run.first())
        #expect(result.move == nil && result.change.parameters["text"].string == "a")
        #expect(result.change.endpoint == "MoveNote")
        await run.queue.close()
    }

    @Test func propertyThatWasAddedIsAbsent() async throws {
        let call = #"{"id":7,"place":{"shelf":"top","weight":1},"isUrgent":true,"text":"a","day":0}"#
        let run = Run(try await stored { $0.call = call }, .wifi)
        let move = try #require(await run.first()?.move)
        #expect(move.id == 7 && move.link == nil)
        await run.queue.close()
    }

    @Test func editedChangeHasItsNewCall() async throws {
        let run = Run(try await stored(), .none)
        var move = Self.move
        move.id = 8
        try await run.queue.edit(try #require(try await run.queue.changes().first).id, to: move)
        #expect(try await run.queue.changes().first?.call(as: MoveNote.self)?.id == 8)
        await run.queue.close()
    }

    @Test func callThatIsTooLargeIsLeftOut() async throws {
        let run = Run(ScratchFolder(), .none, maximumChangeByteCount: 2000)
        var move = Self.move
        move.place.shelf = String(repeating: "x", count: 2000)
        await #expect { try await run.network.call(move) } throws: { ($0 as? NetworkError)?.kind == .queued }
        let change = try #require(try await run.queue.changes().first)
        #expect(change.call(as: MoveNote.self) == nil && change.parameters["text"].string == "a")
        #expect(change.byteCount <= 2000)
        await run.queue.close()
    }

    @Test func changeHasTheAuthorizationOfItsCall() async throws {
        let first = QueueFixture(status: .none)
        try await first.signIn("ada")
        for policy in [AuthorizationPolicy.none, nil] {
            let options = CallOptions(authorization: policy)
            await #expect(throws: NetworkError.self) { try await first.network.call(WriteNote("a"), options: options) }
        }
        await first.queue.close()
        let second = QueueFixture(first.server, in: first.folder)
        try await second.signIn("ada")
        try await second.drain()
        try await waitUntil("both changes") { second.results.all == ["a done", "a done"] }
        #expect(second.server.received.map(\.hasToken) == [false, true])
        await second.queue.close()
    }

    @Test func previewAppliesTheCall() async throws {
        let run = Run(try await stored(), .none)
        let changes = try await run.queue.changes()
        let apply = OptimisticChange(of: MoveNote.self) { (move: MoveNote, _) in RawData(Array("\(move.id)".utf8)) }
        #expect(OptimisticChange.preview(RawData([]), with: changes, [apply]).bytes == Array("7".utf8))
        await run.queue.close()
    }
}
