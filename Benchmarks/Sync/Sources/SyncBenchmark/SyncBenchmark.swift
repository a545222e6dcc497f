import Foundation

/// Measures how fast devices and servers synchronise; see `run.sh`. Its servers and devices are processes of this
/// program, too.
@main
enum SyncBenchmark {
    private typealias Part = (name: String, run: @Sendable (URL) async throws -> Void)

    private static let parts: [Part] = [
        ("push", PushBenchmark.run), ("apply", ApplyBenchmark.run), ("capture", CaptureBenchmark.run),
        ("backlog", TravelBenchmark.backlog), ("latency", TravelBenchmark.latency),
        ("snapshot", SnapshotBenchmark.run),
    ]

    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        switch arguments.first {
        case "serve": try await ServerProcess.run(at: URL(filePath: arguments[1]))
        case "device":
            try await DeviceProcess(
                of: arguments[1], space: UUID(uuidString: arguments[2]) ?? UUID(), file: URL(filePath: arguments[3])
            ).run()
        default: try await measure(in: URL(filePath: arguments.first ?? "measured"), Set(arguments.dropFirst()))
        }
    }

    private static func measure(in folder: URL, _ wanted: Set<String>) async throws {
        let unknown = wanted.subtracting(parts.map(\.name))
        guard unknown.isEmpty else {
            print("no such part:", unknown.sorted().joined(separator: ", "))
            exit(2)
        }
        for part in parts where wanted.isEmpty || wanted.contains(part.name) {
            try? FileManager.default.removeItem(at: folder)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            print("— \(part.name), load \(Figures.load)")
            try await Task.detached { try await part.run(folder) }.value
        }
        try FileManager.default.removeItem(at: folder)
        print("load at the end \(Figures.load)")
        if Figures.isMissed { exit(1) }
    }
}
