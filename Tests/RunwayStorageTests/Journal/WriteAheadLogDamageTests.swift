import Foundation
import RunwayTesting
import Testing

@testable import RunwayStorage

/// A journal whose process ended, and whose write-ahead log is damaged: the commits before the damage are there, and no part of others.
struct WriteAheadLogDamageTests {
    private struct Files {
        var database: Data
        var log: Data
        /// What was appended, three at a time.
        var texts: [String]
    }

    /// The files of a process that was killed after some commits.
    private func files(_ count: Int) throws -> Files {
        let folder = ScratchFolder()
        let journal = try Journal(in: folder)
        let texts = (0..<count).map { "entry \($0) " + String(repeating: "x", count: 100) }
        for start in stride(from: 0, to: count, by: 3) { try journal.append(Array(texts[start..<start + 3])) }
        // As long as the journal is open, SQLite leaves its log in place.
        let log = try Data(contentsOf: URL(fileURLWithPath: folder.file.path + "-wal"))
        return Files(database: try Data(contentsOf: folder.file), log: log, texts: texts)
    }

    /// Opens the files as the next process does, and returns how many entries are there.
    private func open(_ files: Files, log: Data, _ comment: Comment) throws -> Int {
        let folder = ScratchFolder()
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        try files.database.write(to: folder.file)
        try log.write(to: URL(fileURLWithPath: folder.file.path + "-wal"))
        let file = try LockedJournalFile(at: folder.file, limits: JournalLimits(), durability: .normal)
        let journal = try file.open(time: .seconds(0)) { error, _ in
            Issue.record("\(comment): the file was set aside: \(error)")
        }
        let found = try journal.drain().map(\.text)
        #expect(found == Array(files.texts.prefix(found.count)), comment)
        #expect(found.count.isMultiple(of: 3), comment)
        try journal.append(["new"])
        #expect(try journal.drain().map(\.text) == ["new"], comment)
        return found.count
    }

    @Test func truncatedLogLosesLaterCommitsAlone() throws {
        let files = try files(60)
        #expect(try open(files, log: files.log, "whole") == 60)
        // A frame is a page with a header of 24 bytes, after the header of 32.
        let frame = 4096 + 24
        #expect(files.log.count > 32 + 40 * frame)
        var counts: [Int] = []
        for end in stride(from: 32, to: files.log.count, by: 3 * frame) {
            for cut in [end, end + 1000] {
                counts.append(try open(files, log: files.log.prefix(cut), "truncated at \(cut)"))
            }
        }
        #expect(counts == counts.sorted() && counts.first == 0)
    }

    @Test func flippedBytesLoseLaterCommitsAlone() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let files = try files(60)
        for round in 0..<150 {
            var log = files.log
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                log[Int.random(in: 0..<log.count, using: &generator)] ^= UInt8.random(in: 1...255, using: &generator)
            }
            _ = try open(files, log: log, "seed \(seed), round \(round)")
        }
    }
}
