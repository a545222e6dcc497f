import Foundation
import HTTPTypes
import Runway
import RunwayTesting
import Synchronization
import Testing

@testable import RunwayStorage

/// Random schedules of calls, failures, accounts, decisions and restarts against a server that recognises keys.
@Suite(.timeLimit(.minutes(10)))
struct OfflineQueueModelTests {
    /// Changes of one subject are in order. All changes of an account are if the server refuses none.
    @Test(arguments: 0..<4)
    func everyStoredChangeHasOneEffectInOrder(_ run: Int) async throws {
        let refuses = run.isMultiple(of: 2)
        let seed = UInt64.random(in: 0...UInt64.max)
        let comment: Comment = "seed \(seed)"
        var generator = SeededGenerator(seed: seed)
        let failures = Mutex(SeededGenerator(seed: seed &+ 1))
        let isWell = Mutex(false)
        let keys = Mutex<Set<String>>([])
        let server = NoteServer { item, _ in
            // A server responds to a key as the first time.
            let isNew = keys.withLock { $0.insert(item.key).inserted }
            if isWell.withLock({ $0 }) { return nil }
            return failures.withLock { generator in
                switch Int.random(in: 0..<9, using: &generator) {
                case 0: .lostResponse
                case 1: .unreachable
                case 2: .status(503)
                case 3: .status(502)
                case 4 where refuses && isNew: .status(412)
                // A gateway, which knows no keys.
                case 5 where refuses: .status([400, 403, 404, 413].randomElement(using: &generator) ?? 403)
                default: nil
                }
            }
        }
        let (folder, clock) = (ScratchFolder(), ManualClock())
        var account = "ada"
        var fixture = QueueFixture(server, in: folder, clock: clock)
        try await fixture.signIn(account)
        var expected: [String: [String]] = [:]
        for step in 0..<120 {
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<6:
                let error = await fixture.write("\(step)", "subject \(step % 3)")
                let isRefused = refuses && error?.kind == .refused
                if !isRefused { expected[account, default: []].append("\(step)") }
                #expect(
                    error == nil || error?.kind == .queued || isRefused, "\(comment): \(String(describing: error))")
            case 6: fixture.status.set(Bool.random(using: &generator) ? .none : .wifi)
            case 7: clock.advance(by: .seconds(Int.random(in: 0...1000, using: &generator)))
            case 8:
                account = account == "ada" ? "bob" : "ada"
                try await fixture.signIn(account)
                try await fixture.retryAll()
            default:
                await fixture.queue.close()
                fixture = QueueFixture(server, in: folder, clock: clock)
                try await fixture.signIn(account)
            }
        }
        isWell.withLock { $0 = true }
        fixture.status.set(.wifi)
        for next in ["ada", "bob"] {
            try await fixture.signIn(next)
            try await waitUntil("the changes of \(next), seed \(seed)") {
                try await fixture.retryAll()
                await fixture.queue.flush()
                clock.advance(by: .seconds(600))
                return try await fixture.queue.changes().allSatisfy { $0.account != next }
            }
        }
        for account in ["ada", "bob"] {
            let texts = server.effects.filter { $0.account == account }.map(\.text)
            for subjects in refuses ? [[0], [1], [2]] : [[0, 1, 2]] {
                let isMeant = { (text: String) in subjects.contains((Int(text) ?? 0) % 3) }
                #expect(texts.filter(isMeant) == (expected[account] ?? []).filter(isMeant), comment)
            }
        }
        #expect(Set(server.texts).count == server.texts.count, comment)
        await fixture.queue.close()
    }

    #if os(Linux) || os(macOS)
        /// The first process is killed while the server works on its change, during its call or after that; the second
        /// sends it with the same key.
        @Test(arguments: [false, true]) func changeSentBeforeAKillReusesItsKey(_ isFirstAttempt: Bool) async throws {
            let folder = ScratchFolder()
            try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
            let (path, keyPath) = (folder.file.path, folder.url.appending(path: "key").path)
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [path = path as String, keyPath = keyPath as String, isFirst = isFirstAttempt as Bool] in
                try await OfflineQueueModelTests.sendAndBeKilled(path, keyPath, isFirst)
            }
            let key = try String(contentsOfFile: keyPath, encoding: .utf8)
            let fixture = QueueFixture(in: folder)
            try await waitUntil("the change") { fixture.server.texts == ["a"] }
            #expect(fixture.server.received.map(\.key) == [key])
            try await waitUntil("the result") { fixture.results.all == ["a done"] }
            await fixture.queue.close()
        }

        private static func sendAndBeKilled(_ path: String, _ keyPath: String, _ isFirstAttempt: Bool) async throws {
            let server = NoteServer { item, _ in
                try? item.key.write(toFile: keyPath, atomically: false, encoding: .utf8)
                kill(getpid(), SIGKILL)
                return nil
            }
            let queue = OfflineQueue(at: URL(fileURLWithPath: path), replaying: [ReplayedEndpoint(WriteNote.self)])
            let status = SettableNetworkStatus(isFirstAttempt ? .wifi : .none)
            let network = NetworkLayer(transport: server, pipeline: .tested, offlineQueue: queue, status: status)
            _ = try? await network.call(WriteNote("a"))
            status.set(.wifi)
            try await waitUntil("the kill") { false }
        }
    #endif
}

extension QueueFixture {
    /// Sends all changes again that the server refused.
    fileprivate func retryAll() async throws { try await queue.retry(Set(try await queue.changes().map(\.id))) }
}
