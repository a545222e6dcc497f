import Foundation
import HTTPTypes
import RunwayTesting
import Synchronization
import Testing

@testable import Runway

/// What a download does with the responses of one server, and the files that it leaves.
@Suite(.timeLimit(.minutes(10)))
struct DownloadTests {
    private let folder: TestFolder
    private let bytes = [UInt8].random(700_000, seed: 3)
    private let server: FileServer
    private let records = RecordCollector()
    private let network: NetworkLayer

    init() throws {
        folder = try TestFolder()
        server = FileServer(bytes)
        network = server.layer(sinks: [records])
    }

    private func bend(_ bends: FileServer.Bend...) { server.state.withLock { $0.bends = bends } }

    private func download() async throws -> DownloadedFile { try await network.download(Film(), to: folder.file()) }

    private func failure() async throws -> NetworkError {
        try #require(await #expect(throws: NetworkError.self) { try await download() })
    }

    private func decisions() async throws -> [TransferDecision] {
        await network.flushRecords()
        return records.records.flatMap { $0.decisions.compactMap { $0.decision as? TransferDecision } }
    }

    @Test func fileAppearsWholeAndAlone() async throws {
        let file = try await download()
        #expect(folder.bytes() == bytes)
        #expect(file.byteCount == bytes.count && file.resumedByteCount == 0 && file.url == folder.file())
        #expect(folder.names == ["file"])
        #expect(try await decisions() == [.saved(name: "file", byteCount: bytes.count, resumed: 0)])
        #expect(server.requests[0].head.headerFields[.acceptEncoding] == "identity")
    }

    @Test func emptyFileIsAFile() async throws {
        server.state.withLock { $0.bytes = [] }
        #expect(try await download().byteCount == 0)
        #expect(folder.bytes() == [] && folder.names == ["file"])
    }

    @Test func brokenDownloadResumesInTheSameCall() async throws {
        bend(.cut, .cut)
        let file = try await download()
        #expect(folder.bytes() == bytes)
        let requests = server.requests
        #expect(requests.count == 3)
        #expect(requests[1].head.headerFields[.ifRange] == "\"1\"")
        #expect(requests[1].head.headerFields[.range]?.hasPrefix("bytes=") == true)
        await network.flushRecords()
        let record = try #require(records.records.first)
        #expect(record.attempts.count == 3 && records.records.count == 1)
        let counts = record.attempts.compactMap(\.responseByteCount)
        #expect(counts.reduce(0, +) == bytes.count)
        #expect(file.resumedByteCount > 0 && file.resumedByteCount == bytes.count - (counts.last ?? 0))
    }

    @Test func attemptsWithoutBytesFailAndPreserveTheFile() async throws {
        server.state.withLock { state in
            state.bytes = Array(bytes.prefix(1000))
            state.bends = [.cut, .cut, .cut]
        }
        #expect(try await failure().kind == .noNetwork)
        #expect(server.requests.count == 3)
        await network.flushRecords()
        let reasons = records.records.first?.decisions(of: RetryDecision.self)
        #expect(reasons == [.gaveUp(.attemptsUsed(3), cause: .noNetwork(.sent))])
        #expect(folder.names == ["file.part", "file.part.info"] && folder.bytes() == nil)
        let file = try await download()
        #expect(file.resumedByteCount > 0 && file.response.status == .partialContent)
        #expect(folder.bytes() == Array(bytes.prefix(1000)))
    }

    @Test func errorStatusIsThrownAndNotWritten() async throws {
        try Data([1, 2, 3]).write(to: folder.file())
        bend(.unavailable, .unavailable, .unavailable)
        let error = try await failure()
        #expect(error.kind == .overloaded && error.status == .serviceUnavailable)
        #expect(folder.bytes() == [1, 2, 3])
    }

    @Test func refusalBetweenPartsPreservesThePartialFile() async throws {
        bend(.cut, .unavailable, .unavailable, .unavailable)
        #expect(try await failure().kind == .overloaded)
        let left = try #require(folder.bytes("file.part"))
        #expect(!left.isEmpty && Array(bytes.prefix(left.count)) == left)
    }

