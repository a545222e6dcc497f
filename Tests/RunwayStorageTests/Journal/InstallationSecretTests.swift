import Foundation
import GRDB
import Testing

@testable import RunwayStorage

/// The secret from which the id of a file is computed.
struct InstallationSecretTests {
    private let folder = ScratchFolder()

    @Test func installationIsComputedFromTheSecret() throws {
        // SHA-256 of 32 zeros begins with 66687aad f862bd77 6c8fc18b 8e9f8e20.
        let secret = try #require(InstallationSecret(Data(count: 32).base64EncodedString()))
        #expect(secret.installation.text == "66687aad-f862-8d77-ac8f-c18b8e9f8e20")
        #expect(InstallationSecret(secret.text) == secret && InstallationSecret() != InstallationSecret())
        for text in ["", "secret", Data(count: 31).base64EncodedString(), Data(count: 33).base64EncodedString()] {
            #expect(InstallationSecret(text) == nil, "\(text)")
        }
    }

    @Test func secretSurvivesReopening() throws {
        let journal = try Journal(in: folder)
        try journal.close()
        let reopened = try Journal(in: folder)
        #expect(reopened.secret == journal.secret && reopened.installation == journal.secret.installation)
    }

    @Test func fileOfTheFourthVersionBeginsAnotherInstallation() throws {
        let journal = try Journal(in: folder)
        try journal.append(["a", "b"])
        let outstanding = try #require(try journal.claim(upTo: 1))
        try journal.append(["c"], scope: "ada")
        let over = try #require(try journal.claim("ada"))
        try journal.acknowledge(over, over.ids)
        try journal.write {
            try $0.execute(sql: "DELETE FROM setting WHERE name = 'secret'; PRAGMA user_version = 4")
        }
        try journal.close()

        let migrated = try Journal(in: folder)
        #expect(migrated.installation == migrated.secret.installation && migrated.secret != journal.secret)
        #expect(try migrated.setting("secret") == migrated.secret.text)
        // A batch that the server may have stays the same; other numbering begins anew.
        #expect(try migrated.claim(upTo: 1) == outstanding)
        try migrated.append(["d"], scope: "ada")
        let next = try #require(try migrated.claim("ada"))
        #expect(next.number == 1 && next.stream != over.stream)
        // The opt-out that follows is about the records of nobody that wait.
        #expect(try migrated.accounts() == [""])
    }

    @Test(arguments: [
        "DELETE FROM setting WHERE name = 'secret'", "UPDATE setting SET value = 'x' WHERE name = 'secret'",
        "UPDATE file SET installation = zeroblob(16)",
    ])
    func damagedSecretBeginsAnotherInstallation(_ damage: String) throws {
        let journal = try Journal(in: folder)
        try journal.append(["a"])
        try journal.setErasurePending("", true)
        try journal.setErasurePending("ada", true)
        try journal.write { try $0.execute(sql: damage) }
        try journal.close()
        var reports: [StorageError.Kind] = []
        let file = try LockedJournalFile(at: folder.file, limits: JournalLimits(), durability: .normal)
        let begun = try file.open(time: .seconds(0)) { error, _ in reports.append(error.kind) }
        #expect(reports == [.corrupted] && begun.secret != journal.secret)
        #expect(begun.installation == begun.secret.installation)
        #expect(try begun.claim()?.texts == ["a"])
        // The new secret would erase nothing of the former installation.
        #expect(try begun.pendingErasure(of: "") == nil && begun.pendingErasure(of: "ada") == 0)
    }
}
