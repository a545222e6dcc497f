import Foundation
import Runway
import Testing

@testable import RunwayTables

struct FileSourceTests {
    private let folder = ScratchFolder()
    private var source: URL { folder.url.appending(path: "source") }

    private func open() async throws -> RecordStore {
        let store = try await folder.open([Films.self])
        try Data("source".utf8).write(to: source)
        return store
    }

    private func number(of file: URL) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: file.path)[.systemFileNumber] as? Int
    }

    @Test func aMovedFileIsNotCopied() async throws {
        let store = try await open()
        let original = try number(of: source)
        let poster = try await store.withFile(moving: source) { poster in
            // Until a row names the file, it is where it was.
            #expect(FileManager.default.fileExists(atPath: source.path))
            try await store.write { _ = try $0.save(film(1, poster)) }
            return poster
        }
        #expect(try number(of: folder.path(poster)) == original)
        #expect(!FileManager.default.fileExists(atPath: source.path))
    }

    @Test func aMoveThatFailsLosesNothing() async throws {
        let store = try await open()
        await #expect(throws: Refusal.self) { try await store.withFile(moving: source) { _ in throw Refusal() } }
        try await store.withFile(moving: source) { _ in }
        #expect(try Data(contentsOf: source) == Data("source".utf8))
        #expect(try folder.fileNames.isEmpty)
    }

    @Test func aStagingDoesNotLoseTheSource() async throws {
        let store = try await open()
        let poster = try await store.withFile(moving: source) { poster in
            try Data().write(to: StoreFiles.newStaging(of: folder.file))
            return poster
        }
        // Staged rows may name the stored file, and none has yet.
        #expect(try folder.fileNames == [poster.name])
        #expect(try Data(contentsOf: source) == Data("source".utf8))
    }

    @Test func aCopyLeavesItsSource() async throws {
        let store = try await open()
        let poster = try await store.withFile(copying: source) { poster in
            try await store.write { _ = try $0.save(film(1, poster)) }
            return poster
        }
        try Data("changed".utf8).write(to: source)
        #expect(try await store.text(of: poster) == "source")
    }

    @Test func onlyPlainFilesAreStored() async throws {
        let store = try await open()
        let (link, pipe) = (folder.url.appending(path: "link"), folder.url.appending(path: "pipe"))
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: source)
        #expect(mkfifo(pipe.path, 0o600) == 0)
        for source in [link, pipe, folder.files, folder.url.appending(path: "absent")] {
            #expect(await kind { try await store.withFile(moving: source) { _ in } } == .rejected)
            #expect(await kind { try await store.withFile(copying: source) { _ in } } == .rejected)
        }
        #expect(try folder.fileNames.isEmpty)
    }

    @Test func partsOfASequenceBecomeOneFile() async throws {
        let store = try await open()
        let parts = AsyncStream<[UInt8]> { stream in
            for part in ["a", "", "bc"] { stream.yield(Array(part.utf8)) }
            stream.finish()
        }
        try await store.withFile(from: parts) { poster in
            let text = try await store.text(of: poster)
            #expect(text == "abc" && poster.byteCount == 3)
        }
    }

    @Test func aSequenceThatFailsLeavesNothing() async throws {
        let store = try await open()
        let parts = AsyncThrowingStream<[UInt8], any Error> { stream in
            stream.yield([1])
            stream.finish(throwing: Refusal())
        }
        await #expect(throws: Refusal.self) { try await store.withFile(from: parts) { _ in Issue.record("was made") } }
        #expect(try folder.fileNames.isEmpty)
    }

    @Test func aSequenceThatIsTooLongIsRefused() async throws {
        let store = try await open()
        let parts = BodyStream([1, 2, 3])
        try await store.withFile(from: parts, upTo: 3) { #expect($0.byteCount == 3) }
        #expect(await kind { try await store.withFile(from: parts, upTo: 2) { _ in } } == .rejected)
        #expect(try folder.fileNames.isEmpty)
    }

    #if os(Linux)
        @Test func aHugeFileStreamsInLittleMemory() async throws {
            try await open().close()
            let path = folder.file.path
            await #expect(processExitsWith: .success) { [path = path as String] in
                try await FileSourceTests.streamHugeFile(path)
            }
        }

        private static func streamHugeFile(_ path: String) async throws {
            let store = try await RecordStore.open(at: URL(fileURLWithPath: path), tables: [Films.self])
            let parts = BodyStream {
                var left = 256
                return {
                    left -= 1
                    return left < 0 ? nil : [UInt8](repeating: UInt8(left), count: 1 << 20)
                }
            }
            let before = try peakByteCount()
            let stored = try await store.withFile(from: parts) { file in
                try await store.write { _ = try $0.save(film(1, file)) }
                return file
            }
            var read = 0
            for try await part in store.bytes(of: stored) { read += part.count }
            precondition(read == 256 << 20 && stored.byteCount == read)
            let used = try peakByteCount() - before
            precondition(used < 24 << 20, "\(used) bytes of memory")
        }

        private static func peakByteCount() throws -> Int {
            let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
            return (status.firstMatch(of: /VmHWM:\s+(\d+) kB/).flatMap { Int($0.1) } ?? 0) << 10
        }
    #endif
}
