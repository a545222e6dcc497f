import Foundation
import Testing

@testable import RunwayChat
@testable import RunwayStreams

/// The files of conversations and cursors.
struct ChatStateStoreTests {
    private func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "runway-chat-\(UUID())")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    private func permissions(_ file: URL) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
    }

    private func state(_ number: Int64) -> ChatState {
        var state = ChatState()
        state.readNumber = number
        return state
    }

    @Test func conversationsAreForTheirUserAlone() async throws {
        try await withFolder { folder in
            let store = FileChatStateStore(folder: folder)
            for number in 1...2 { try await store.store(["harbour": state(Int64(number))]) }
            #expect(await store.state(of: "harbour") == state(2))
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(names == ["686172626f7572.chat"], "no draft is left")
            #expect(try permissions(folder.appending(path: names[0])) == 0o600)
            #expect(try permissions(folder) == 0o700)
        }
    }

    @Test func draftOfAnotherPlaceIsNotWritten() async throws {
        try await withFolder { folder in
            // Whoever could write to the folder has put a link where a draft would be.
            let other = folder.appending(path: "other")
            try Data("other".utf8).write(to: other)
            let draft = folder.appending(path: "686172626f7572.chat.new")
            try FileManager.default.createSymbolicLink(at: draft, withDestinationURL: other)
            let store = FileChatStateStore(folder: folder)
            try await store.store(["harbour": state(1)])
            #expect(await store.state(of: "harbour") == state(1))
            #expect(try String(contentsOf: other, encoding: .utf8) == "other")
        }
    }

    @Test func cursorsOfAFastStreamAreWrittenTogether() async throws {
        try await withFolder { folder in
            let file = folder.appending(path: "cursors")
            func written() async -> String? { await FileStreamCursorStore(file: file).cursor(for: "key")?.lastEventID }
            let store = FileStreamCursorStore(file: file, minimumWriteInterval: .seconds(3600))
            await store.store(StreamCursor(stream: "news", lastEventID: "e-1"), for: "key")
            await store.flush()
            for number in 2...3 {
                await store.store(StreamCursor(stream: "news", lastEventID: "e-\(number)"), for: "key")
            }
            // A write that was due at once would come before this read.
            #expect(await store.cursor(for: "key")?.lastEventID == "e-3")
            #expect(await written() == "e-1")
            await store.flush()
            #expect(await written() == "e-3")
        }
    }

    @Test func cursorsAreForTheirUserAlone() async throws {
        try await withFolder { folder in
            let file = folder.appending(path: "cursors")
            try Data("{}".utf8).write(to: file)
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
            let store = FileStreamCursorStore(file: file)
            let cursor = StreamCursor(stream: "news", lastEventID: "e-1")
            await store.store(cursor, for: "key")
            await store.flush()
            #expect(try permissions(file) == 0o600)
            #expect(await FileStreamCursorStore(file: file).cursor(for: "key") == cursor)
        }
    }
}
