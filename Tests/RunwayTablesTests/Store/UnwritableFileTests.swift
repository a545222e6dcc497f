import Foundation
import GRDB
import RunwayTesting
import Testing

@testable import RunwayTables

#if os(Linux) || os(macOS)
    struct UnwritableFileTests {
        /// The user who owns nothing.
        private static let nobody: uid_t = 65_534
        private let folder = ScratchFolder()

        /// Drops the superuser's rights, for a process that is about to end.
        private static func becomeNobody() throws {
            if geteuid() != 0 { return }
            try #require(setgid(nobody) == 0 && setuid(nobody) == 0)
        }

        private func fill() async throws {
            let store = try await folder.open()
            try await store.write { _ = try $0.insert(task("a")) }
            try await store.close()
        }

        @Test func aReadOnlyFolderIsOneError() async throws {
            try await fill()
            defer { _ = chmod(folder.url.path, 0o700) }
            let bytes = try Data(contentsOf: folder.file)
            for (path, mode) in [(folder.file.path, 0o400), (folder.url.path, 0o500)] {
                if geteuid() == 0 { try #require(chown(path, Self.nobody, Self.nobody) == 0) }
                try #require(chmod(path, mode_t(mode)) == 0)
            }
            await #expect(processExitsWith: .success) { [path = folder.file.path as String] in
                try await Self.expectOneError(at: path)
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["records.sqlite"])
            #expect(try Data(contentsOf: folder.file) == bytes)
        }

        @Test(.enabled(if: geteuid() == 0, "only the superuser makes a file of another user"))
        func aFileOfAnotherUserIsRead() async throws {
            try await fill()
            for (path, mode) in [(folder.file.path, 0o644), (folder.url.path, 0o777)] {
                try #require(chmod(path, mode_t(mode)) == 0)
            }
            await #expect(processExitsWith: .success) { [path = folder.file.path as String] in
                try await Self.expectReadsOnly(at: path)
            }
        }

        private static func expectOneError(at path: String) async throws {
            try Self.becomeNobody()
            let file = URL(fileURLWithPath: path)
            for recovery in [RecordStore.Recovery.fail, .stayAtLastStep, .setAside, .beginAnew] {
                var options = RecordStore.Options()
                options.recover = { _ in recovery }
                let chosen = options
                let result = await kind {
                    _ = try await RecordStore.open(at: file, tables: [Tasks.self, Lists.self], options: chosen)
                }
                #expect(result == .readOnly)
            }
        }

        private static func expectReadsOnly(at path: String) async throws {
            try Self.becomeNobody()
            let store = try await RecordStore.open(
                at: URL(fileURLWithPath: path), tables: [Tasks.self, Lists.self])
            let count = try await store.read { try $0.count(Tasks.self) }
            #expect(count == 1)
            let rows = (1...10).map { list($0) }
            let write = await kind { try await store.write { _ = try $0.insert(task("b")) } }
            let staging = await kind { _ = try await store.stage(rows) }
            #expect(write == .readOnly && staging == .readOnly)
            #expect(try await store.read { try $0.count(Tasks.self) } == 1)
        }

        @Test func aFileIsBegunAnew() async throws {
            try await fill()
            for ending in ["", "-wal", "-shm"] {
                try Data(repeating: 0x41, count: 8192).write(to: URL(fileURLWithPath: folder.file.path + ending))
            }
            try Data().write(to: StoreFiles.newStaging(of: folder.file))
            #expect(await kind { _ = try await folder.open() } == .corrupted)
            let store = try await folder.open { $0.recover = { $0.kind == .corrupted ? .beginAnew : .fail } }
            #expect(store.setAside == nil)
            #expect(try await store.read { try $0.count(Tasks.self) } == 0)
            try await store.write { _ = try $0.insert(task("b")) }
            try await store.close()
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["records.sqlite"])
            let again = try await folder.open()
            #expect(try await again.read { try $0.count(Tasks.self) } == 1)
            // A key that can't be read now is no reason to lose anything.
            try await again.close()
            let secret = await kind { _ = try await folder.open([Notes.self]) { $0.recover = { _ in .beginAnew } } }
            #expect(secret == .keyUnavailable)
            #expect(try await folder.open().read { try $0.count(Tasks.self) } == 1)
        }
    }
#endif
