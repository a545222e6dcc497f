import Foundation
import RunwayTesting

/// Single calls over a path of a given round trip: cold, warm, and of a large body.
struct FarServer {
    let port: Int
    let root: String
    let rounds: Int
    let roundTrip: Duration

    func run() async throws {
        print("a path of \(roundTrip), \(rounds) rounds, medians; × is the ratio to libcurl")
        try await measure("HTTP/2, cold, first answer of 1 KB", path: "1k", byteCount: 1024, isWarm: false)
        try await measure("HTTP/2, warm, 1 KB", path: "1k", byteCount: 1024, isWarm: true)
        try await measure("HTTP/2, warm, 1.4 MB", path: "1400k", byteCount: 1_400_000, isWarm: true)
    }

    private func measure(_ title: String, path: String, byteCount: Int, isWarm: Bool) async throws {
        let url = "https://127.0.0.2:\(port)/"
        var times: [Client.Kind: [Double]] = [:]
        for round in 0..<rounds {
            for offset in Client.Kind.allCases.indices {
                let kind = Client.Kind.allCases[(offset + round) % Client.Kind.allCases.count]
                let client = try Client(kind, root: root)
                if isWarm {
                    // The windows and the kernel's buffers have grown by the third.
                    for _ in 0..<3 { try await client.call(url + path, byteCount) }
                }
                let start = ContinuousClock.now
                try await client.call(url + path, byteCount)
                times[kind, default: []].append((ContinuousClock.now - start) / .milliseconds(1))
                try await client.close()
            }
        }
        print(title)
        let reference = times[.curl] ?? []
        for kind in Client.Kind.allCases {
            let own = times[kind] ?? []
            let ratio = median(zip(own, reference).map { $0 / $1 })
            let trips = median(own) / (roundTrip / .milliseconds(1))
            print(
                "  " + kind.rawValue.padding(toLength: 20, withPad: " ", startingAt: 0)
                    + String(format: "%8.1f ms  ×%.3f  %.2f round trips", median(own), ratio, trips))
        }
        fflush(nil)
    }

    /// Lends a server's port a path of this round trip, in a process of its own, until it is killed.
    static func carry(to port: Int, roundTrip: Duration) async throws {
        let network = try await BadNetwork(to: port, addresses: 1)
        try await network.paths[0].set(.passing(PathConditions(roundTrip: roundTrip)))
        print(network.port)
        fflush(nil)
        // Until the script ends it.
        try await Task.sleep(for: .seconds(86_400))
    }
}
