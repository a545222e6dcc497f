import HTTPTypes
import RunwayTesting
import Testing

@testable import Runway

@Suite(.timeLimit(.minutes(5)))
struct CoalescingRecordTests {
    @Test func followersRecordNamesItsLeaderAndNoAttempt() async throws {
        let room = ReadingRoom()
        let calls = [try await room.begin(Shelf(), as: 1), try await room.join(Shelf()), try await room.join(Shelf())]
        room.clock.advance(by: .seconds(2))
        room.transport.flight(1)?.noteHTTPVersion("HTTP/2")
        room.transport.respond(1)
        for call in calls { _ = try await call.value }
        let records = try await room.records(count: 3)
        #expect(records.map(\.outcome.name) == ["succeeded", "succeeded", "succeeded"])
        #expect(records.map(\.attempts.count) == [1, 0, 0], "requests on the wire are counted once")
        #expect(records[0].attempts[0].httpVersion == "HTTP/2")
        #expect(records[0].attempts[0].end == .seconds(2))
        #expect(records.map(\.source) == [.network, .network, .network])
        let ids = records.map(\.id)
        #expect(records[0].decisions(of: SharingDecision.self) == [.shared(with: ids[1]), .shared(with: ids[2])])
        #expect(records[0].decisions(of: JudgingDecision.self).count == 1)
        for joiner in records[1...] {
            #expect(joiner.decisions(of: SharingDecision.self) == [.joined(ids[0])])
            #expect(joiner.decisions(of: JudgingDecision.self).isEmpty)
            #expect(joiner.description.contains("reading: joined #1"))
            #expect(joiner.summary.contains("nothing sent"))
        }
    }

    @Test func aCallAloneHasNothingToSay() async throws {
        let room = ReadingRoom()
        let call = try await room.begin(Shelf(), as: 1)
        room.transport.respond(1)
        _ = try await call.value
        #expect(try await room.records(count: 1)[0].decisions(of: SharingDecision.self).isEmpty)
    }

    @Test func recordOfALeaderThatLeftIsComplete() async throws {
        let room = ReadingRoom()
        let first = try await room.begin(Shelf(), as: 1)
        let second = try await room.join(Shelf())
        first.cancel()
        _ = try await first.failure()
        await room.network.flushRecords()
        #expect(room.records.records.isEmpty, "its request is still in flight")
        room.clock.advance(by: .seconds(3))
        room.transport.respond(1)
        #expect(try await second.number == 1)
        let records = try await room.records(count: 2)
        await room.network.flushRecords()
        #expect(room.records.records.count == 2)
        #expect(records.map(\.outcome.name) == ["cancelled", "succeeded"])
        #expect(records[0].duration == .zero && records[1].duration == .seconds(3))
        #expect(records[0].attempts.map(\.end) == [.seconds(3)])
        #expect(records[0].attempts.map(\.status) == [.ok])
        #expect(records[1].attempts.isEmpty)
        #expect(records[0].decisions(of: SharingDecision.self).contains(.left(others: 1)))
    }

    @Test func leadersRecordIsReportedWhenAllLeave() async throws {
        for listens in [true, false] {
            let room = ReadingRoom(listens: listens)
            let calls = [try await room.begin(Shelf(), as: 1), try await room.join(Shelf())]
            for call in calls {
                call.cancel()
                _ = try await call.failure()
            }
            let records = try await room.records(count: 2)
            #expect(records.map(\.outcome.name) == ["cancelled", "cancelled"])
            #expect(records.map(\.attempts.count) == [1, 0])
            room.transport.respond(1)
        }
    }

    @Test func cancelledCallRecordsTheEndOfItsRequest() async throws {
        let room = ReadingRoom()
        let call = try await room.begin(Shelf(), as: 1)
        room.clock.advance(by: .seconds(1))
        call.cancel()
        _ = try await call.failure()
        let attempt = try #require(try await room.records(count: 1)[0].attempts.first)
        #expect(attempt.end == .seconds(1) && attempt.failure == "gone")
    }
}
