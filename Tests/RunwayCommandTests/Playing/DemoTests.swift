import Foundation
import Testing

/// The demo, as a process of its own.
@Suite(.timeLimit(.minutes(10)))
struct DemoTests {
    @Test func itsTotalsAddUpAndItFindsNoProblem() async throws {
        let tool = try await Tool.run("demo", "--seed", "4", "--json")

        #expect(tool.status == 0)
        #expect(tool.errors.isEmpty)
        let report = try #require(try JSONSerialization.jsonObject(with: Data(tool.bytes)) as? [String: Any])
        #expect((report["problems"] as? [String])?.isEmpty == true)
        let calls = try #require(report["calls"] as? Int)
        let flown = try #require(report["callsFlown"] as? Int)
        let notFlown = try #require(report["callsNotFlown"] as? [String: Int])
        let repeated = try #require(report["requestsRepeated"] as? [String: Int])
        let envelopes = try #require(report["envelopes"] as? [Any])
        #expect((report["flights"] as? [Any])?.count == calls)
        let hosts = try #require(report["hosts"] as? [String: Any])
        #expect((hosts["rows"] as? [Any])?.count == 7)
        #expect(calls == flown + notFlown.values.reduce(0, +))
        #expect(
            report["requestsOnTheWire"] as? Int == flown + repeated.values.reduce(0, +) + envelopes.count)
    }
}
