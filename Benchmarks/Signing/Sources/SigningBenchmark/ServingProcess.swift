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

    /// The processor time that the process has used, in user mode and in the kernel, by `/proc`. `nil` where there is no such file.
    var processorTime: Duration? {
        guard let text = try? String(contentsOfFile: "/proc/\(process.processIdentifier)/stat", encoding: .utf8),
            let end = text.lastIndex(of: ")")
        else { return nil }
        // The name of the program can have spaces; `utime` and `stime` are the twelfth and the thirteenth word after it.
        let words = text[end...].dropFirst().split(separator: " ")
        guard words.count > 12, let user = Int(words[11]), let kernel = Int(words[12]) else { return nil }
        return .seconds(Double(user + kernel) / Double(sysconf(Int32(_SC_CLK_TCK))))
    }

    /// What the process does: serves until it is ended.
    static func serve(_ name: String) async throws {
        try await VerifyingServer(fixed: name).run { port in
            print(port)
            fflush(nil)
        }
    }
}