    @Test(arguments: [FileServer.Bend.otherPart, .otherTag, .otherLength, .coded, .unsatisfied, .tooMany])
    func mismatchedPartStartsAgain(_ lie: FileServer.Bend) async throws {
        bend(.cut, lie)
        _ = try await download()
        #expect(folder.bytes() == bytes)
        #expect(server.requests.count == 3)
        #expect(server.requests[2].head.headerFields[.range] == nil)
        #expect(try await decisions().contains { if case .startedOver = $0 { true } else { false } })
    }

    @Test(arguments: ["gzip", "zstd, br", "compress"])
    func codedFileIsAnErrorNamingTheCoding(_ coding: String) async throws {
        server.state.withLock { $0.coding = coding }
        let error = try await failure()
        #expect(error.kind == .invalidResponse && error.detail.contains("\"\(coding)\""))
        #expect(folder.bytes() == nil && server.requests.count == 1)
    }

    @Test func identityIsNoCoding() async throws {
        server.state.withLock { $0.coding = "identity" }
        _ = try await download()
        #expect(folder.bytes() == bytes)
    }

    @Test func codedFilePreservesThePartialOne() async throws {
        bend(.cut, .unavailable, .unavailable, .unavailable)
        _ = try await failure()
        let left = folder.bytes("file.part")
        server.state.withLock { $0.coding = "gzip" }
        bend(.wholeInsteadOfPart)
        #expect(try await failure().kind == .invalidResponse)
        #expect(left != nil && folder.bytes("file.part") == left)
    }

    @Test func serverThatNeverFitsIsOneClearError() async throws {
        bend(.cut, .otherPart, .cut, .otherTag, .cut, .otherLength)
        let error = try await failure()
        #expect(error.kind == .invalidResponse && error.step == .saving)
        #expect(folder.bytes() == nil)
    }

    @Test func serverWithoutRangesSendsTheWholeAnew() async throws {
        bend(.cut, .wholeInsteadOfPart)
        let file = try await download()
        #expect(folder.bytes() == bytes && file.resumedByteCount == 0)
        #expect(try await decisions().contains(.startedOver(.whole)))
    }

    @Test func truncatedDownloadIsResumed() async throws {
        bend(.tooFew, .shortPart)
        _ = try await download()
        #expect(folder.bytes() == bytes)
    }

    @Test(arguments: ["W/\"weak\"", "unquoted", ""])
    func withoutAStrongValidatorNothingIsResumed(_ tag: String) async throws {
        server.state.withLock { state in
            state.tag = tag
            state.hasTag = !tag.isEmpty
            state.bends = [.cut]
        }
        _ = try await download()
        #expect(folder.bytes() == bytes)
        #expect(server.requests.allSatisfy { $0.head.headerFields[.range] == nil })
    }

    @Test func fileThatChangedIsFetchedAnew() async throws {
        bend(.cut, .unavailable, .unavailable, .unavailable)
        _ = try await failure()
        let other = [UInt8].random(400_000, seed: 9)
        server.state.withLock { ($0.bytes, $0.tag) = (other, "\"2\"") }
        #expect(try await download().resumedByteCount == 0)
        #expect(folder.bytes() == other)
    }

    @Test func partOfAnotherFileIsNotContinued() async throws {
        bend(.cut, .unavailable, .unavailable, .unavailable)
        _ = try await failure()
        // The same tag at another address names other bytes.
        _ = try await network.download(Film(id: 2), to: folder.file())
        #expect(server.requests.last?.head.headerFields[.range] == nil)
        #expect(folder.bytes() == bytes)
    }

