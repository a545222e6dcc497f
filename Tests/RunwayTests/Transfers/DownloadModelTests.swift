import Foundation
import RunwayTesting
import Synchronization
import Testing

@testable import Runway

/// Downloads from servers that break, lie and change their file, of processes that end at any moment, over disks that others touch.
@Suite(.timeLimit(.minutes(10)))
struct DownloadModelTests {
    /// How many stories are played; `RUNWAY_DOWNLOADS` asks for more.
    static let count = ProcessInfo.processInfo.environment["RUNWAY_DOWNLOADS"].flatMap { Int($0) } ?? 15

    @Test func fileIsOldOrOneCompleteVersion() async throws {
        for seed in 1...UInt64(Self.count) {
            let problem = try await Self.play(seed)
            if let problem { try #require(Bool(false), "seed \(seed): \(problem)") }
            await Task.yield()
        }
    }

    private static func play(_ seed: UInt64) async throws -> String? {
        var random = SeededGenerator(seed: seed)
        let folder = try TestFolder()
        func makeBytes() -> [UInt8] {
            let count = Int.random(in: 0...3, using: &random) * Int.random(in: 0...150_000, using: &random)
            return [UInt8].random(count, seed: random.next())
        }
        var states = [makeBytes()]
        let server = FileServer(states[0], tag: "\"0\"")
        let seeded = random
        server.state.withLock { $0.random = seeded }
        if Bool.random(using: &random) { server.state.withLock { $0.hasDigest = true } }
        let old: [UInt8]? = Bool.random(using: &random) ? [1, 2, 3] : nil
        if let old { try Data(old).write(to: folder.file()) }

        for _ in 0..<Int.random(in: 0...4, using: &random) {
            var bends: [FileServer.Bend] = []
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let isCut = Int.random(in: 0..<3, using: &random) == 0
                bends.append(isCut ? .cut : FileServer.Bend.allCases.randomElement(using: &random) ?? .cut)
            }
            let chosen = bends
            server.state.withLock { $0.bends = chosen }
            if let problem = await attempt(server, folder, states, old, &random) { return problem }
            switch Int.random(in: 0..<6, using: &random) {
            case 0:
                states.append(makeBytes())
                let (bytes, tag) = (states[states.count - 1], "\"\(states.count - 1)\"")
                server.state.withLock { ($0.bytes, $0.tag) = (bytes, tag) }
            case 1: try? damageNote(in: folder, &random)
            case 2: try? FileManager.default.removeItem(at: folder.file("file.part"))
            case 3: try? FileHandle(forWritingTo: folder.file("file.part")).truncate(atOffset: 0)
            default: break
            }
        }
        server.state.withLock { $0.bends = [] }
        if let problem = await attempt(server, folder, states, old, &random, mustSucceed: true) { return problem }
        if folder.bytes() != states.last { return "another state of the file than the last one" }
        return folder.names == ["file"] ? nil : "left over: \(folder.names)"
    }

    private static func attempt(
        _ server: FileServer, _ folder: TestFolder, _ states: [[UInt8]], _ old: [UInt8]?,
        _ random: inout SeededGenerator, mustSucceed: Bool = false
    ) async -> String? {
        let reported = Mutex<[TransferProgress]>([])
        let cancelling = !mustSucceed && Int.random(in: 0..<3, using: &random) == 0
        let moment = Int.random(in: 1...8, using: &random)
        let task = Mutex<Task<DownloadedFile, any Error>?>(nil)
        let cancel: @Sendable (Int) -> Void = { count in
            if cancelling, count >= moment { task.withLock(\.self)?.cancel() }
        }
        server.state.withLock { state in state.onPart = cancel }
        let (network, before) = (server.layer(seed: random.next()), folder.bytes())
        let download = Task {
            try await network.download(Film(), to: folder.file()) { progress in
                reported.withLock { $0.append(progress) }
            }
        }
        task.withLock { $0 = download }
        do {
            let file = try await download.value
            guard let saved = folder.bytes(), states.contains(saved) else { return "no state of the file was saved" }
            if file.byteCount != saved.count { return "\(file.byteCount) reported of \(saved.count) bytes" }
            if reported.withLock({ $0.last?.fraction }) != 1 { return "progress does not end at the total" }
        } catch let error as NetworkError {
            if mustSucceed { return "\(error)" }
            if folder.bytes() != before { return "the file was touched by a download that failed" }
            let isFair = [.noNetwork, .overloaded, .invalidResponse, .cancelled].contains(error.kind)
            if !isFair { return "\(error)" }
        } catch { return "\(error)" }
        return nil
    }

    private static func damageNote(in folder: TestFolder, _ random: inout SeededGenerator) throws {
        var note = try [UInt8](Data(contentsOf: folder.file("file.part.info")))
        if note.isEmpty { return }
        if Bool.random(using: &random) {
            note.removeLast(Int.random(in: 1...note.count, using: &random))
        } else {
            note[Int.random(in: 0..<note.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        }
        let handle = try FileHandle(forWritingTo: folder.file("file.part.info"))
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: note)
    }
}
