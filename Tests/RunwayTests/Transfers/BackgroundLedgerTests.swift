import Foundation
import HTTPTypes
import RunwayTesting
import Synchronization
import Testing

@testable import Runway

/// What is known of the transfers that the system performs, and what it is handed over.
@Suite(.timeLimit(.minutes(10)))
struct BackgroundLedgerTests {
    private static let fine = BackgroundLedger.Ending.response(status: 200, body: Data())

    private func ledger(_ ids: String...) throws -> BackgroundLedger {
        var ledger = BackgroundLedger()
        for id in ids { try ledger.start(id, .download(path: "/\(id)")) }
        return ledger
    }

    @Test func transferIsThereUntilItsEndIsReceived() throws {
        var ledger = try ledger("a", "b")
        #expect(ledger.startedIDs == ["a", "b"] && ledger.endings.isEmpty)
        let isEnded1 = ledger.end("a", Self.fine)
        #expect(isEnded1)
        #expect(ledger.startedIDs == ["b"] && ledger.endings == ["a": Self.fine])
        ledger.remove("a")
        #expect(Set(ledger.entries.keys) == ["b"])
    }

    @Test func endCountsOnce() throws {
        var ledger = try ledger("a")
        let isEnded2 = ledger.end("a", Self.fine)
        #expect(isEnded2)
        let isEnded3 = ledger.end("a", .failed(.network, detail: ""))
        #expect(!isEnded3)
        #expect(ledger.endings == ["a": Self.fine])
        let isEnded4 = ledger.end("unknown", Self.fine)
        #expect(!isEnded4)
        #expect(ledger.entries["unknown"] == nil)
    }

    @Test func idInUseIsRefused() throws {
        var ledger = try ledger("a")
        let error = #expect(throws: NetworkError.self) { try ledger.start("a", .upload) }
        #expect(error?.kind == .invalidParameters)
        #expect(ledger.entries["a"]?.kind == .download(path: "/a"))
    }

    @Test func transfersAreBounded() throws {
        var ledger = BackgroundLedger()
        for number in 0..<BackgroundLedger.maximumCount { try ledger.start("\(number)", .upload) }
        let error = #expect(throws: NetworkError.self) { try ledger.start("another", .upload) }
        #expect(error?.kind == .overloaded)
    }

