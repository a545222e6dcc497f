import Foundation

/// Measures the stores on disk beside bare rows and files, each in a new folder.
@main
enum StorageBenchmark {
    private typealias Part = (name: String, run: @Sendable (URL) async throws -> Void)

    private static let parts: [Part] = [
        ("cache", CacheBenchmark.run), ("callers", CallerBenchmark.run), ("opening", CacheBenchmark.opening),
        ("recording", RecordingBenchmark.run), ("reopening", ReopeningBenchmark.run),
        ("changes", ChangeBenchmark.run), ("sending", SendingBenchmark.run), ("ingest", IngestBenchmark.run),
        ("records", RecordBenchmark.run), ("staging", StagingBenchmark.run),
    ]

    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        let folder = URL(filePath: arguments.first ?? "measured")
        let wanted = Set(arguments.dropFirst())
        for part in parts where wanted.isEmpty || wanted.contains(part.name) {
            try? FileManager.default.removeItem(at: folder)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            print("— \(part.name)")
            // Away from the main thread, as the stages of a call are: a wake of another thread would cost more than what is measured.
            try await Task.detached { try await part.run(folder) }.value
        }
        try FileManager.default.removeItem(at: folder)
        if Targets.isMissed { exit(1) }
    }
}
