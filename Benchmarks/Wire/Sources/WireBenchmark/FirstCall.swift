import Foundation

/// The first call of a process, from making the client to the answer, with the system's roots loaded.
struct FirstCall {
    let url: String
    let rounds: Int
    private static let kinds: [Client.Kind] = [.asyncHTTPClient, .runway, .urlSession, .curl]

    func run() throws {
        print(
            "the first call of a process on the loopback, \(rounds) processes each, medians; × is the ratio to AsyncHTTPClient"
        )
        var times: [Client.Kind: [Double]] = [:]
        for round in 0..<rounds {
            for offset in Self.kinds.indices {
                let kind = Self.kinds[(offset + round) % Self.kinds.count]
                times[kind, default: []].append(try spawn(kind))
            }
        }
        let reference = times[.asyncHTTPClient] ?? []
        for kind in Self.kinds {
            let own = times[kind] ?? []
            print(
                "  " + kind.rawValue.padding(toLength: 20, withPad: " ", startingAt: 0)
                    + String(format: "%8.2f ms  ×%.2f", median(own), median(zip(own, reference).map { $0 / $1 })))
        }
    }

    private func spawn(_ kind: Client.Kind) throws -> Double {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
        process.arguments = ["first-call", kind.rawValue, url]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard let time = Double(text.trimmingCharacters(in: .whitespacesAndNewlines)) else { throw UnexpectedAnswer() }
        return time
    }

    /// What the spawned process does; prints milliseconds.
    static func make(_ kind: Client.Kind, url: String) async throws {
        let start = ContinuousClock.now
        let client = try Client(kind, root: nil)
        try await client.call(url, 1024)
        print((ContinuousClock.now - start) / .milliseconds(1))
    }
}
