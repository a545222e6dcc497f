import AsyncHTTPClient
import Foundation
import Testing

@testable import RunwayDemo

@Suite(.timeLimit(.minutes(10))) struct BackendStatisticsTests {
    @Test func requestsAndBytesAreCountedByRoute() async throws {
        try await withClient(of: ListingsBackend()) { client, serving in
            var listBytes = 0
            for page in 1...3 {
                listBytes += try await client.get("/esf/list?page=\(page)").body.count
            }
            let missing = try await client.get("/esf/detail/none").body.count
            let unknown = try await client.get("/no/such/path").body.count

            let statistics = serving.statistics
            #expect(
                statistics.routes == [
                    "/esf/list": .init(requests: 3, responses: 3, abandoned: 0, bodyBytes: listBytes),
                    "/esf/detail/{id}": .init(requests: 1, responses: 1, abandoned: 0, bodyBytes: missing),
                    BackendStatistics.unknownRoute: .init(requests: 1, responses: 1, abandoned: 0, bodyBytes: unknown),
                ])
            #expect(statistics.total.requests == 5)
            #expect(statistics.total.bodyBytes == listBytes + missing + unknown)
            #expect(statistics.total.inFlight == 0)
            #expect(statistics.connections == 1)
        }
    }

    @Test(arguments: [HTTPClient.Configuration.HTTPVersion.automatic, .http1Only])
    func aRequestOfADisconnectedCallerIsAbandoned(version: HTTPClient.Configuration.HTTPVersion) async throws {
        let clock = HeldClock()
        try await withClient(of: ListingsBackend(clock: clock), version: version) { client, serving in
            let slow = Task { try await client.get("/slow/list") }
            var sleepers = clock.sleepers.makeAsyncIterator()
            let sleeper = try #require(await sleepers.next())
            #expect(serving.statistics.total.inFlight == 1)

            slow.cancel()
            var ends = sleeper.ended.makeAsyncIterator()
            #expect(await ends.next() == true)
        }
    }
}
