import Foundation
import GRDB
import Testing

@testable import RunwayStorage

struct JournalTests {
    private let folder = ScratchFolder()

    @Test func entriesSurviveReopeningInOrder() throws {
        let journal = try Journal(in: folder)
        try journal.append(["a", "b"])
        try journal.append(["c"])
        try journal.close()
        let reopened = try Journal(in: folder)
        #expect(reopened.installation == journal.installation)
        #expect(try reopened.counts().waiting == ["": 3])
        #expect(try reopened.claim()?.texts == ["a", "b", "c"])
    }

    @Test func batchStaysTheSameUntilItIsOver() throws {
        var journal = try Journal(in: folder)
        try journal.append(["a", "b", "c"])
        let batch = try #require(try journal.claim(upTo: 2))
        #expect(batch.number == 1)
        #expect(batch.texts == ["a", "b"])
        try journal.append(["d"])
        #expect(try journal.claim(upTo: 30) == batch)
        try journal.close()
        journal = try Journal(in: folder)
        #expect(try journal.claim(upTo: 1) == batch)
        try journal.acknowledge(batch, batch.ids)
        let next = try #require(try journal.claim())
        #expect(next.stream == batch.stream)
        #expect(next.number == 2)
        #expect(next.texts == ["c", "d"])
    }

    @Test func unacknowledgedEntriesWaitAgainInTheirPlaces() throws {
        let journal = try Journal(in: folder)
        try journal.append(["a", "b", "c", "d"])
        let batch = try #require(try journal.claim(upTo: 3))
        let middle = batch.entries[1].id
        #expect(try journal.acknowledge(batch, [middle, UUID()]) == 1)
        #expect(try journal.claim()?.texts == ["a", "c", "d"])
    }

    @Test func secondAcknowledgementChangesNothing() throws {
        let journal = try Journal(in: folder)
        try journal.append(["a", "b"])
        let batch = try #require(try journal.claim(upTo: 1))
        try journal.acknowledge(batch, batch.ids)
        let next = try #require(try journal.claim())
        #expect(try journal.acknowledge(batch, batch.ids) == 0)
        #expect(try journal.claim() == next)
    }

    @Test func refusedBatchBeginsANewStream() throws {
        let journal = try Journal(in: folder)
        try journal.append(["a", "b"])
        let batch = try #require(try journal.claim())
        try journal.refuse(batch)
        let half = try #require(try journal.claim(upTo: 1))
        #expect(half.stream != batch.stream)
        #expect(half.number == 1)
        #expect(half.texts == ["a"])
    }

    @Test func scopesAreClaimedApart() throws {
        let journal = try Journal(in: folder)
        try journal.append(["a"], scope: "ada")
        try journal.append(["b"], scope: "bob")
        let ada = try #require(try journal.claim("ada"))
        let bob = try #require(try journal.claim("bob"))
        #expect(ada.texts == ["a"])
        #expect(bob.texts == ["b"])
        #expect(ada.stream != bob.stream)
        #expect(try journal.claim() == nil)
    }

    @Test func repeatedAppendStoresAnEntryOnce() throws {
        let journal = try Journal(in: folder)
        let entry = JournalEntry("a")
        try journal.append([entry], at: .seconds(0))
        try journal.append([entry, JournalEntry("b")], at: .seconds(0))
        #expect(try journal.claim()?.texts == ["a", "b"])
    }

    @Test func batchesAreBoundedInBytes() throws {
        let journal = try Journal(in: folder)
        try journal.append(["aaaa", "bbbb", "cccccccccccc"])
        let first = try #require(try journal.claim("", maximumCount: 30, maximumByteCount: 8))
        #expect(first.texts == ["aaaa", "bbbb"])
        try journal.acknowledge(first, first.ids)
        #expect(try journal.claim("", maximumCount: 30, maximumByteCount: 8)?.texts == ["cccccccccccc"])
    }

    @Test func oldestOfTheLowestPriorityIsEvictedFirst() throws {
        let journal = try Journal(in: folder, limits: JournalLimits(maximumCount: 3))
        try journal.append(["important"], priority: 1)
        try journal.append(["a", "b"])
        try journal.append(["c", "d"])
        #expect(try journal.claim()?.texts == ["important", "c", "d"])
        #expect(try journal.counts().lost == [.count: 2])
    }

    @Test func excessBytesAreEvictedAndCounted() throws {
        let journal = try Journal(in: folder, limits: JournalLimits(maximumByteCount: 10))
        try journal.append(["aaaa", "bbbb", "cccc"])
        #expect(try journal.claim()?.texts == ["bbbb", "cccc"])
        #expect(try journal.counts().lost == [.bytes: 1])
    }

    @Test func claimedEntriesAreNotEvicted() throws {
        let journal = try Journal(in: folder, limits: JournalLimits(maximumCount: 2))
        try journal.append(["a", "b"])
        let batch = try #require(try journal.claim())
        try journal.append(["c"])
        #expect(try journal.claim() == batch)
        #expect(try journal.counts().lost == [.count: 1])
    }

