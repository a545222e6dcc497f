import Foundation
import RunwayTestServer

/// The built `runway`, run as a process of its own until it ends.
struct Tool {
    let status: Int32
    let bytes: [UInt8]
    let errors: String

    /// What it wrote to standard output, as text.
    var output: String { String(decoding: bytes, as: UTF8.self) }

    /// The executable, which is built into the same folder as the tests.
    static let path: String = {
        #if os(macOS)
            let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") } ?? .main
            let folder = bundle.bundleURL.deletingLastPathComponent()
        #else
            let folder = (Bundle.main.executableURL ?? Bundle.main.bundleURL).deletingLastPathComponent()
        #endif
        return folder.appendingPathComponent("runway").path
    }()

    /// The environment of the tests, as of a terminal that shows colours, with `changes`.
    static func environment(_ changes: [String: String] = [:]) -> [String: String] {
        var environment = ProcessInfo.processInfo.environment
        environment["NO_COLOR"] = nil
        environment["TERM"] = "xterm"
        return environment.merging(changes) { $1 }
    }

    /// Runs it with `arguments`, and `input` on its standard input.
    static func run(
        _ arguments: String..., input: [UInt8] = [], environment: [String: String] = [:]
    ) async throws -> Tool {
        try await run(path, arguments, input: input, environment: environment)
    }

    /// Runs a command line in a real shell that finds `runway` first.
    static func shell(_ line: String) async throws -> Tool {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        let search = "\(folder):\(ProcessInfo.processInfo.environment["PATH"] ?? "")"
        return try await run("/bin/sh", ["-c", line], input: [], environment: ["PATH": search])
    }

    /// Runs an executable with its streams on files, so that nobody has to read while it runs.
    static func run(
        _ executable: String, _ arguments: [String], input: [UInt8], environment: [String: String]
    ) async throws -> Tool {
        try await withTemporaryFolder { folder in
            let files = ["input", "output", "errors"].map { folder.appendingPathComponent($0) }
            try Data(input).write(to: files[0])
            for file in files.dropFirst() { try Data().write(to: file) }
            let process = Process()
            process.executableURL = URL(fileURLWithPath: executable)
            process.arguments = arguments
            process.environment = Self.environment(environment)
            let input = try FileHandle(forReadingFrom: files[0])
            let output = try FileHandle(forWritingTo: files[1])
            let errors = try FileHandle(forWritingTo: files[2])
            // Closed explicitly: on Linux a process that ended retains its streams.
            defer { for stream in [input, output, errors] { try? stream.close() } }
            process.standardInput = input
            process.standardOutput = output
            process.standardError = errors
            let status = try await process.runToItsEnd()
            return Tool(
                status: status, bytes: Array(try Data(contentsOf: files[1])),
                errors: String(decoding: try Data(contentsOf: files[2]), as: UTF8.self))
        }
    }
}

/// Runs `body` with a new folder, which is gone afterwards.
func withTemporaryFolder<Value>(_ body: (URL) async throws -> Value) async throws -> Value {
    let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("runway-tests-\(UUID().uuidString)", isDirectory: true)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await body(folder)
}
