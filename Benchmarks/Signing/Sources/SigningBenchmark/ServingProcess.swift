import Foundation

/// A server in a process of its own, so that its clients take no time of it.
struct ServingProcess {
    private let process: Process
    let port: Int

    init(of server: VerifyingServer) throws {
        let output = Pipe()
        process = Process()
        process.executableURL = URL(filePath: CommandLine.arguments[0])
        process.arguments = ["serve", server.name]
        process.standardOutput = output
        try process.run()
        var line = Data()
        while let byte = try output.fileHandleForReading.read(upToCount: 1), byte != Data([10]), !byte.isEmpty {
            line += byte
        }
        guard let port = Int(String(decoding: line, as: UTF8.self)) else {
            throw BenchmarkFailure(reason: "the server \(server.name) did not start")
        }
        self.port = port
    }

    func end() { process.terminate() }

    /// What the process does: serves until it is ended.
    static func serve(_ name: String) async throws {
        try await VerifyingServer(fixed: name).run { port in
            print(port)
            fflush(nil)
        }
    }
}
