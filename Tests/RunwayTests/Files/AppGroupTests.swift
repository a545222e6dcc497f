import Foundation
import Testing

@testable import Runway

/// Files in a container that apps share on iOS: the system ends an app that is suspended while it holds a lock on one.
final class AppGroupTests {
    private let root = FileManager.default.temporaryDirectory.appending(path: "runway-\(UUID().uuidString)")
    private let group: URL

    init() throws {
        group = root.appending(path: "Containers/Shared/AppGroup/0F1E")
        try FileManager.default.createDirectory(at: group, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: root) }

    private var path: String { group.appending(path: "file").path }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: group.path).sorted() }
    }

    /// Whether a file can be locked by another.
    private func isFree(_ path: String) throws -> Bool {
        let other = try #require(FileHandle(forUpdatingAtPath: path))
        return flock(other.fileDescriptor, LOCK_EX | LOCK_NB) == 0
    }

    @Test func fileInAnAppGroupIsNotLocked() throws {
        let file = try OpenFile(path, O_RDWR | O_CREAT)
        #expect(file.lock() && !file.isLockable)
        #expect(try isFree(path))
        let elsewhere = try OpenFile(root.appending(path: "file").path, O_RDWR | O_CREAT)
        #expect(elsewhere.lock())
        #expect(try !isFree(elsewhere.path))
    }

    @Test func recentDraftOfAnotherProcessIsNotRemoved() throws {
        try Data([1, 2]).write(to: URL(fileURLWithPath: path + ".new"))
        try PrivateFile.replace(path, with: [3])
        #expect(try names == ["file", "file.new"])
        #expect(FileManager.default.contents(atPath: path + ".new") == Data([1, 2]))
        let past = Date(timeIntervalSinceNow: -PrivateFile.longestDraft.seconds - 60)
        try FileManager.default.setAttributes([.modificationDate: past], ofItemAtPath: path + ".new")
        try PrivateFile.replace(path, with: [4])
        #expect(try names == ["file"] && FileManager.default.contents(atPath: path) == Data([4]))
    }

    @Test func concurrentWritesLeaveOneFileAndNoDraft() async throws {
        let path = path
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...UInt8(50) {
                group.addTask { try PrivateFile.replace(path, with: Array(repeating: number, count: 1000)) }
            }
            try await group.waitForAll()
        }
        let stored = try #require(FileManager.default.contents(atPath: path))
        #expect(stored.count == 1000 && Set(stored).count == 1)
        #expect(try names == ["file"])
    }
}