    @Test func ageIsCountedWithoutTheDate() throws {
        let journal = try Journal(in: folder, limits: JournalLimits(maximumAge: .seconds(100)))
        try journal.append(["a"], at: 0)
        // The date jumps ahead by a year, and back by two.
        try journal.append([JournalEntry("b")], at: .seconds(60, date: 31_536_000))
        try journal.append([JournalEntry("c")], at: .seconds(90, date: -31_536_000))
        #expect(try journal.counts().lost == [:])
        try journal.append([JournalEntry("d")], at: .seconds(101, date: 0))
        #expect(try journal.counts().lost == [.age: 1])
        #expect(try journal.claim()?.texts == ["b", "c", "d"])
    }

    @Test func ageGoesOnAfterTheSystemStartsAgain() throws {
        let journal = try Journal(in: folder, limits: JournalLimits(maximumAge: .seconds(100)))
        try journal.append(["a"], at: 50)
        try journal.append([JournalEntry("b")], at: .seconds(1, boot: "second", date: 130))
        #expect(try journal.counts().lost == [:])
        try journal.append([JournalEntry("c")], at: .seconds(30, boot: "second", date: 130))
        #expect(try journal.counts().lost == [.age: 1])
    }

    @Test(arguments: [Int64.max, .min]) func extremeAgesOverflowNothing(_ seconds: Int64) throws {
        let journal = try Journal(in: folder, limits: JournalLimits(maximumAge: .seconds(seconds)))
        try journal.append(["a"])
        #expect(try journal.claim()?.texts == (seconds > 0 ? ["a"] : nil))
    }

    @Test func entrySetAsideBlocksNothing() throws {
        let journal = try Journal(in: folder)
        try journal.append(["poison", "a"])
        let batch = try #require(try journal.claim())
        let poison = batch.entries[0].id
        try journal.setAside([poison: "malformed"], of: batch)
        try journal.acknowledge(batch, batch.ids.subtracting([poison]))
        #expect(try journal.claim() == nil)
        #expect(try journal.entriesSetAside().map(\.reason) == ["malformed"])
        #expect(try journal.counts().setAside == 1)
        try journal.retry([poison], at: .seconds(0))
        #expect(try journal.claim()?.texts == ["poison"])
        #expect(try journal.counts().setAside == 0)
    }

    @Test func entriesSetAsideAreBounded() throws {
        let journal = try Journal(in: folder, limits: JournalLimits(maximumSetAsideCount: 2))
        try journal.append(["a", "b", "c"])
        let batch = try #require(try journal.claim())
        try journal.setAside(Dictionary(uniqueKeysWithValues: batch.ids.map { ($0, "") }), of: batch)
        #expect(try journal.entriesSetAside().map(\.text) == ["b", "c"])
        #expect(try journal.counts().lost == [.setAside: 1])
        try journal.discard(batch.ids)
        #expect(try journal.counts() == JournalCounts(lost: [.setAside: 1]))
    }

    @Test func earlierRunsSeriesIsSentAgainOnce() throws {
        var journal = try Journal(in: folder)
        try journal.append(["a"])
        for round in 1...2 {
            let batch = try #require(try journal.claim())
            try journal.setRefusals(of: "", 3)
            try journal.setAside([batch.entries[0].id: "failed"], of: batch, inSeries: true)
            try journal.refuse(batch)
            try journal.close()
            journal = try Journal(in: folder)
            #expect(try journal.entriesSetAside().map(\.reason) == ["failed"])
            try journal.endRefusals(of: "", at: .seconds(0))
            #expect(try journal.counts().setAside == round - 1 && journal.refusals() == [:])
        }
    }

    @Test func shortSeriesStaysSetAside() throws {
        let journal = try Journal(in: folder)
        try journal.append(["a", "b"])
        for count in [2, 3] {
            let batch = try #require(try journal.claim(upTo: 1))
            try journal.setRefusals(of: "", count)
            try journal.setAside([batch.entries[0].id: "failed"], of: batch, inSeries: true)
            try journal.refuse(batch)
            try journal.endRefusals(of: "", at: .seconds(0))
        }
        // The second series has the second entry alone.
        #expect(try journal.entriesSetAside().map(\.text) == ["a"])
        #expect(try journal.claim()?.texts == ["b"])
    }

    @Test(arguments: [false, true]) func entryThatReturnsWaitsFromThenOn(_ isInSeries: Bool) throws {
        let journal = try Journal(in: folder, limits: JournalLimits(maximumAge: .seconds(100)))
        try journal.append(["a"], at: 0)
        let batch = try #require(try journal.claim())
        try journal.setRefusals(of: "", 3)
        try journal.setAside([batch.entries[0].id: "refused"], of: batch, inSeries: isInSeries)
        try journal.refuse(batch)
        if isInSeries {
            #expect(try journal.endRefusals(of: "", at: .seconds(200)) == 1)
        } else {
            try journal.retry(batch.ids, at: .seconds(200))
        }
        try journal.append(["b"], at: 299)
        let second = try #require(try journal.claim())
        #expect(second.texts == ["a", "b"])
        try journal.refuse(second)
        try journal.append(["c"], at: 301)
        #expect(try journal.claim()?.texts == ["b", "c"])
        #expect(try journal.counts().lost == [.age: 1])
    }

