import Foundation
import Hummingbird
import NIOCore
import RunwaySyncCore
import Testing

@testable import RunwayServer

/// Files on the disk that are opened and removed at the same time.
@Suite(.timeLimit(.minutes(5)))
final class SyncFileFolderTests: Sendable {
    private let folder = SyncFileFolder(
        path: FileManager.default.temporaryDirectory.appending(path: "runway-files-\(UUID().uuidString)").path)
    private let space = UUID()
    /// The SHA-256 of the text "other".
    private let digest = "d9298a10d1b0735837dc4bd85dac641b0f3cef27a47e5d53a54f2f3f5b2fcffa"

    deinit { try? FileManager.default.removeItem(atPath: folder.path) }

    private func store() async throws -> SyncFile {
        let file = try #require(SyncFile(Identifier(space), digest: digest))
        let body = RequestBody(buffer: ByteBuffer(string: "other"))
        try await folder.store(file, body, upTo: 100) { true }
        return file
    }

    private var path: String { "\(folder.path)/\(space.uuidString.lowercased())/\(digest)" }
    private var isThere: Bool { FileManager.default.fileExists(atPath: path) }

    private func age() throws {
        let date = Date(timeIntervalSinceNow: -7200)
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
    }

    @Test func openFilesAreNotRemoved() async throws {
        let file = try await store()
        var opened = try await folder.open(file)
        #expect(opened?.byteCount == 5)
        // As if the removal had looked at the file before it was opened.
        try age()
        try await folder.remove([digest], in: space, unusedFor: .seconds(3600))
        #expect(isThere)
        opened = nil
        #expect(try await folder.digests(in: space, unusedFor: .seconds(3600)) == [digest])
        try await folder.remove([digest], in: space, unusedFor: .seconds(3600))
        #expect(!isThere)
        #expect(try await folder.open(file) == nil)
    }

    @Test func aFileThatADeviceWasPromisedStays() async throws {
        for _ in 1...300 {
            let file = try await store()
            try age()
            async let removal: Void = folder.remove([digest], in: space, unusedFor: .seconds(3600))
            let opened = try await folder.open(file)
            try await removal
            #expect(isThere == (opened != nil))
        }
    }

    @Test func aSenderWithoutRightsLeavesNoFile() async throws {
        let file = try #require(SyncFile(Identifier(space), digest: digest))
        await #expect(throws: SyncFileFolder.Refusal.forbidden) {
            try await folder.store(file, RequestBody(buffer: ByteBuffer(string: "other")), upTo: 100) { false }
        }
        #expect(try await folder.digests(in: space, unusedFor: .zero).isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: (path as NSString).deletingLastPathComponent) == [])
    }
}
