import Foundation
import Runway
import RunwayTesting
import Synchronization
import Testing

@testable import RunwayStorage

#if os(Linux) || os(macOS)
    /// What the stores do in a folder that they may read and not write, and with a file that another process has open.
    struct ReadOnlyFolderTests {
        /// The user who owns nothing.
        private static let nobody: uid_t = 65_534

        /// Has the folder be one that nobody but the superuser can write, of a user who is not the superuser.
        private func protect(_ folder: URL) throws {
            let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            for path in names.map({ folder.appending(path: $0).path }) + [folder.path] {
                var isFolder: ObjCBool = false
                _ = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
                if geteuid() == 0 { try #require(chown(path, Self.nobody, Self.nobody) == 0) }
                try #require(chmod(path, isFolder.boolValue ? 0o500 : 0o400) == 0)
            }
        }

        private func unprotect(_ folder: URL) { _ = chmod(folder.path, 0o700) }

        /// Drops the superuser's rights, for a process that is about to end.
        private static func becomeNobody() throws {
            if geteuid() != 0 { return }
            try #require(setgid(nobody) == 0 && setuid(nobody) == 0)
        }

        @Test func journalIsUnavailableAndUnchanged() async throws {
            let folder = ScratchFolder()
            defer { unprotect(folder.url) }
            let journal = try Journal(in: folder)
            try journal.append(["a"])
            try journal.close()
            let bytes = try Data(contentsOf: folder.file)
            try protect(folder.url)
            await #expect(processExitsWith: .success) { [path = folder.file.path as String] in
                try Self.becomeNobody()
                let log = ActionLog(
                    at: URL(fileURLWithPath: path), sendingTo: LogService.self, at: "log",
                    over: NetworkLayer(transport: LogServer(), pipeline: .tested))
                let receipt = log.record("b")
                await #expect { try await receipt.committed() } throws: { ($0 as? StorageError)?.kind == .unavailable }
                let state = await log.currentState
                #expect(state.problem?.kind == .unavailable && state.bufferedCount == 1)
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["log.sqlite"])
            #expect(try Data(contentsOf: folder.file) == bytes)
        }

        @Test func changeThatCannotBeStoredFails() async throws {
            let folder = ScratchFolder()
            defer { unprotect(folder.url) }
            try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
            try protect(folder.url)
            await #expect(processExitsWith: .success) { [path = folder.file.path as String] in
                try Self.becomeNobody()
                let queue = OfflineQueue(
                    at: URL(fileURLWithPath: path), replaying: [ReplayedEndpoint(WriteNote.self)])
                let status = SettableNetworkStatus(.none)
                let network = NetworkLayer(
                    transport: NoteServer(), pipeline: .tested, offlineQueue: queue, status: status)
                await #expect { try await network.call(WriteNote("a")) } throws: { error in
                    ((error as? NetworkError)?.underlying as? StorageError)?.kind == .unavailable
                }
                status.set(.wifi)
                // A change that can undo no other one is sent.
                _ = try await network.call(WriteNote("b"))
                await #expect { try await network.call(WriteNote("c", "note")) } throws: { error in
                    (error as? NetworkError)?.kind == .storage && (error as? NetworkError)?.sending == .notSent
                }
            }
        }

        @Test func cacheReportsOneFailureAndReturnsNothingWrong() async throws {
            let folder = CacheFolder()
            defer {
                for path in [folder.url.path, folder.bodies.path] { _ = chmod(path, 0o700) }
            }
            let cache = folder.cache()
            try await cache.store(.numbered(1, byteCount: 30_000), for: .named("a"))
            await cache.close()
            let files = try folder.files()
            try protect(folder.url)
            await #expect(processExitsWith: .success) { [path = folder.url.path as String] in
                try Self.becomeNobody()
                let kinds = Mutex<[StorageError.Kind]>([])
                let cache = DiskCache(in: URL(filePath: path)) { problem in
                    kinds.withLock { $0.append(problem.kind) }
                }
                let found = try? await cache.find(.named("a"))
                #expect(found == nil || found == .numbered(1, byteCount: 30_000))
                for _ in 0..<2 {
                    await #expect(throws: (any Error).self) {
                        try await cache.store(.numbered(2, byteCount: 30_000), for: .named("b"))
                    }
                }
                #expect(kinds.withLock { $0 } == [.unavailable])
            }
            #expect(try folder.files().sorted() == files.sorted())
        }

        @Test func fileOfAnotherProcessIsLocked() async throws {
            let (folder, caches) = (ScratchFolder(), CacheFolder())
            let journal = try Journal(in: folder)
            try journal.append(["a"])
            let cache = caches.cache()
            try await cache.store(.numbered(1, byteCount: 10), for: .named("a"))
            await #expect(processExitsWith: .success) {
                [path = folder.file.path as String, cachePath = caches.url.path as String] in
                #expect {
                    try Journal(at: URL(fileURLWithPath: path), time: .seconds(0))
                } throws: {
                    ($0 as? StorageError)?.kind == .locked
                }
                let kinds = Mutex<[StorageError.Kind]>([])
                let cache = DiskCache(in: URL(filePath: cachePath)) { problem in
                    kinds.withLock { $0.append(problem.kind) }
                }
                await #expect(throws: (any Error).self) { try await cache.find(.named("a")) }
                await #expect(throws: (any Error).self) {
                    try await cache.store(.numbered(2, byteCount: 10), for: .named("a"))
                }
                #expect(kinds.withLock { $0 } == [.unavailable])
            }
            try journal.append(["b"])
            #expect(try journal.claim()?.texts == ["a", "b"])
            #expect(try await cache.find(.named("a")) == .numbered(1, byteCount: 10))
        }
    }
#endif