    @Test func damagedEntrySetAsideIsNotRetried() throws {
        let journal = try Journal(in: folder)
        try journal.append(["a", "b"])
        let batch = try #require(try journal.claim())
        try journal.setAside(Dictionary(uniqueKeysWithValues: batch.ids.map { ($0, "") }), of: batch)
        try journal.refuse(batch)
        try journal.write { try $0.execute(sql: "UPDATE entry SET priority = 7 WHERE payload = CAST('a' AS BLOB)") }
        try journal.retry(batch.ids, at: .seconds(0))
        #expect(try journal.counts() == JournalCounts(waiting: ["": 1], waitingByteCount: 1, lost: [.damaged: 1]))
        #expect(try journal.claim()?.texts == ["b"])
    }

    @Test func erasureLeavesNoByteOfAScope() throws {
        let journal = try Journal(in: folder)
        try journal.append((0..<50).map { "secret-\($0)" }, scope: "ada")
        try journal.append(["other"], scope: "bob")
        let batch = try #require(try journal.claim("ada"))
        try journal.erase("ada")
        try journal.acknowledge(batch, [])
        #expect(try journal.claim("ada") == nil)
        #expect(try journal.claim("bob")?.texts == ["other"])
        try journal.append(["again"], scope: "ada")
        #expect(try journal.claim("ada")?.stream != batch.stream)
        try journal.close()
        for file in try FileManager.default.contentsOfDirectory(at: folder.url, includingPropertiesForKeys: nil) {
            #expect(try Data(contentsOf: file).firstRange(of: Data("secret-".utf8)) == nil, "\(file.lastPathComponent)")
        }
    }

    @Test func erasureRemovesDamagedCounts() throws {
        let journal = try Journal(in: folder)
        for scope in ["ada", "bob"] { try journal.append(["a"], scope: scope) }
        try journal.write { try $0.execute(sql: "UPDATE tally SET count = 5 WHERE scope = 'ada'") }
        try journal.erase("ada")
        #expect(try journal.counts().waiting == ["bob": 1])
    }

    @Test func erasureOfTheLastScopeCutsTheFile() throws {
        let journal = try Journal(in: folder)
        let texts = (0..<400).map { "\($0) " + String(repeating: "x", count: 5000) }
        for scope in ["ada", "bob"] { try journal.append(texts, scope: scope) }
        func byteCount() throws -> Int { try folder.file.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0 }
        try journal.erase("ada")
        // What remains is not moved.
        #expect(try byteCount() > 3 << 20)
        try journal.erase("bob")
        #expect(try byteCount() < 1 << 20)
        try journal.append(["a"])
        #expect(try journal.claim()?.texts == ["a"])
    }

    @Test func acknowledgedEntriesLeaveNoByte() throws {
        let journal = try Journal(in: folder)
        try journal.append((0..<50).map { "secret-\($0)" }, scope: "ada")
        try journal.append(["other"], scope: "bob")
        #expect(try journal.drain("ada").count == 50)
        try journal.erase("ada")
        try journal.close()
        for file in try FileManager.default.contentsOfDirectory(at: folder.url, includingPropertiesForKeys: nil) {
            #expect(try Data(contentsOf: file).firstRange(of: Data("secret-".utf8)) == nil, "\(file.lastPathComponent)")
        }
    }

    @Test func erasureRemovesFilesThatWereSetAside() throws {
        for text in ["secret of ada", "more of ada"] {
            let journal = try Journal(in: folder)
            try journal.append([text], scope: "ada")
            try journal.close()
            _ = try LockedJournalFile.setAside(folder.file)
        }
        let journal = try Journal(in: folder)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).count > 3)
        try journal.erase("ada")
        try journal.close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [folder.file.lastPathComponent])
    }

    @Test func shrinkingEntryHasRoomInAFullFile() throws {
        let limits = JournalLimits(maximumCount: 2, maximumSetAsideCount: 2)
        let journal = try Journal(in: folder, limits: limits)
        try journal.append(["aaaa", "bbbb"])
        let batch = try #require(try journal.claim())
        try journal.setAside([batch.entries[0].id: "refused"], of: batch)
        try journal.acknowledge(batch, [])
        try journal.append(["cccc", "dddd"])
        let placed = try #require(try journal.entry(batch.entries[0].id))
        for text in ["aaab", "a"] { try journal.replace(placed, with: Array(text.utf8), .seconds(0)) }
        #expect { try journal.replace(placed, with: Array("larger".utf8), .seconds(0)) } throws: {
            ($0 as? StorageError)?.kind == .full
        }
    }

    @Test func idsOfVersionSevenSortByTime() {
        var generator = SystemRandomNumberGenerator()
        let ids = (0..<100).map { UUID(at: Date(milliseconds: 1_767_225_600_000 + $0), &generator) }
        #expect(ids == ids.sorted())
        #expect(ids.allSatisfy { $0.bytes[6] >> 4 == 7 && $0.bytes[8] >> 6 == 2 })
        #expect(UUID(at: .distantPast, &generator).bytes.prefix(6).allSatisfy { $0 == 0 })
    }
}