    @Test func completeFileIsConfirmedByItsLastByte() async throws {
        bend(.tooFew, .unavailable, .unavailable, .unavailable)
        _ = try await failure()
        let part = folder.file("file.part")
        let handle = try FileHandle(forWritingTo: part)
        try handle.seekToEnd()
        try handle.write(contentsOf: [bytes[bytes.count - 1]])
        try handle.close()
        let file = try await download()
        #expect(server.requests.last?.head.headerFields[.range] == "bytes=\(bytes.count - 1)-")
        #expect(folder.bytes() == bytes && file.byteCount == bytes.count)
    }

    @Test(arguments: ["", "{", "{\"version\":1}", "null", String(repeating: "x", count: 100_000)])
    func unreadableNoteMeansAFreshStart(_ text: String) async throws {
        bend(.cut, .unavailable, .unavailable, .unavailable)
        _ = try await failure()
        try Data(text.utf8).write(to: folder.file("file.part.info"))
        #expect(try await download().resumedByteCount == 0)
        #expect(folder.bytes() == bytes)
    }

    @Test func wrongDigestFailsTheCall() async throws {
        server.state.withLock { $0.hasDigest = true }
        _ = try await download()
        #expect(folder.bytes() == bytes)
    }

    @Test func damagedPartIsFoundByTheDigest() async throws {
        server.state.withLock { $0.hasDigest = true }
        bend(.cut, .unavailable, .unavailable, .unavailable)
        _ = try await failure()
        let handle = try FileHandle(forWritingTo: folder.file("file.part"))
        try handle.write(contentsOf: [bytes[0] ^ 1])
        try handle.close()
        _ = try await download()
        #expect(folder.bytes() == bytes)
        #expect(try await decisions().contains(.startedOver(.digest)))
    }

    @Test func fileThatIsTooLargeIsRefused() async throws {
        let error = try #require(
            await #expect(throws: NetworkError.self) {
                try await network.download(Film(), to: folder.file(), upTo: 699_999)
            })
        #expect(error.kind == .invalidResponse && folder.bytes() == nil)
        bend(.vague)
        let vague = try #require(
            await #expect(throws: NetworkError.self) {
                try await network.download(Film(), to: folder.file(), upTo: 699_999)
            })
        #expect(vague.kind == .invalidResponse && folder.bytes() == nil)
    }

    @Test func progressGrowsAndEndsAtTheTotal() async throws {
        let reported = Mutex<[TransferProgress]>([])
        bend(.cut)
        _ = try await network.download(Film(), to: folder.file()) { progress in
            reported.withLock { $0.append(progress) }
        }
        let all = reported.withLock { $0 }
        #expect(all.last == TransferProgress(completedByteCount: bytes.count, totalByteCount: bytes.count))
        #expect(all.last?.fraction == 1)
        #expect(zip(all, all.dropFirst()).allSatisfy { $0.completedByteCount <= $1.completedByteCount })
    }

    @MainActor @Test func progressIsReportedInTheCallersIsolation() async throws {
        // Neither sendable nor guarded: the compiler proves the isolation.
        var all: [TransferProgress] = []
        _ = try await network.download(Film(), to: folder.file()) { progress in
            MainActor.assertIsolated()
            all.append(progress)
        }
        #expect(all.last?.completedByteCount == bytes.count)
        let count = all.count
        await Task { @MainActor in }.value
        #expect(all.count == count, "no report comes after the end")
    }

    @Test func cancelledDownloadLeavesThePartialFile() async throws {
        let gate = Mutex<Task<DownloadedFile, any Error>?>(nil)
        let cancel: @Sendable (Int) -> Void = { if $0 == 2 { gate.withLock(\.self)?.cancel() } }
        server.state.withLock { $0.onPart = cancel }
        let started = Mutex(false)
        let task = Task {
            try await waitUntil { started.withLock(\.self) }
            return try await download()
        }
        gate.withLock { $0 = task }
        started.withLock { $0 = true }
        await #expect(throws: NetworkError.self) { try await task.value }
        server.state.withLock { $0.onPart = nil }
        #expect(folder.names == ["file.part", "file.part.info"])
        #expect(try await download().resumedByteCount > 0)
        #expect(folder.bytes() == bytes)
    }
}
