import Foundation
import Runway
import Testing

@testable import RunwayStorage

/// How an entry on which the server fails is distinguished from a server that is down.
struct SuspectedEntryTests {
    private let head = UUID()
    private let other = UUID()
    private let third = UUID()
    private let folder = ScratchFolder()

    @Test func entryIsBlamedAfterThreeOthersWereTaken() {
        var suspect = SuspectedEntry(head)
        #expect(suspect.skipped == [head])
        for conclusion in [SuspectedEntry.Conclusion.open, .open, .serverFailsOnIt] {
            suspect.didProbe()
            #expect(suspect.skipped.isEmpty)
            #expect(suspect.didLose(head, isDue: true) == conclusion)
        }
    }

    @Test func lostProbeBlamesTheServer() {
        var suspect = SuspectedEntry(head)
        suspect.didProbe()
        #expect(suspect.didLose(head, isDue: true) == .open)
        #expect(suspect.didLose(other, isDue: false) == .serverIsDown)
        #expect(suspect.skipped.isEmpty)
        // It is sent as often again before another probe, and the first probe may be of the same sort.
        #expect(suspect.didLose(head, isDue: false) == .open && suspect.skipped.isEmpty)
        #expect(suspect.didLose(head, isDue: true) == .open && suspect.skipped == [head, other])
        for conclusion in [SuspectedEntry.Conclusion.open, .open, .serverFailsOnIt] {
            suspect.didProbe()
            #expect(suspect.didLose(head, isDue: true) == conclusion)
        }
    }

    @Test func entryAloneIsNeverBlamed() {
        var suspect = SuspectedEntry(head)
        for _ in 0..<10 {
            suspect.hasNoProbe()
            #expect(suspect.didLose(head, isDue: true) == .open)
        }
    }

    @Test func lossesCountAcrossRunsForAnHour() throws {
        var journal = try Journal(in: folder)
        for _ in 0..<30 { #expect(try !journal.noteLoss(of: "ada", head, at: .seconds(10))) }
        #expect(try !journal.noteLoss(of: "bob", head, at: .seconds(20)))
        try journal.close()
        journal = try Journal(in: folder)
        #expect(try !journal.noteLoss(of: "ada", head, at: .seconds(3609)))
        #expect(try journal.noteLoss(of: "ada", head, at: .seconds(3610)))
        #expect(try !journal.noteLoss(of: "bob", head, at: .seconds(9000)))
        // The count begins with another entry, and after a response.
        #expect(try !journal.noteLoss(of: "ada", other, at: .seconds(9000)))
        for _ in 0..<30 { _ = try journal.noteLoss(of: "bob", head, at: .seconds(9001)) }
        #expect(try journal.noteLoss(of: "bob", head, at: .seconds(9002)))
        try journal.removeLosses(of: "bob")
        #expect(try !journal.noteLoss(of: "bob", head, at: .seconds(9003)))
        try journal.erase("bob")
        #expect(try journal.settings(beginning: Journal.lossesPrefix).keys.allSatisfy { !$0.contains("bob") })
        try journal.close()
    }

    @Test func claimPassesOverEntries() throws {
        let journal = try Journal(in: folder)
        let entries = ["a", "b", "c"].map { JournalEntry($0) }
        try journal.append(entries, at: .seconds(0))
        func claim(_ skipped: Int...) throws -> [String]? {
            let batch = try journal.claim(
                "", maximumCount: 1, maximumByteCount: 100, skipping: Set(skipped.map { entries[$0].id }))
            if let batch { try journal.refuse(batch) }
            return batch?.texts
        }
        #expect(try claim(0) == ["b"])
        #expect(try claim(0, 1) == ["c"])
        #expect(try claim(0, 1, 2) == nil)
        #expect(try claim() == ["a"])
        try journal.close()
    }

    @Test func changesThatDependArePassedOver() {
        func change(_ id: UUID, _ subjects: Set<String>) -> ChangeHolds.Change {
            ChangeHolds.Change(id: id, subjects: subjects, isRefused: false, isHeld: false, isClaimed: false)
        }
        let changes = [change(head, ["note"]), change(other, ["note", "list"]), change(third, ["else"])]
        let passed = ChangeHolds.pass([head], in: changes)
        #expect(passed.skipped == [head, other] && passed.next == third)
        #expect(ChangeHolds.pass([head, third], in: changes).next == nil)
    }
}
