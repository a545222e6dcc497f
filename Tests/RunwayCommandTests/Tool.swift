import Foundation
import Subprocess

#if canImport(System)
    import System
#else
    import SystemPackage
#endif

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
    static func environment(_ changes: [String: String]) -> Environment {
        var updates: [Environment.Key: String?] = ["NO_COLOR": nil, "TERM": "xterm"]
        for (name, value) in changes { updates[Environment.Key(stringLiteral: name)] = value }
        return .inherit.updating(updates)
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

    /// Runs an executable with its input on a file, so that nobody has to write while it runs and it need not read.
    static func run(
        _ executable: String, _ arguments: [String], input: [UInt8], environment: [String: String]
    ) async throws -> Tool {
        try await withTemporaryFolder { folder in
            let file = folder.appendingPathComponent("input")
            try Data(input).write(to: file)
            let end = try await Subprocess.run(
                .path(FilePath(executable)), arguments: Arguments(arguments), environment: Self.environment(environment),
                input: .fileDescriptor(
                    try FileDescriptor.open(FilePath(file.path), .readOnly), closeAfterSpawningProcess: true),
                output: .bytes(limit: .max), error: .bytes(limit: .max))
            return Tool(
                status: end.terminationStatus.code, bytes: end.standardOutput,
                errors: String(decoding: end.standardError, as: UTF8.self))
        }
    }
}

extension TerminationStatus {
    /// The exit code, or the negated signal that ended the process.
    var code: Int32 {
        switch self {
        case .exited(let code): code
        case .signaled(let signal): -signal
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
