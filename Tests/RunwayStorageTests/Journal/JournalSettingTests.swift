import Foundation
import GRDB
import RunwaySQLite
import Testing

@testable import RunwayStorage

/// Damaged settings, clocks and moments, which SQLite returns as they are.
struct JournalSettingTests {
    private let folder = ScratchFolder()

    /// Changes the closed file by a statement, and opens it as its owner does.
    private func reopen(after statement: String) throws -> (Journal, [StorageError.Kind]) {
        let journal = try Journal(in: folder)
        try journal.write { try $0.execute(sql: statement) }
        try journal.close()
        var reports: [StorageError.Kind] = []
        let file = try LockedJournalFile(at: folder.file, limits: JournalLimits(), durability: .normal)
        return (try file.open(time: .seconds(0)) { error, _ in reports.append(error.kind) }, reports)
    }

    @Test(arguments: ["SET value = '0'", "SET name = 'optedOuu'", "SET checksum = 0"])
    func damagedDecisionCountsAsAnOptOut(_ change: String) throws {
        let journal = try Journal(in: folder)
        try journal.append(["a"])
        try journal.setOptedOut(true)
        try journal.close()
        let (reopened, reports) = try reopen(after: "UPDATE setting \(change) WHERE name = 'optedOut'")
        #expect(try reopened.isOptedOut() && reports == [.corrupted])
    }

    @Test func accountMayBeginWithACombiningMark() throws {
        let journal = try Journal(in: folder)
        try journal.noteAccounts(["\u{301}ada"])
        #expect(try journal.accounts() == ["\u{301}ada"])
    }

    @Test func missingDecisionCountsAsAnOptOut() async throws {
        let (journal, reports) = try reopen(after: "DELETE FROM setting WHERE name = 'optedOut'")
        #expect(reports.isEmpty)
        try journal.close()
        let store = JournalQueue(at: folder.file, limits: JournalLimits(), durability: .normal, sealing: nil) {
            .seconds(0)
        }
        let isOptedOut = try await store.read { journal throws(StorageError) in try journal.isOptedOut() }
        #expect(isOptedOut && store.filesSetAside.count == 1)
        await store.close()
    }

    @Test func entriesShowThatNobodyOptedOut() throws {
        let journal = try Journal(in: folder)
        try journal.append(["a"])
        try journal.close()
        let (reopened, reports) = try reopen(after: "UPDATE setting SET checksum = 0")
        #expect(try !reopened.isOptedOut() && reports == [.corrupted])
        #expect(try reopened.claim()?.texts == ["a"])
    }

    @Test(arguments: [true, false]) func newerFilesDecisionHolds(_ isOptedOut: Bool) throws {
        let journal = try Journal(in: folder)
        try journal.setOptedOut(isOptedOut)
        try journal.close()
        let (reopened, reports) = try reopen(after: "PRAGMA user_version = 99")
        #expect(try reopened.isOptedOut() == isOptedOut && reports == [.newerSchema])
    }

    @Test func damagedErasureErasesNoOtherAccount() throws {
        let journal = try Journal(in: folder)
        try journal.setErasurePending("ada", true)
        try journal.setErasurePending("bob", true)
        try journal.close()
        let (reopened, reports) = try reopen(
            after: "UPDATE setting SET name = 'erase eve' WHERE name = 'erase ada'")
        #expect(try reopened.erasures().pending == 1 && reports == [.corrupted])
        #expect(try reopened.pendingErasure(of: "bob") == 0 && reopened.pendingErasure(of: "eve") == nil)
        #expect(try !reopened.isOptedOut())
    }

    @Test func damagedClocksMakeNoEntryOlder() async throws {
        let journal = try Journal(in: folder)
        try journal.append(["a"], at: 50)
        try journal.write { try $0.execute(sql: "UPDATE file SET moment = 4000000") }
        try journal.close()
        let store = JournalQueue(
            at: folder.file, limits: JournalLimits(maximumAge: .seconds(100)), durability: .normal, sealing: nil
        ) { .seconds(60) }
        let (texts, lost) = try await store.run { journal throws(StorageError) in
            try journal.append(["b"], at: 60)
            return (try journal.drain().map(\.text), try journal.counts().lost)
        }
        #expect(texts == ["a", "b"] && lost == [:] && store.filesSetAside.count == 1)
        await store.close()
    }

    @Test func damagedMomentIsFound() throws {
        let journal = try Journal(in: folder)
        try journal.append(["a", "b"], at: 50)
        try journal.write { try $0.execute(sql: "UPDATE entry SET moment = 7 WHERE sequence = 1") }
        #expect(try journal.claim()?.texts == ["b"])
        #expect(try journal.counts().lost == [.damaged: 1])
    }

    @Test(arguments: [true, false]) func decisionOfTheThirdVersionIsMigrated(_ isOptedOut: Bool) throws {
        let journal = try Journal(in: folder)
        try journal.setErasurePending("ada", true)
        try journal.setOptedOut(isOptedOut)
        try journal.write { database in
            // What the third version had: no row said that the user had not opted out.
            try database.execute(
                sql: """
                    DELETE FROM setting WHERE name = 'optedOut' AND value = '0';
                    ALTER TABLE setting DROP COLUMN checksum; PRAGMA user_version = 3
                    """)
            try database.execute(
                sql: "UPDATE file SET checksum = ?", arguments: [RowChecksum.of(journal.installation, 0, "")])
        }
        try journal.close()
        let migrated = try Journal(in: folder)
        #expect(try migrated.isOptedOut() == isOptedOut && migrated.erasures().pending == 1)
        #expect(migrated.installation == migrated.secret.installation && migrated.secret != journal.secret)
    }
}
