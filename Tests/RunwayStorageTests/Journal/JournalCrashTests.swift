import Foundation
import GRDB
import RunwayTesting
import Synchronization
import Testing

@testable import RunwayStorage

/// Processes that are killed while they write, and restarts at random.
struct JournalCrashTests {
    #if os(Linux) || os(macOS)
        @Test func committedEntriesSurviveKill() async throws {
            for round in 1...8 {
                let folder = ScratchFolder()
                let (journalPath, listPath) = (folder.file.path, folder.url.appending(path: "committed").path)
                try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
                await #expect(processExitsWith: .signal(SIGKILL)) {
                    [journalPath = journalPath as String, listPath = listPath as String, round = round as Int] in
                    try JournalCrashTests.appendUntilKilled(journalPath, listPath, after: 7 * round)
                }
                let committed = try String(contentsOf: folder.url.appending(path: "committed"), encoding: .utf8)
                    .split(separator: "\n").map(String.init)
                #expect(committed.count >= 7 * round)
                let journal = try Journal(
                    at: folder.file, limits: JournalLimits(), durability: .full, time: .seconds(0))
                let found = try journal.drain().map(\.text)
                // Those of the append that was interrupted may be there, too: all of them.
                #expect(Array(found.prefix(committed.count)) == committed)
                #expect([0, 3].contains(found.count - committed.count))
            }
        }

        /// Appends three entries at a time and lists what was committed, until another thread kills the process.
        private static func appendUntilKilled(_ journal: String, _ list: String, after count: Int) throws {
            let journal = try Journal(at: URL(fileURLWithPath: journal), time: .seconds(0))
            let listed = Atomic(0)
            let descriptor = open(list, O_WRONLY | O_CREAT | O_APPEND, 0o600)
            try withExtendedLifetime(listed) {
                DispatchQueue.global().async {
                    while listed.load(ordering: .relaxed) < count {}
                    kill(getpid(), SIGKILL)
                }
                var number = 0
                while true {
                    let texts = (number..<number + 3).map { "entry \($0)" }
                    try journal.append(texts)
                    // One write, so that a kill can't divide it.
                    let lines = Array((texts.joined(separator: "\n") + "\n").utf8)
                    guard write(descriptor, lines, lines.count) == lines.count else { return }
                    number += 3
                    listed.store(number, ordering: .relaxed)
                }
            }
        }
    #endif

    /// What a journal holds, in memory.
    private struct Model {
        var waiting: [JournalEntry] = []
        var claimed: [String: JournalBatch] = [:]
        var setAside: [JournalEntry] = []
        /// Every batch by stream and number.
        var batches: [String: [UUID]] = [:]
    }

    @Test(arguments: 0..<4)
    func journalEqualsItsModelThroughRestarts(_ run: Int) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let comment: Comment = "seed \(seed)"
        let folder = ScratchFolder()
        var journal = try Journal(in: folder)
        var model = Model()
        for step in 0..<400 {
            let scope = ["ada", "bob"].randomElement(using: &generator)!
            switch Int.random(in: 0..<8, using: &generator) {
            case 0, 1, 2:
                let entries = (0..<Int.random(in: 1...5, using: &generator)).map {
                    JournalEntry("\(step).\($0)", scope: scope)
                }
                try journal.append(entries, at: .seconds(Int64(step)))
                model.waiting += entries
            case 3, 4:
                let batch = try journal.claim(scope, upTo: Int.random(in: 1...6, using: &generator))
                if let known = model.claimed[scope] {
                    #expect(batch == known, comment)
                } else if let batch {
                    let expected = model.waiting.filter { $0.scope == scope }.prefix(batch.entries.count)
                    #expect(batch.entries.map(\.asAppended) == Array(expected), comment)
                    #expect(
                        model.batches.updateValue(
                            batch.entries.map(\.id), forKey: "\(batch.stream)-\(batch.number)") == nil)
                    model.claimed[scope] = batch
                } else {
                    #expect(!model.waiting.contains { $0.scope == scope }, comment)
                }
            case 5:
                guard let batch = model.claimed.removeValue(forKey: scope) else { continue }
                let ids = batch.ids.filter { _ in Bool.random(using: &generator) }
                try journal.acknowledge(batch, ids)
                model.waiting.removeAll { ids.contains($0.id) }
            case 6:
                guard let batch = model.claimed.removeValue(forKey: scope) else { continue }
                let poison = batch.entries[0].asAppended
                if Bool.random(using: &generator) {
                    try journal.setAside([poison.id: "poison"], of: batch)
                    model.waiting.removeAll { $0.id == poison.id }
                    model.setAside.append(poison)
                }
                try journal.refuse(batch)
            default:
                try journal.close()
                journal = try Journal(in: folder)
            }
            let counts = try journal.counts()
            #expect(counts.waiting.values.reduce(0, +) == model.waiting.count, comment)
            #expect(counts.waitingByteCount == model.waiting.map(\.payload.count).reduce(0, +), comment)
            #expect(counts.setAside == model.setAside.count, comment)
        }
        let rest = try journal.drain("ada") + journal.drain("bob")
        #expect(
            rest.map(\.asAppended) == ["ada", "bob"].flatMap { scope in model.waiting.filter { $0.scope == scope } },
            comment
        )
        #expect(Set(try journal.entriesSetAside().map(\.id)) == Set(model.setAside.map(\.id)), comment)
    }
}
