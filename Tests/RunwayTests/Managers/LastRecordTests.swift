import HTTPTypes
import RunwayJSON
import RunwayTesting
import Testing

@testable import Runway

/// The record of the call that a manager shows.
@MainActor
@Suite(.timeLimit(.minutes(5)))
struct LastRecordTests {
    private let layer = StubbedLayer { request in
        request.head.path?.contains("page=2") == true ? .json("{}", status: .notFound) : .json("{}")
    }
    private let recorder = LandingRecorder()

    @Test func theDelegateReadsTheRecordOfItsLanding() async throws {
        let manager = APIManager<Refresh>(on: layer.network, delegate: recorder)
        var records: [FlightRecord?] = []
        recorder.onLanding = { _, manager in records.append(manager.lastRecord) }
        #expect(manager.lastRecord == nil)
        let first = manager.load(Refresh(page: 1))
        try await recorder.landings(count: 1)
        let second = manager.load(Refresh(page: 2))
        try await recorder.landings(count: 2)
        #expect(records.map { $0?.id } == [first, second])
        #expect(records[0]?.outcome.kind == .succeeded && records[0]?.attempts.count == 1)
        #expect(records[1]?.outcome.error?.status == .notFound)
        manager.clear()
        #expect(manager.lastRecord == nil)
    }

    @Test func itIsRedactedAsEveryRecord() async throws {
        let manager = APIManager<QueryCall>(on: layer.network, delegate: recorder)
        manager.load(
            QueryCall(given: ["token": "hunter2-hunter2"], fields: ["Authorization": "Bearer hunter2-hunter2"]))
        try await recorder.landings(count: 1)
        let record = try #require(manager.lastRecord)
        #expect(record.attempts[0].headerFields[.authorization] == Redaction.placeholder)
        #expect(!String(reflecting: record).contains("hunter2"))
        #expect(String(reflecting: manager.error as Any).contains("hunter2") == false)
    }

    @Test func cancelledCallLeavesTheRecordOfTheLanding() async throws {
        let manager = APIManager<Refresh>(on: layer.network, delegate: recorder)
        let landed = manager.load(Refresh(page: 1))
        try await recorder.landings(count: 1)
        let cancelled = manager.load(Refresh(page: 3))
        manager.cancel(cancelled)
        #expect(manager.lastRecord?.id == landed)
    }

    @Test func itHasWhatAReformerAddedLater() async throws {
        let manager = APIManager<Refresh>(on: layer.network, delegate: recorder)
        manager.load(Refresh(page: 1))
        try await recorder.landings(count: 1)
        struct Title: Reformer {
            func reform(_ rawData: RawData, from endpoint: any Endpoint) throws -> String {
                try rawData["title"].require(String.self)
            }
        }
        #expect(throws: NetworkError.self) { try manager.fetch(Title()) }
        #expect(manager.lastRecord?.decisions.contains { $0.name == "reformingFailed" } == true)
    }

    @Test func itIsReleasedWithTheManager() async throws {
        var manager: APIManager<Refresh>? = APIManager(on: layer.network, delegate: recorder)
        manager?.load(Refresh(page: 1))
        try await recorder.landings(count: 1)
        #expect(manager?.lastRecord != nil)
        await layer.network.flushRecords()
        weak let flight = manager?.state.last.landed?.flight
        #expect(flight != nil)
        manager = nil
        try await waitUntil { flight == nil }
    }

    @Test func listShowsTheRecordOfItsLastRequest() async throws {
        let play = PagedPlay(EditedList(count: 9), OffsetList.self)
        #expect(play.manager.lastRecord == nil)
        await play.first(OffsetList())
        let first = try #require(play.manager.lastRecord)
        #expect(first.outcome.kind == .succeeded && first.id == play.manager.landedFlight)
        await play.next()
        #expect(play.manager.lastRecord.map { $0.id > first.id } == true)
        play.manager.clear()
        #expect(play.manager.lastRecord == nil)
    }
}
