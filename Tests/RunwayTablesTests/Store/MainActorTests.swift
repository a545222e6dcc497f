import Dispatch
import Foundation
import RunwayTesting
import Synchronization
import Testing

@testable import RunwayTables

@MainActor struct MainActorTests {
    private let folder = ScratchFolder()

    @Test func noCallBlocksTheMainActor() async throws {
        let store = try await folder.open()
        let accounts = AccountFiles(in: folder.url.appending(path: "accounts"))
        let account = try await accounts.open("ada", tables: [Tasks.self])
        let (holders, release) = (AwaitedValue(0), DispatchSemaphore(value: 0))
        let timeouts = AwaitedValue(0)
        // Every call below finds both files busy until the main actor has had its turns.
        for held in [store, account] {
            Task.detached {
                try await held.write { _ in
                    holders.update { $0 += 1 }
                    if release.wait(timeout: .now() + 300) == .timedOut { timeouts.update { $0 += 1 } }
                }
            }
        }
        try await holders.wait(until: 2)
        let ended = Mutex(0)
        func begin(_ call: @escaping @MainActor () async throws -> Void) -> Task<Void, any Error> {
            Task {
                try await call()
                ended.withLock { $0 += 1 }
            }
        }
        var options = RecordStore.Options()
        options.lockTimeout = .seconds(300)
        let (file, patient) = (folder.file, options)
        let observed = store.observe { try $0.count(Tasks.self) }
        let calls = [
            begin { _ = try await store.read { try $0.count(Tasks.self) } },
            begin { try await store.write { _ = try $0.insert(task("a")) } },
            begin { _ = try await store.stage((1...100).map { list($0) }) },
            begin { try await store.finishStaging() },
            begin { _ = try await store.resealSecrets() },
            begin { for try await _ in observed { break } },
            begin {
                try await RecordStore.open(at: file, tables: [Tasks.self, Lists.self], options: patient).write { _ in }
            },
            begin { try await accounts.remove("ada", closing: account) },
        ]
        var turns = 0
        for _ in 0..<1000 {
            await Task.yield()
            turns += 1
        }
        // The two that find nothing to do end at once.
        #expect(ended.withLock { $0 } <= 2)
        #expect(observed.value == nil)
        for _ in 0..<2 { release.signal() }
        for call in calls { try await call.value }
        #expect(timeouts.value == 0)
        try await store.close()
    }
}
