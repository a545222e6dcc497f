import Foundation

/// The first call of a process, from before the client is created to the first byte of the body and to the last, with the
/// system's roots loaded. Nothing is warmed up, and every client returns the body part by part.
struct FirstCall {
    let url: String
    let rounds: Int
    private static let kinds: [Client.Kind] = [.asyncHTTPClient, .runway, .urlSession, .curl]

    private struct Times {
        var firstByte: Double
        var whole: Double
    }

    func run() throws {
        print(
            "the first call of a process on the loopback, \(rounds) processes each, medians; × is the ratio to AsyncHTTPClient"
        )
        var times: [Client.Kind: [Times]] = [:]
        for round in 0..<rounds {
            for offset in Self.kinds.indices {
                let kind = Self.kinds[(offset + round) % Self.kinds.count]
                times[kind, default: []].append(try spawn(kind))
            }
        }
        let reference = times[.asyncHTTPClient] ?? []
        for kind in Self.kinds {
            let own = times[kind] ?? []
            let columns = [("first byte", \Times.firstByte), ("whole", \Times.whole)].map { title, time in
                let values = own.map { $0[keyPath: time] }
                let ratios = zip(values, reference).map { $0 / $1[keyPath: time] }
                return title + String(format: "%8.2f ms  ×%.2f", median(values), median(ratios))
            }
            print(
                "  " + kind.rawValue.padding(toLength: 20, withPad: " ", startingAt: 0)
                    + columns.joined(separator: "   "))
        }
    }

    private func spawn(_ kind: Client.Kind) throws -> Times {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
        process.arguments = ["first-call", kind.rawValue, url]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let times = text.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
        guard times.count == 2 else { throw UnexpectedResponse() }
        return Times(firstByte: times[0], whole: times[1])
    }

    /// What the spawned process does; prints milliseconds until the first byte and until the last.
    static func make(_ kind: Client.Kind, url: String) async throws {
        let start = monotonicTime()
        let client = try Client(kind, root: nil)
        let firstByte = try await client.stream(url, 1024)
        let end = monotonicTime()
        print((firstByte - start) * 1e3, (end - start) * 1e3)
    }
}
