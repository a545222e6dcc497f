import Foundation
import Testing

@testable import Runway

/// Files as bodies of requests.
@Suite(.timeLimit(.minutes(10)))
struct FileBodyTests {
    private let folder: TestFolder
    private let bytes = [UInt8].random(300_000, seed: 8)

    init() throws {
        folder = try TestFolder()
        try Data(bytes).write(to: folder.file())
    }

    private func stream(_ body: RequestBody) throws -> BodyStream {
        guard case .stream(let stream, _, _) = body else { throw CancellationError() }
        return stream
    }

    @Test func fileIsReadAgainForEachAttempt() async throws {
        let body = try RequestBody.file(folder.file())
        #expect(body.byteCount == bytes.count && body.isReplayable)
        for _ in 0..<2 { #expect(try await stream(body).collect(upTo: 1 << 20) == bytes) }
    }

    @Test func emptyFileIsAnEmptyBody() async throws {
        try Data().write(to: folder.file())
        let body = try RequestBody.file(folder.file())
        #expect(body.byteCount == 0)
        #expect(try await stream(body).collect(upTo: 1) == [])
    }

    @Test(arguments: [0, 299_999, 300_001])
    func fileChangedBeforeSendingIsNotSent(byteCount: Int) async throws {
        let body = try RequestBody.file(folder.file())
        try FileHandle(forWritingTo: folder.file()).truncate(atOffset: UInt64(byteCount))
        let error = await #expect(throws: NetworkError.self) { try await stream(body).collect(upTo: 1 << 20) }
        #expect(error?.kind == .storage)
    }

    @Test func changedFileEndsTheBodyEarly() async throws {
        let body = try RequestBody.file(folder.file())
        var parts = try stream(body).makeAsyncIterator()
        var count = try await parts.next()?.count ?? 0
        try FileHandle(forWritingTo: folder.file()).truncate(atOffset: UInt64(count))
        let error = await #expect(throws: NetworkError.self) {
            while let part = try await parts.next() { count += part.count }
        }
        #expect(error?.kind == .storage && count < bytes.count)
    }

    @Test(arguments: ["folder", "none", "none/deep"])
    func whatIsNoFileIsOneClearError(name: String) throws {
        try? FileManager.default.createDirectory(at: folder.file("folder"), withIntermediateDirectories: false)
        #expect(throws: NetworkError.self) { try RequestBody.file(folder.file(name)) }
    }

    #if os(Linux)
        @Test func fullDiskIsOneClearError() throws {
            let file = try OpenFile("/dev/full", O_WRONLY)
            let error = #expect(throws: FileError.self) { try file.write([1], at: 0) }
            #expect(error?.description.contains("No space left on device") == true)
        }
    #endif
}
