import Foundation
import HTTPTypes
import Runway
import RunwayJSON
import RunwayTesting
import Testing

/// Uploads whose progress and landings a delegate is notified of.
@MainActor
@Suite(.timeLimit(.minutes(5)))
struct UploadManagerTests {
    private struct FilmUpload: Endpoint {
        static let service = Archive.self
        static let method = HTTPRequest.Method.put
        static let encoding = ParameterEncoding.raw(contentType: "video/mp4")
        @Unencoded var film: [UInt8]
        var path: EndpointPath { "film" }
        var content: RequestBody { .bytes(film) }
    }

    private struct FileUpload: Endpoint {
        static let service = Archive.self
        static let method = HTTPRequest.Method.put
        static let encoding = ParameterEncoding.raw(contentType: "video/mp4")
        @Unencoded var film: URL
        var path: EndpointPath { "film" }
        var content: RequestBody { get throws { try .file(film) } }
    }

    private let recorder = LandingRecorder()
    private let gate = ScriptedGate()
    private let records = RecordCollector()
    private let film = [UInt8].random(700_000, seed: 5)
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// A layer whose server reads a body and waits at the gate before it responds.
    private func layer(holds: Bool = false) -> NetworkLayer {
        let transport = StubTransport { [gate] request throws(NetworkError) in
            guard case .stream(let body, _, _) = request.body else { return .json("{}", status: .badRequest) }
            do {
                let bytes = try await body.collect(upTo: 1 << 20)
                if holds { try await gate.pass() }
                return .json(#"{"byteCount":\#(bytes.count)}"#)
            } catch {
                throw NetworkError(.cancelled, in: .transporting, "cancelled")
            }
        }
        return NetworkLayer(
            transport: transport, pipeline: .tested, sinks: [records],
            limits: LayerLimits(admission: .none, retrying: .none))
    }

    @Test func delegateIsNotifiedOfProgressThenTheResponse() async throws {
        let manager = UploadManager<FilmUpload>(on: layer(), delegate: recorder)
        var reportsAtLanding = 0
        recorder.onLanding = { [recorder] _, _ in reportsAtLanding = recorder.progress.count }
        let rawData = try await manager.landing(of: FilmUpload(film: film))
        #expect(rawData["byteCount"].int == film.count && rawData.file == nil)
        #expect(recorder.progress.last == TransferProgress(completedByteCount: film.count, totalByteCount: film.count))
        #expect(manager.progress?.fraction == 1)
        for _ in 1...3 { await Task { @MainActor in }.value }
        #expect(recorder.progress.count == reportsAtLanding && recorder.landings.count == 1)
    }

    @Test func releasedManagerCancelsItsUpload() async throws {
        let network = layer(holds: true)
        var manager: UploadManager<FilmUpload>? = UploadManager(on: network, delegate: recorder)
        manager?.load(FilmUpload(film: film))
        try await gate.waitForArrivals()
        manager = nil
        #expect(try await records.records(count: 1)[0].outcome.name == "cancelled")
        #expect(recorder.landings.isEmpty)
    }

    @Test func cancelledUploadReportsNothingMore() async throws {
        let manager = UploadManager<FilmUpload>(on: layer(holds: true), delegate: recorder)
        manager.load(FilmUpload(film: film))
        try await gate.waitForArrivals()
        manager.cancelAll()
        let count = recorder.progress.count
        _ = try await records.records(count: 1)
        for _ in 1...3 { await Task { @MainActor in }.value }
        #expect(recorder.progress.count == count && recorder.landings.isEmpty && !manager.isLoading)
    }

    @Test func identicalUploadJoinsTheOneInFlight() async throws {
        let manager = UploadManager<FilmUpload>(on: layer(holds: true), delegate: recorder)
        let flight = manager.load(FilmUpload(film: film))
        try await gate.waitForArrivals()
        #expect(manager.load(FilmUpload(film: film)) == flight)
        gate.open()
        _ = try await manager.landing(of: flight)
        #expect(gate.arrivalCount == 1 && recorder.landings.map(\.flight) == [flight])
    }

    @Test func uploadOfTheSameFileIsJoined() async throws {
        try Data(film).write(to: folder.file())
        let manager = UploadManager<FileUpload>(on: layer(holds: true), delegate: recorder)
        let flight = manager.load(FileUpload(film: folder.file()))
        try await gate.waitForArrivals()
        #expect(manager.load(FileUpload(film: folder.file())) == flight)
        gate.open()
        let rawData = try await manager.landing(of: flight)
        #expect(rawData["byteCount"].int == film.count)
        #expect(gate.arrivalCount == 1 && recorder.landings.map(\.flight) == [flight])
    }

    @Test(arguments: ["changed", "other"]) func uploadOfAnotherFileReplacesTheFirst(which: String) async throws {
        try Data(film).write(to: folder.file())
        let manager = UploadManager<FileUpload>(on: layer(holds: true), delegate: recorder)
        let first = manager.load(FileUpload(film: folder.file()))
        // The server has all of the file by then, so that the first upload does not notice the change.
        try await gate.waitForArrivals()
        let file = which == "changed" ? folder.file() : folder.file(which)
        try Data([1, 2, 3]).write(to: file)
        let second = manager.load(FileUpload(film: file))
        #expect(second != first)
        gate.open()
        let rawData = try await manager.landing(of: second)
        #expect(rawData["byteCount"].int == 3 && recorder.landings.map(\.flight) == [second])
    }

    @Test func otherUploadReplacesTheOneInFlight() async throws {
        let manager = UploadManager<FilmUpload>(on: layer(holds: true), delegate: recorder)
        let first = manager.load(FilmUpload(film: film))
        try await gate.waitForArrivals()
        let second = manager.load(FilmUpload(film: [1, 2, 3]))
        gate.open()
        let rawData = try await manager.landing(of: second)
        #expect(rawData["byteCount"].int == 3 && manager.progress?.totalByteCount == 3)
        #expect(recorder.landings.map(\.flight) == [second])
        let all = try await records.records(count: 2)
        #expect(all.first { $0.id == first }?.outcome.name == "replaced")
    }

    @Test func interceptorsAndValidatorSeeTheUpload() async throws {
        let spy = Spy()
        let manager = UploadManager<FilmUpload>(on: layer(), delegate: recorder)
        (manager.interceptor, manager.validator) = (spy, spy)
        let rawData = try await manager.landing(of: FilmUpload(film: film))
        #expect(spy.events == ["beforeCall", "validate 3", "checked 200", "beforeSuccess 3", "afterSuccess"])
        #expect(rawData["byteCount"].int == 3 && spy.manager === manager)
        spy.refuses = true
        let error = await #expect(throws: NetworkError.self) {
            try await manager.landing(of: FilmUpload(film: film))
        }
        #expect(error?.kind == .invalidResponse && spy.events.last == "checked 200")
    }

    /// Changes the film, and logs what it sees. Held by its test alone.
    @MainActor
    private final class Spy: Interceptor, Validator {
        var events: [String] = []
        var refuses = false
        weak var manager: (any APIManaging)?

        func beforeCall(to endpoint: inout any Endpoint, as flight: FlightID, by manager: (any APIManaging)?) -> Bool {
            events.append("beforeCall")
            self.manager = manager
            endpoint = FilmUpload(film: [1, 2, 3])
            return true
        }

        func beforeSuccess(_ rawData: RawData, of call: InterceptedCall, by manager: (any APIManaging)?) -> Bool {
            events.append("beforeSuccess \(rawData["byteCount"].int ?? 0)")
            return true
        }

        func afterSuccess(_ rawData: RawData, of call: InterceptedCall, by manager: (any APIManaging)?) {
            events.append("afterSuccess")
        }

        func apiManager(_ manager: any APIManaging, validate endpoint: any Endpoint) {
            events.append("validate \((endpoint as? FilmUpload)?.film.count ?? 0)")
        }

        func apiManager(_ manager: any APIManaging, validateResponse rawData: RawData) throws {
            events.append("checked \(rawData.response.status.code)")
            if refuses { throw Refused("refused") }
        }
    }
}
