import Foundation

/// Single calls over a long path: cold, warm, and of a large body. A byte over a bare connection is measured in turn with the
/// clients, so that their times can be expressed in round trips.
struct FarServer {
    let host: String
    let port: Int
    let echoPort: Int
    let root: String
    let rounds: Int

    func run() async throws {
        print("\(rounds) rounds, medians; × is the ratio to libcurl")
        let echo = try EchoConnection(host: host, port: echoPort)
        try await measure("HTTP/2, cold, first response of 1 KB", path: "1k", byteCount: 1024, isWarm: false, echo)
        try await measure("HTTP/2, warm, 1 KB", path: "1k", byteCount: 1024, isWarm: true, echo)
        try await measure("HTTP/2, warm, 1.4 MB", path: "1400k", byteCount: 1_400_000, isWarm: true, echo)
    }

    private func measure(
        _ title: String, path: String, byteCount: Int, isWarm: Bool, _ echo: EchoConnection
    ) async throws {
        let url = "https://\(host):\(port)/\(path)"
        var times: [Client.Kind: [Double]] = [:]
        var trips: [Double] = []
        for round in 0..<rounds {
            trips.append(try echo.roundTrip() * 1e3)
            for offset in Client.Kind.allCases.indices {
                let kind = Client.Kind.allCases[(offset + round) % Client.Kind.allCases.count]
                let client = try Client(kind, root: root)
                if isWarm {
                    // The windows and the kernel's buffers have grown by the third.
                    for _ in 0..<3 { try await client.call(url, byteCount) }
                }
                let start = monotonicTime()
                try await client.call(url, byteCount)
                times[kind, default: []].append((monotonicTime() - start) * 1e3)
                try await client.close()
                trips.append(try echo.roundTrip() * 1e3)
            }
        }
        print(title)
        print(
            "  " + "bare round trip".padding(toLength: 20, withPad: " ", startingAt: 0)
                + String(format: "%8.2f ms", median(trips)))
        let reference = times[.curl] ?? []
        for kind in Client.Kind.allCases {
            let own = times[kind] ?? []
            let ratio = median(zip(own, reference).map { $0 / $1 })
            print(
                "  " + kind.rawValue.padding(toLength: 20, withPad: " ", startingAt: 0)
                    + String(
                        format: "%8.2f ms  ×%.3f  %.3f round trips", median(own), ratio, median(own) / median(trips)))
        }
        fflush(nil)
    }
}
