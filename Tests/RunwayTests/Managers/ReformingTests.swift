import Dispatch
import HTTPTypes
import RunwayJSON
import RunwayTesting
import Testing

@testable import Runway

@MainActor
struct ReformingTests {
    let managers = ManagerBench()
    let recorder = LandingRecorder()

    private func landed<E: Endpoint>(_ endpoint: E, _ json: String) async throws -> APIManager<E> {
        let manager = APIManager<E>(on: managers.network, delegate: recorder)
        let count = recorder.landings.count
        let flight = manager.load(endpoint)
        try await managers.transport.waitForArrival(of: flight)
        managers.transport.respond(flight.number, with: .success(.json(json)))
        try await recorder.landings(count: count + 1)
        return manager
    }

    @Test func oneReformerServesManyAPIsByEndpoint() async throws {
        let refresh = try await landed(Refresh(), #"{"headline":"one"}"#)
        let filter = try await landed(Filter(city: "a"), #"{"title":"two"}"#)
        let titles = try [refresh as any APIManaging, filter].map { try $0.fetch(TitleReformer())[TitleKeys.title] }
        #expect(titles == ["one", "two"])
    }

    @Test func manyReformersServeOneAPI() async throws {
        let manager = try await landed(Refresh(), #"{"headline":"one","page":3}"#)
        #expect(try manager.fetch(TitleReformer())[TitleKeys.title] == "one")
        #expect(try manager.fetch(DecodableReformer(Int.self, at: "page")) == 3)
        #expect(try manager.fetch(LabelReformer()).text == "one")
    }

    @Test func sendableReformerRunsOffTheMainActor() async throws {
        // It blocks a thread of all tasks.
        try await oneAtATime {
            let manager = try await landed(Refresh(), #"{"headline":"one"}"#)
            let reformer = WaitingReformer()
            // The signal comes from the main actor, which is free only while the reformer waits somewhere else.
            Task { reformer.signal.signal() }
            #expect(try await manager.fetchConcurrently(reformer) == .success)
        }
    }

    @Test func reformerErrorIsOneRecordedNetworkError() async throws {
        let manager = try await landed(Refresh(), #"{"headline":7}"#)
        let error = #expect(throws: NetworkError.self) { try manager.fetch(TitleReformer()) }
        #expect(error?.kind == .invalidResponse && error?.step == .reforming)
        #expect((error?.underlying as? JSONError)?.path == "headline")
        #expect(error?.request == "GET https://estates.example/v1/refresh?page=1")
        await managers.network.flushRecords()
        let records = managers.records.records
        #expect(records.count == 1, "the record is reported again, and is the same one")
        #expect(records[0].outcome.name == "succeeded")
        let decision = try #require(records[0].decisions.last)
        #expect(decision.step == .reforming)
        #expect("\(decision.decision)".contains("TitleReformer"))
    }

    @Test func errorOfOneReformerIsRecordedOnce() async throws {
        let manager = try await landed(Refresh(), #"{"headline":7}"#)
        for _ in 0..<100 { #expect(throws: NetworkError.self) { try manager.fetch(TitleReformer()) } }
        #expect(throws: NetworkError.self) { try manager.fetch(DecodableReformer(String.self, at: "page")) }
        await managers.network.flushRecords()
        let record = try #require(managers.records.records.first)
        #expect(record.decisions.filter { $0.step == .reforming }.count == 2)
        #expect(record.isAmendment)
    }

    @Test(arguments: ["application/json", "text/html", nil])
    func landedResponseIsIndexedForAnyMediaType(_ mediaType: String?) async throws {
        let manager = APIManager<Refresh>(on: managers.network, delegate: recorder)
        var wasIndexed = false
        recorder.onLanding = { _, manager in wasIndexed = manager.rawData?.isIndexed ?? false }
        let flight = manager.load(Refresh())
        try await managers.transport.waitForArrival(of: flight)
        let head = HTTPResponse(status: .ok, headerFields: mediaType.map { [.contentType: $0] } ?? [:])
        managers.transport.respond(
            flight.number,
            with: .success(Response(head: head, body: .whole(RawData(Array(" {}".utf8), response: head)))))
        try await recorder.landings(count: 1)
        #expect(wasIndexed)
    }

    @Test func withoutAResponseReformingFails() async throws {
        let manager = APIManager<Refresh>(on: managers.network)
        let error = #expect(throws: NetworkError.self) { try manager.fetch(TitleReformer()) }
        #expect(error?.step == .reforming)
        await #expect(throws: NetworkError.self) { try await manager.fetchConcurrently(TitleReformer()) }
    }

    /// Lands a failure with a body, after a success.
    private func refused<E: Endpoint>(_ endpoint: E, _ json: String) async throws -> APIManager<E> {
        let manager = try await landed(endpoint, #"{"headline":"earlier"}"#)
        let flight = manager.load(endpoint)
        try await managers.transport.waitForArrival(of: flight)
        managers.transport.respond(flight.number, with: .success(.json(json, status: .conflict)))
        try await recorder.landings(count: recorder.landings.count + 1)
        return manager
    }

    @Test func aRefusedResponseCanBeReformed() async throws {
        let manager = try await refused(Refresh(), #"{"headline":"taken"}"#)
        #expect(try manager.fetchFailure(TitleReformer())[TitleKeys.title] == "taken")
        #expect(try (manager as any APIManaging).fetchFailure(LabelReformer()).text == "taken")
        #expect(try manager.fetch(TitleReformer())[TitleKeys.title] == "earlier", "the response that landed stays")
    }

    @Test func itsReformerMayThrowAsAnyOther() async throws {
        let manager = try await refused(Refresh(), #"{"headline":7}"#)
        let error = #expect(throws: NetworkError.self) { try manager.fetchFailure(TitleReformer()) }
        #expect(error?.step == .reforming && error?.status == .conflict)
        await managers.network.flushRecords()
        let record = try #require(managers.records.records.max { $0.id < $1.id })
        #expect(record.outcome.name == "failed" && record.decisions.last?.step == .reforming)
    }

    @Test func nothingIsReformedWithoutARefusedResponse() async throws {
        let manager = try await landed(Refresh(), #"{"headline":"one"}"#)
        let error = #expect(throws: NetworkError.self) { try manager.fetchFailure(TitleReformer()) }
        #expect(error?.step == .reforming && error?.detail.contains("has not failed") == true)
        let flight = manager.load(Refresh())
        try await managers.transport.waitForArrival(of: flight)
        let lost = NetworkError(.noNetwork, in: .transporting, "gone")
        managers.transport.respond(flight.number, with: .failure(lost))
        try await recorder.landings(count: 2)
        let other = #expect(throws: NetworkError.self) { try manager.fetchFailure(TitleReformer()) }
        #expect(other?.detail.contains("without a response") == true)
    }

    @Test func aRefusedPageCanBeReformed() async throws {
        let layer = StubbedLayer { _ in .json(#"{"headline":"closed"}"#, status: .forbidden) }
        let manager = PagedAPIManager<Pages>(on: layer.network, delegate: recorder)
        #expect(throws: NetworkError.self) { try manager.fetchFailure(TextReformer()) }
        manager.load(Pages())
        try await recorder.landings(count: 1)
        #expect(try manager.fetchFailure(TextReformer()) == "closed")
    }
}

private struct Pages: PagedEndpoint {
    static let service = Estates.self
    static let paging = PageStyle.offset
    var path: EndpointPath { "pages" }
    var offset = 0
    mutating func ask(for page: PageRequest) { offset = page.offset }
    func read(_ rawData: RawData) throws -> PageContent { try PageContent(rows: rawData["rows"], id: "id") }
}

private struct TextReformer: Reformer {
    func reform(_ rawData: RawData, from endpoint: any Endpoint) throws -> String {
        try rawData["headline"].require()
    }
}

private enum TitleKeys {
    static let title = ViewKey<String>("title", in: Self.self)
}

private struct TitleReformer: Reformer, Sendable {
    func reform(_ rawData: RawData, from endpoint: any Endpoint) throws -> ViewData {
        var data = ViewData()
        data[TitleKeys.title] = try rawData[endpoint is Refresh ? "headline" : "title"].require()
        return data
    }
}

private struct WaitingReformer: Reformer, Sendable {
    let signal = DispatchSemaphore(value: 0)

    func reform(_ rawData: RawData, from endpoint: any Endpoint) throws -> DispatchTimeoutResult {
        signal.wait(timeout: .now() + 60)
    }
}

/// A view: it belongs to the main actor and is not `Sendable`.
@MainActor
private final class Label {
    var text = ""
}

@MainActor
private final class LabelReformer: @MainActor Reformer {
    func reform(_ rawData: RawData, from endpoint: any Endpoint) throws -> Label {
        let label = Label()
        label.text = try rawData["headline"].require()
        return label
    }
}
