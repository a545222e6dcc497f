import Foundation
import RunwayTestServer
import RunwayTesting
import Testing

/// The bad network behaves as configured.
@Suite(.timeLimit(.minutes(10)))
struct BadNetworkTests {
    /// Asks for `/` at an address; gives curl's exit code and how many seconds it took.
    private func get(
        _ address: String, _ port: Int, within seconds: Int = 300
    ) async throws -> (status: Int32, time: Double) {
        let start = ContinuousClock.now
        let curl = try await Curl.run("--max-time", "\(seconds)", "http://\(address):\(port)/")
        return (curl.status, (ContinuousClock.now - start) / .seconds(1))
    }

    @Test func everyAddressHasItsConditions() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .json("{}"))
            let network = try await BadNetwork(to: origin.port, addresses: 3)
            #expect(network.addresses == ["127.0.0.2", "127.0.0.3", "127.0.0.4"])
            try await network.paths[1].set(.passing(PathConditions(roundTrip: .milliseconds(400))))

            #expect(try await get("127.0.0.2", network.port).status == 0)
            let far = try await get("127.0.0.3", network.port)
            #expect(far.status == 0)
            #expect(far.time >= 0.4)

            try await network.paths[0].set(.refusing)
            #expect(try await get("127.0.0.2", network.port).status == 7)
            try await network.paths[2].set(.silent)
            #expect(try await get("127.0.0.4", network.port, within: 1).status == 28)

            try await network.paths[0].set(.passing(PathConditions()))
            try await network.paths[2].set(.passing(PathConditions(lossRate: 1)))
            #expect(try await get("127.0.0.2", network.port).status == 0)
            let lossy = try await get("127.0.0.4", network.port)
            #expect(lossy.status == 0)
            #expect(lossy.time >= 0.4)
            try await network.paths[2].set(
                .passing(PathConditions(lossRate: 1, retransmissionTimeout: .milliseconds(600))))
            let lossier = try await get("127.0.0.4", network.port)
            #expect(lossier.status == 0)
            #expect(lossier.time >= 1.2)
            await network.shutDown()
            #expect(try await get("127.0.0.2", network.port).status == 7)
        }
    }

    @Test func bytesArriveWholeAndInOrder() async throws {
        let body = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .bytes(body))
            let network = try await BadNetwork(to: origin.port, addresses: 1, seed: 7)
            try await network.paths[0].set(
                .passing(PathConditions(roundTrip: .milliseconds(2), jitter: .milliseconds(4))))
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("runway-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: file) }
            let status = try await Curl.run("--output", file.path, "http://127.0.0.2:\(network.port)/").status
            #expect(status == 0)
            #expect(try Array(Data(contentsOf: file)) == body)
            await network.shutDown()
        }
    }
}
