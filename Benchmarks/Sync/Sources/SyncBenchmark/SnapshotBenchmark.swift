import Foundation
import RunwayServer
import RunwayServerStorage

/// Measures the memory that a device needs for the rows of a large space, whose log no longer reaches back to its
/// beginning. The device is a process of its own.
enum SnapshotBenchmark {
    static func run(in folder: URL) async throws {
        let (count, space) = (Figures.number("ROWS", 1_000_000), UUID())
        let file = folder.appending(path: "server/spaces.sqlite")
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try await fill(file, space, count)
        let (server, port) = try await TravelBenchmark.startServer(at: file)
        let device = try Child(
            "device", "http://127.0.0.1:\(port)", space.uuidString, folder.appending(path: "device/notes.sqlite").path)
        _ = try await device.next("seen")
        try device.send("memory")
        let before = try await device.next("memory")[0]
        try device.send("online")
        let start = try await device.next("online")[0]
        let end = try await device.next("seen") { $0[0] == count }[2]
        try device.send("memory")
        let after = try await device.next("memory")[0]
        let seconds = Double(end - start) / 1e9
        Figures.report(
            "a snapshot of \(count) rows adds memory", [Double(after - before) / 1024], "MiB", .atMost(64))
        print("        \(before >> 10) MiB before it; \(Int(Double(count) / seconds)) rows/s")
        for child in [device, server] { child.end() }
    }

    /// Writes rows as the server does, and removes the log.
    private static func fill(_ file: URL, _ space: UUID, _ count: Int) async throws {
        let store = try SyncStore.sqlite(at: file)
        let service = SyncService(store: store) { _, _, _ in true }
        let size = 5_000
        for start in stride(from: 0, to: count, by: size) {
            try await service.write(in: space) { writer in
                for number in start..<min(start + size, count) {
                    let note = Note(number)
                    writer.set(note.columns, of: note.id, in: "note")
                }
            }
            try await store.trimLog(of: space, to: SyncLogLimits(maximumByteCount: 0))
        }
        try await store.close()
    }
}