    @Test func transferIsLostAfterTwoLaunchesWithoutTask() throws {
        var ledger = try ledger("lost", "running", "late")
        let known = ledger.startedIDs
        ledger.compare(running: ["running"], among: known)
        #expect(ledger.endings.isEmpty)
        // The system reports the end of a task that it does not list any more.
        let isEnded5 = ledger.end("late", Self.fine)
        #expect(isEnded5)
        ledger.compare(running: ["running"], among: ledger.startedIDs)
        #expect(ledger.endings.count == 2 && ledger.endings["late"] == Self.fine)
        guard case .failed(.lost, _) = ledger.endings["lost"] else { return #expect(Bool(false), "it is not lost") }
        #expect(ledger.startedIDs == ["running"])
    }

    @Test func taskThatIsThereAgainIsNotMissing() throws {
        var ledger = try ledger("a")
        ledger.compare(running: [], among: ["a"])
        ledger.compare(running: ["a"], among: ["a"])
        ledger.compare(running: [], among: ["a"])
        #expect(ledger.endings.isEmpty)
    }

    @Test func transferOfThisLaunchIsNotCompared() throws {
        var ledger = try ledger("new")
        for _ in 0..<2 { ledger.compare(running: [], among: []) }
        #expect(ledger.entries["new"]?.state == .started)
    }

    @Test func ledgerIsReadAsItWasWritten() throws {
        var ledger = try ledger("a", "b")
        try ledger.start("c", .upload)
        _ = ledger.end("c", .response(status: 201, body: Data([1, 2])))
        _ = ledger.end("b", .failed(.storage, detail: "The disk is full."))
        #expect(try BackgroundLedger(json: ledger.json) == ledger)
        for text in ["", "{}", #"{"version":2,"entries":{}}"#, #"{"version":1,"entries":{"a":{}}}"#] {
            #expect(BackgroundLedger(json: Array(text.utf8)) == nil)
        }
    }

    /// An update of an iOS app gives it another home folder.
    @Test(arguments: [
        ("/var/mobile/1/Documents/film.mp4", "/var/mobile/2/Documents/film.mp4"),
        ("/private/var/mobile/1/tmp/film.mp4", "/var/mobile/2/tmp/film.mp4"),
        ("/var/mobile/10/film.mp4", "/var/mobile/10/film.mp4"), ("/var/mobile/1", "/var/mobile/1"),
        ("/Volumes/Films/film.mp4", "/Volumes/Films/film.mp4"),
    ])
    func fileBelowTheHomeFolderMovesWithIt(_ before: String, _ after: String) throws {
        var ledger = BackgroundLedger()
        try ledger.start("a", .download(to: before, home: "/var/mobile/1"))
        let stored = try #require(try BackgroundLedger(json: ledger.json)?.entries["a"]?.kind)
        #expect(stored.filePath(home: "/var/mobile/2") == after)
        #expect(BackgroundLedger.Kind.upload.filePath(home: "/var/mobile/2") == nil)
    }

    @Test func homeFolderMayHaveAnyLetters() {
        let kind = BackgroundLedger.Kind.download(to: "/var/mobile/jos\u{E9}/film.mp4", home: "/var/mobile/jos\u{E9}")
        #expect(kind.filePath(home: "/var/mobile/\u{738B}") == "/var/mobile/\u{738B}/film.mp4")
    }

    @Test func homeFolderWithItsLinkIsTheSame() {
        let kind = BackgroundLedger.Kind.download(to: "/var/mobile/1/film.mp4", home: "/private/var/mobile/1")
        #expect(kind.filePath(home: "/private/var/mobile/2") == "/private/var/mobile/2/film.mp4")
        #expect(BackgroundLedger.Kind.download(to: "/film.mp4", home: "/").filePath(home: "/a") == "/film.mp4")
    }

    @Test func changesAreStoredAndMalformedFileIsReported() throws {
        let folder = try TestFolder()
        let path = folder.file().path
        let file = try BackgroundLedgerFile(path)
        try file.change { ledger throws(NetworkError) in try ledger.start("a", .upload) }
        #expect(throws: NetworkError.self) {
            try file.change { ledger throws(NetworkError) in try ledger.start("a", .upload) }
        }
        #expect(try BackgroundLedgerFile(path).current == file.current)
        try Data("{}".utf8).write(to: folder.file())
        let error = #expect(throws: NetworkError.self) { try BackgroundLedgerFile(path) }
        #expect(error?.kind == .storage)
    }

    // MARK: What is handed over

    @Test func handedOverRequestPassesTheStagesUnsent() async throws {
        let transport = StubTransport { _ in .json("{}") }
        let records = RecordCollector()
        var pipeline = RequestPipeline.tested
        pipeline.insert(HeaderStage(), before: .judging)
        let network = NetworkLayer(transport: transport, pipeline: pipeline, sinks: [records])
        let request = try await network.requestToHandOver(Film(), options: .standard)
        #expect(request.url == "https://archive.example/films/1")
        #expect(request.head.headerFields[.authorization] == "Bearer 1")
        #expect(transport.requests.isEmpty)
        await network.flushRecords()
        let record = try #require(records.records.first)
        #expect(records.records.count == 1 && record.attempts.count == 1 && record.outcome.name == "succeeded")
        #expect(record.decisions.contains { $0.name == "handedOver" })
    }

    /// Adds what a signature would be.
    private struct HeaderStage: RequestStage {
        var step: FlightStep { .customStage("header") }
        func respondImmediately(
            _ draft: inout RequestDraft, in flight: Flight
        ) throws(NetworkError) -> ImmediateResponse { .pass }
        func respond(
            to request: Request, in flight: Flight, next: RequestPipeline.Rest
        ) async throws(NetworkError) -> Response {
            var request = request
            request.head.headerFields[.authorization] = "Bearer 1"
            return try await next.send(request, in: flight)
        }
    }

    @Test func bodyIsWrittenToAPrivateFile() async throws {
        let folder = try TestFolder()
        try await RequestBody.bytes([1, 2, 3]).write(to: folder.file().path)
        #expect(folder.bytes() == [1, 2, 3])
        let stream = BodyStream {
            var parts: [[UInt8]] = [[1], [2, 3], []]
            return { parts.isEmpty ? nil : parts.removeFirst() }
        }
        try await RequestBody.stream(stream, byteCount: nil, isReplayable: true).write(to: folder.file().path)
        #expect(folder.bytes() == [1, 2, 3])
        let mode = try FileManager.default.attributesOfItem(atPath: folder.file().path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        try await RequestBody.none.write(to: folder.file().path)
        #expect(folder.bytes() == [])
    }
}
