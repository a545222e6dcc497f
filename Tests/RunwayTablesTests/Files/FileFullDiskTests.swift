import Foundation
import Runway
import Testing

@testable import RunwayTables

/// Files on a file system that is really full, which `Scripts/full-disk.sh` mounts.
@Suite(
    .enabled(if: ProcessInfo.processInfo.environment["RUNWAY_SMALL_DISKS"] != nil, "Scripts/full-disk.sh mounts it"),
    .timeLimit(.minutes(5)))
struct FileFullDiskTests {
    private let disk = URL(filePath: ProcessInfo.processInfo.environment["RUNWAY_SMALL_DISKS"] ?? "")
        .appending(path: "files")

    @Test func aFullDiskLosesAndLeavesNoFile() async throws {
        let (file, part) = (disk.appending(path: "store/records.sqlite"), [UInt8](repeating: 1, count: 1 << 20))
        let source = FileManager.default.temporaryDirectory.appending(path: "runway-source-\(UUID())")
        try Data(count: 9 << 20).write(to: source)
        defer { try? FileManager.default.removeItem(at: source) }
        let store = try await RecordStore.open(at: file, tables: [Films.self])
        for id in 1...3 {
            try await store.withFile(Data(part)) { poster in try await store.write { _ = try $0.save(film(id, poster)) }
            }
        }
        let parts = AsyncStream<[UInt8]> { stream in
            for _ in 0..<9 { stream.yield(part) }
            stream.finish()
        }
        #expect(await kind { try await store.withFile(from: parts) { _ in } } == .full)
        #expect(await kind { try await store.withFile(Data(count: 9 << 20)) { _ in } } == .full)
        // From another file system, so that it is copied.
        #expect(await kind { try await store.withFile(moving: source) { _ in } } == .full)
        #expect(FileManager.default.fileExists(atPath: source.path))
        let names = try FileManager.default.contentsOfDirectory(atPath: StoreFiles.filesFolder(of: file).path)
        #expect(names.count == 4)
        for poster in try await store.posters() {
            #expect(try await store.bytes(of: poster).collect(upTo: 1 << 20) == part)
        }
        // Removing a row makes room for another file.
        try Data(count: (4 << 20) + (1 << 19)).write(to: disk.appending(path: "ballast"))
        #expect(await kind { try await store.withFile(Data(part)) { _ in } } == .full)
        try await store.write { _ = try $0.delete(Films.self, where: Films.id == 1) }
        try await store.withFile(Data(part)) { poster in try await store.write { _ = try $0.save(film(4, poster)) } }
        #expect(try await store.posters().count == 3)
    }
}
