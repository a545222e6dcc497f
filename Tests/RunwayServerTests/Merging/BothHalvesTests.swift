import HTTPTypes
import Hummingbird
import HummingbirdHTTP2
import Logging
import NIOCore
import RunwayDemo
import RunwayJSON
import RunwayServer
import RunwayTesting
import RunwayTransport
import Testing

@testable import Runway

/// The layer's merging and the server's, over real sockets.
@Suite(.timeLimit(.minutes(10)))
struct BothHalvesTests {
    enum Wire: CaseIterable { case plain, tls, http2 }

    @Test(arguments: Wire.allCases)
    func manyCallsAtOnceMakeTwoRequests(_ wire: Wire) async throws {
        try await withServer(wire) { server in
            let network = server.network
            let first = Task { try await network.call(Fetch("held")) }
            try await server.held.waitForArrivals()
            let calls = (1...19).map { number in Task { try await network.call(Fetch("echo/\(number)")) } }
            try await waitUntil { network.merger.waitingCount >= 19 }
            server.held.open()
            _ = try await first.value
            for (index, call) in calls.enumerated() {
                let rawData = try await call.value
                #expect(rawData.text == "/v1/echo/\(index + 1)")
                #expect(rawData.response.headerFields[.contentType]?.hasPrefix("text/plain") == true)
            }
            #expect(server.wireCount.value == 2)
            let records = try await server.records.records(count: 21)
            #expect(records.reduce(0) { $0 + $1.attempts.count } == 2)
            let envelopeRecord = try #require(records.first { $0.endpoint == "merged requests" })
            #expect(envelopeRecord.attempts.first?.httpVersion == (wire == .http2 ? "HTTP/2" : "HTTP/1.1"))
        }
    }

    @Test func eightRepeatedCallersNeedFewRequests() async throws {
        try await withServer(.tls) { server in
            let network = server.network
            // The wait ends with the next request of every caller: the time after which it would end otherwise never passes.
            network.configure(Backend.self) { $0.merging?.settling = .seconds(1) }
            @Sendable func makeCalls(_ caller: Int) async throws {
                for round in 1...25 {
                    let rawData = try await network.call(Fetch("echo/\(caller)/\(round)"))
                    #expect(rawData.text == "/v1/echo/\(caller)/\(round)")
                }
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    _ = try await network.call(Fetch("held"))
                    try await makeCalls(8)
                }
                try await server.held.waitForArrivals()
                for caller in 1...7 { group.addTask { try await makeCalls(caller) } }
                try await waitUntil { network.merger.waitingCount == 7 }
                server.held.open()
                try await group.waitForAll()
            }
            // What was held, and an envelope for the eight calls of every round.
            #expect(server.wireCount.value == 1 + 25)
        }
    }

    @Test func requestsOverHTTP2AreUnmergedByDefault() async throws {
        try await withServer(.http2) { server in
            let network = server.network
            network.configure(Backend.self) { $0.merging?.mergesOverHTTP2 = false }
            _ = try await network.call(Fetch("echo/first"))
            let first = Task { try await network.call(Fetch("held")) }
            try await server.held.waitForArrivals()
            for number in 1...5 { _ = try await network.call(Fetch("echo/\(number)")) }
            server.held.open()
            _ = try await first.value
            #expect(server.wireCount.value == 7)
        }
    }

    @Test func slowResponseMergesNoRequestsOverHTTP2() async throws {
        try await withServer(.http2) { server in
            let network = server.network
            network.configure(Backend.self) { $0.merging?.mergesOverHTTP2 = false }
            let first = Task { try await network.call(Fetch("held")) }
            try await server.held.waitForArrivals()
            let calls = (1...5).map { number in Task { try await network.call(Fetch("echo/\(number)")) } }
            for call in calls { _ = try await call.value }
            server.held.open()
            _ = try await first.value
            #expect(server.wireCount.value == 6)
            let decisions = try await server.records.records(count: 6).flatMap { $0.decisions(of: MergeDecision.self) }
            #expect(decisions.count { $0 == .notMerged(.http2) } == 5)
        }
    }

    @Test func mergedResponsesEqualSeparateOnes() async throws {
        try await withServer(.tls) { server in
            let network = server.network
            let bytes: [UInt8] = [0xFF, 0x00, 0xC3, 0x28]
            let first = Task { try await network.call(Fetch("held")) }
            try await server.held.waitForArrivals()
            let binary = Task { try await network.call(Post(content: .bytes(bytes))) }
            let missing = Task { try await network.call(Fetch("nowhere")) }
            let broken = Task { try await network.call(Fetch("broken")) }
            let redirected = Task { try await network.call(Fetch("moved")) }
            try await waitUntil { network.merger.waitingCount >= 4 }
            server.held.open()
            _ = try await first.value
            #expect(try await binary.value.bytes == bytes)
            let notFound = try await #require(throws: NetworkError.self) { try await missing.value }
            #expect(notFound.status == .notFound)
            let failure = try await #require(throws: NetworkError.self) { try await broken.value }
            #expect(failure.status == .internalServerError)
            #expect(try await redirected.value.text == "/v1/echo/target")
            // The envelope, what was held, and the place that was moved to.
            #expect(server.wireCount.value == 3)
        }
    }

    @Test func serverWithoutRouteReceivesRequestsOneByOne() async throws {
        try await withServer(.plain, merges: false) { server in
            let network = server.network
            let first = Task { try await network.call(Fetch("held")) }
            try await server.held.waitForArrivals()
            let calls = (1...3).map { number in Task { try await network.call(Fetch("echo/\(number)")) } }
            try await waitUntil { network.merger.waitingCount >= 3 }
            server.held.open()
            _ = try await first.value
            for call in calls { _ = try await call.value }
            for number in 4...6 { _ = try await network.call(Fetch("echo/\(number)")) }
            #expect(server.wireCount.value == 1 + 1 + 3 + 3)
        }
    }
}
