import Foundation
import HTTPTypes
import RunwayTesting
import Testing

@testable import Runway

/// Downloads whose progress and landings a delegate is notified of.
@MainActor
@Suite(.timeLimit(.minutes(5)))
struct DownloadManagerTests {
    private let archive: FilmArchive
    private var recorder: LandingRecorder { archive.recorder }

    init() throws { archive = try FilmArchive() }

    @Test func delegateIsNotifiedOfProgressThenTheFile() async throws {
        archive.gate.open()
        let manager = archive.manager()
        var reportsAtLanding = 0
        recorder.onLanding = { [recorder] _, _ in reportsAtLanding = recorder.progress.count }
        let flight = manager.load(Film())
        let rawData = try await manager.landing(of: flight)
        let total = archive.bytes.count
        #expect(recorder.progress.last == TransferProgress(completedByteCount: total, totalByteCount: total))
        #expect(manager.progress?.fraction == 1)
        let counts = recorder.progress.map(\.completedByteCount)
        #expect(counts == counts.sorted())
        #expect(rawData.bytes.isEmpty && rawData.file?.url == archive.folder.file() && rawData.response.status == .ok)
        #expect(manager.rawData?.file?.byteCount == total && recorder.landings.map(\.flight) == [flight])
        #expect(archive.folder.bytes() == archive.bytes && archive.folder.names == ["file"])
        for _ in 1...3 { await Task { @MainActor in }.value }
        #expect(recorder.progress.count == reportsAtLanding, "no report comes after the landing")
        let record = try await archive.records.records(count: 1)[0]
        #expect(record.outcome.name == "succeeded" && record.id == flight)
        #expect(record.decisions.contains { $0.decision is TransferDecision })
    }

    @Test func cancelledDownloadIsResumedByTheNextLoad() async throws {
        let manager = archive.manager()
        let first = manager.load(Film())
        try await archive.gate.waitForArrivals()
        manager.cancelAll()
        let count = recorder.progress.count
        #expect(!manager.isLoading)
        // In the same turn: the cancelled download still has the file.
        let flight = manager.load(Film())
        #expect(recorder.progress.count == count)
        let file = try #require(try await manager.landing(of: flight).file)
        #expect(file.resumedByteCount == 400_000 && archive.folder.bytes() == archive.bytes)
        #expect(recorder.landings.map(\.flight) == [flight])
        let records = try await archive.records.records(count: 2)
        #expect(records.first { $0.id == first }?.outcome.name == "cancelled")
    }

    @Test func nextManagerResumesAReleasedManagersFile() async throws {
        var manager: DownloadManager<Film>? = archive.manager()
        weak let leaked = manager
        manager?.load(Film())
        try await archive.gate.waitForArrivals()
        manager = nil
        #expect(leaked == nil, "a download does not retain its manager")
        let next = archive.manager()
        let file = try #require(try await next.landing(of: next.load(Film())).file)
        #expect(file.resumedByteCount == 400_000 && archive.folder.bytes() == archive.bytes)
        #expect(recorder.landings.count == 1)
    }

    @Test func replacedDownloadReportsNothingMore() async throws {
        let manager = archive.manager()
        manager.load(Film(id: 1))
        try await archive.gate.waitForArrivals()
        let second = manager.load(Film(id: 2))
        _ = try await manager.landing(of: second)
        #expect(recorder.landings.map(\.flight) == [second])
        #expect(archive.folder.bytes() == archive.bytes)
    }

    @Test func identicalDownloadJoinsTheOneInFlight() async throws {
        let manager = archive.manager()
        let flight = manager.load(Film())
        try await archive.gate.waitForArrivals()
        #expect(manager.load(Film()) == flight)
        archive.gate.open()
        _ = try await manager.landing(of: flight)
        #expect(archive.transport.requests.count == 1)
    }

