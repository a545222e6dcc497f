import AppleFoundation
import Darwin
import RunwayStorage
import Security
import Testing

@testable import RunwayTables

/// Secrets and files of records, as far as they are the system's. Beside the other tests of its keychain, since there
/// is only one keychain.
extension SystemTests {
    @Test(arguments: [nil, "group"], [(true, false), (false, false), (true, true), (false, true)])
    func storedSecretIsInTheKeychain(
        _ group: String?, _ choice: (isReadableWhileLocked: Bool, isSynchronized: Bool)
    ) async throws {
        func secret(_ group: String?, isSynchronized: Bool) -> Stored<Secret<String>> {
            Stored(
                "token",
                in: .keychain(
                    accessGroup: group, isReadableWhileLocked: choice.isReadableWhileLocked,
                    isSynchronized: isSynchronized))
        }
        let stored = secret(group, isSynchronized: choice.isSynchronized)
        #expect(try await stored.value() == nil)
        for text in ["first", "second"] {
            try await stored.set(Secret(text))
            #expect(try await stored.value()?.value == text)
        }
        #expect(try await secret("another", isSynchronized: choice.isSynchronized).value() == nil)
        #expect(try await secret(group, isSynchronized: !choice.isSynchronized).value() == nil)
        let accessibility =
            switch choice {
            case (true, false): kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
            case (false, false): kSecAttrAccessibleWhenUnlockedThisDeviceOnly
            case (true, true): kSecAttrAccessibleAfterFirstUnlock
            case (false, true): kSecAttrAccessibleWhenUnlocked
            }
        #expect(FakeKeychain.accessibilities == [accessibility as String])
        FakeKeychain.damage()
        #expect(await kind { _ = try await stored.value() } == .corrupted)
        for _ in 1...2 { try await stored.remove() }
        #expect(FakeKeychain.accessibilities.isEmpty)
    }

    @Test(arguments: [
        (errSecInteractionNotAllowed, TableError.Kind.keyUnavailable, "while the device is locked"),
        (errSecMissingEntitlement, .unavailable, "Keychain Sharing"), (-50, .unavailable, "error -50"),
    ])
    func refusedSecretSaysWhy(_ status: OSStatus, _ expected: TableError.Kind, _ text: String) async throws {
        let stored = Stored<Secret<String>>("token", in: .keychain())
        FakeKeychain.refuse(status)
        defer { FakeKeychain.refuse(nil) }
        let errors = [
            await #expect(throws: TableError.self) { try await stored.value() },
            await #expect(throws: TableError.self) { try await stored.set(Secret("x")) },
            await #expect(throws: TableError.self) { try await stored.remove() },
        ]
        for error in errors { #expect(error?.kind == expected && error?.description.contains(text) == true) }
    }

    @Test(arguments: [false, true]) func recordsAreBackedUpByChoice(isBackedUp: Bool) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("runway-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("records.sqlite")
        var options = RecordStore.Options()
        options.isBackedUp = isBackedUp
        let store = try await RecordStore.open(at: file, tables: [StoredValues.self], options: options)
        for url in [folder, file] { #expect(FakeBackup.isExcluded(url.path) == !isBackedUp) }
        try await store.close()
    }

    @Test func sealedAccountIsOnTheDrive() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("runway-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let accounts = AccountFiles(in: folder)
        let store = try await accounts.open("ada", tables: [StoredValues.self])
        try await accounts.seal("ada", with: OpenSealing(), closing: store)
        #expect(FakeDrive.hasFlushed(store.url.path + ".sealed"))
        #expect(FakeDrive.hasFlushed(store.url.deletingLastPathComponent().path))
    }

    private func kind(_ operation: () async throws -> Void) async -> TableError.Kind? {
        do { try await operation() } catch { return (error as? TableError)?.kind }
        return nil
    }
}

/// Seals nothing.
private struct OpenSealing: PayloadSealing {
    func seal(_ bytes: [UInt8], for context: [UInt8]) throws -> [UInt8] { bytes }
    func open(_ sealed: [UInt8], for context: [UInt8]) throws -> [UInt8] { sealed }
}
