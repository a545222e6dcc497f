import HTTPTypes
import RunwayTesting
import Testing

@testable import Runway

/// Stored responses that several calls share: their age and order are those of the request that fetched them.
@Suite(.timeLimit(.minutes(10)))
struct HTTPSharedReadTests {
    private let room = ReadingRoom()
    private let options = CallOptions(cache: .http())

    private struct ShelfChange: Endpoint {
        static let service = Library.self
        static let method = HTTPRequest.Method.put
        var path: EndpointPath { "shelf/1" }
    }

    private func begin(_ number: UInt64, _ use: CacheUse = .standard) async throws -> Task<RawData, any Error> {
        let call = room.call(Shelf(), CallOptions(cache: .http(), cacheUse: use))
        try await room.transport.waitForArrival(of: number)
        return call
    }

    private func join(_ read: UInt64) async throws -> Task<RawData, any Error> {
        let call = room.call(Shelf(), options)
        try await room.settle { room.network.reads.flights(waitingFor: read).count == 2 }
        return call
    }

    private func respond(_ number: UInt64, _ control: String = "max-age=600") {
        var response = Response.json(#"{"flight":\#(number)}"#)
        response.head.headerFields[.cacheControl] = control
        room.transport.respond(number, with: .success(response))
    }

    @Test func ageCountsFromTheRequestNotTheJoining() async throws {
        let first = try await begin(1)
        room.clock.advance(by: .seconds(20))
        let second = try await join(1)
        respond(1, "max-age=25")
        for call in [first, second] { #expect(try await call.number == 1) }
        room.clock.advance(by: .seconds(4))
        #expect(try await room.call(Shelf(), options).value.response.headerFields[.age] == "24")
        room.clock.advance(by: .seconds(1))
        let third = try await begin(4)
        respond(4)
        #expect(try await third.number == 4)
    }

    @Test func followersOlderResponseReplacesNoNewerOne() async throws {
        let first = try await begin(1)
        let newer = try await begin(2, .refresh)
        let second = try await join(1)
        respond(2)
        #expect(try await newer.number == 2)
        respond(1)
        for call in [first, second] { #expect(try await call.number == 1) }
        #expect(try await room.call(Shelf(), CallOptions(cache: .http(), cacheUse: .onlyIfCached)).number == 2)
    }

    @Test func newerUncacheableResponseLeavesOlderOnesUnstored() async throws {
        let older = try await begin(1)
        let newer = try await begin(2, .refresh)
        respond(2, "no-store")
        #expect(try await newer.number == 2)
        respond(1)
        #expect(try await older.number == 1)
        #expect(room.network.cache.count == 0)
        let later = try await begin(3)
        respond(3)
        #expect(try await later.number == 3)
        #expect(room.network.cache.count == 1, "responses to later requests are stored")
    }

    @Test(arguments: [CachePolicy.http(), .timeToLive(), .off])
    func readAfterAChangeJoinsNoEarlierOne(_ policy: CachePolicy) async throws {
        let before = try await begin(1)
        let change = room.call(ShelfChange(), CallOptions(cache: policy))
        try await room.transport.waitForArrival(of: 2)
        respond(2)
        _ = try await change.value
        let after = room.call(Shelf(), options)
        try await room.settle {
            room.transport.parked.count == 2 || room.network.reads.flights(waitingFor: 1).count == 2
        }
        #expect(room.transport.parked == [1, 3])
        respond(1)
        respond(3)
        #expect(try await before.number == 1)
        #expect(try await after.number == 3)
        #expect(try await room.call(Shelf(), CallOptions(cache: .http(), cacheUse: .onlyIfCached)).number == 3)
    }

    @Test func changeThatFailedLeavesReadsShared() async throws {
        let before = try await begin(1)
        let change = room.call(ShelfChange())
        try await room.transport.waitForArrival(of: 2)
        room.transport.respond(2, with: .success(.json("{}", status: .conflict)))
        #expect(try await change.failure().status == .conflict)
        let after = try await join(1)
        respond(1)
        for call in [before, after] { #expect(try await call.number == 1) }
    }
}