    @Test func downloadToAnotherFileReplacesTheFirst() async throws {
        let target = Target(file: archive.folder.file("first"))
        let manager = DownloadManager<Film>(on: archive.network, to: { _ in target.file }, delegate: recorder)
        let first = manager.load(Film())
        try await archive.gate.waitForArrivals()
        #expect(manager.load(Film()) == first)
        target.file = archive.folder.file("second")
        let second = manager.load(Film())
        #expect(second != first)
        archive.gate.open()
        let file = try #require(try await manager.landing(of: second).file)
        #expect(file.url == archive.folder.file("second") && recorder.landings.map(\.flight) == [second])
        #expect(archive.folder.bytes("second") == archive.bytes && archive.folder.bytes("first") == nil)
    }

    @Test func secondDownloadToAFileInUseFails() async throws {
        let manager = archive.manager()
        let first = manager.load(Film())
        try await archive.gate.waitForArrivals()
        let other = archive.manager()
        let error = await #expect(throws: NetworkError.self) { try await other.landing(of: other.load(Film())) }
        #expect(error?.kind == .storage && error?.detail.contains("another download") == true)
        archive.gate.open()
        #expect(try await manager.landing(of: first).file?.resumedByteCount == 0)
        #expect(archive.folder.bytes() == archive.bytes)
    }

    @Test func interceptorsAndValidatorSeeTheDownload() async throws {
        archive.gate.open()
        let spy = FilmSpy()
        let manager = archive.manager()
        (manager.interceptor, manager.validator) = (spy, spy)
        let flight = manager.load(Film(id: 1))
        _ = try await manager.landing(of: flight)
        #expect(spy.events == ["beforeCall", "validate 7", "checked 200", "beforeSuccess", "afterSuccess"])
        #expect(archive.transport.requests.first?.head.path == "/films/7")
        #expect(spy.manager === manager)
        spy.refuses = true
        let error = await #expect(throws: NetworkError.self) { try await manager.landing(of: manager.load(Film())) }
        #expect(error?.kind == .invalidResponse && manager.error?.kind == .invalidResponse)
    }

    @Test func fileURLIsCheckedBeforeTheStart() async throws {
        let nowhere = try #require(URL(string: "https://archive.example/file"))
        let manager = DownloadManager<Film>(on: archive.network, to: { _ in nowhere }, delegate: recorder)
        let error = await #expect(throws: NetworkError.self) { try await manager.landing(of: manager.load(Film())) }
        #expect(error?.kind == .invalidParameters && archive.transport.requests.isEmpty)
    }

    @Test func layerResumesADownloadThatFoundNoNetwork() async throws {
        let archive = try FilmArchive(failures: 1)
        archive.gate.open()
        let manager = archive.manager()
        let options = CallOptions(retry: .off)
        let flight = manager.load(Film(), options: options)
        let error = await #expect(throws: NetworkError.self) { try await manager.landing(of: flight) }
        #expect(error?.kind == .noNetwork)
        let resumed = archive.network.resumeCalls(of: Archive.self)
        #expect(resumed.count == 1)
        _ = try await manager.landing(of: try #require(resumed.first))
        #expect(archive.folder.bytes() == archive.bytes && archive.recorder.landings.count == 2)
    }
}

/// The file of the next download.
@MainActor
private final class Target {
    var file: URL
    init(file: URL) { self.file = file }
}

/// Changes the film, and logs what it sees. Held by its test alone.
@MainActor
private final class FilmSpy: Interceptor, Validator {
    var events: [String] = []
    var refuses = false
    weak var manager: (any APIManaging)?

    func beforeCall(to endpoint: inout any Endpoint, as flight: FlightID, by manager: (any APIManaging)?) -> Bool {
        events.append("beforeCall")
        self.manager = manager
        endpoint = Film(id: 7)
        return true
    }

    func beforeSuccess(_ rawData: RawData, of call: InterceptedCall, by manager: (any APIManaging)?) -> Bool {
        if rawData.file != nil { events.append("beforeSuccess") }
        return true
    }

    func afterSuccess(_ rawData: RawData, of call: InterceptedCall, by manager: (any APIManaging)?) {
        events.append("afterSuccess")
    }

    func apiManager(_ manager: any APIManaging, validate endpoint: any Endpoint) {
        events.append("validate \((endpoint as? Film)?.id ?? 0)")
    }

    func apiManager(_ manager: any APIManaging, validateResponse rawData: RawData) throws {
        events.append("checked \(rawData.response.status.code)")
        if refuses { throw Refused("refused") }
    }
}
