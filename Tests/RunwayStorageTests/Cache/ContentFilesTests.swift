import Foundation
import Runway
import RunwayFiles
import Testing

@testable import RunwayStorage

struct ContentFilesTests {
    private let folder = CacheFolder()
    private let content = CacheTierEntry.numbered(1, byteCount: 50_000)

    private func entry(_ id: Int64, bodyByteCount: Int = 50_000) -> DiskCacheEntry {
        DiskCacheEntry(
            id: id, key: CacheDigest([]), service: "", endpoint: nil, account: nil, target: nil, kind: .standard,
            metadataByteCount: content.metadata.count, bodyByteCount: bodyByteCount, lastUse: 0)
    }

    /// Whether the system and the file system of the temporary folder have reads that do not wait.
    private static let readsFromMemory: Bool = {
        let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
        defer { try? FileManager.default.removeItem(atPath: path) }
        var byte: UInt8 = 0
        return FileManager.default.createFile(atPath: path, contents: Data([1]))
            && runway_read_from_memory(path, &byte, 1, nil, 0)
    }()

    @Test(.enabled(if: readsFromMemory)) func aFileJustWrittenIsReadFromMemory() throws {
        let files = try ContentFiles(folder.url)
        try files.create(content, 1)
        #expect(files.readFromMemory(entry(1)) == content)
    }

    @Test func memoryReadIgnoresMissingOrShortFiles() throws {
        let files = try ContentFiles(folder.url)
        try files.create(content, 1)
        #expect(files.readFromMemory(entry(1, bodyByteCount: 50_001)) == nil)
        #expect(files.readFromMemory(entry(2)) == nil)
    }
}
