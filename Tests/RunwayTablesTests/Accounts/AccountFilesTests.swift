import Crypto
import Foundation
import GRDB
import RunwayStorage
import RunwayTesting
import Synchronization
import Testing

@testable import RunwayTables

/// A sealing that does something before each piece.
private struct NotedSealing: PayloadSealing {
    var base = KeyedSealing()
    var before: @Sendable () throws -> Void = {}

    func seal(_ bytes: [UInt8], for context: [UInt8]) throws -> [UInt8] {
        try before()
        return try base.seal(bytes, for: context)
    }

    func open(_ sealed: [UInt8], for context: [UInt8]) throws -> [UInt8] {
        try before()
        return try base.open(sealed, for: context)
    }
}

struct AccountFilesTests {
    private let folder = ScratchFolder()
    private let sealing = KeyedSealing()
    private var accounts: AccountFiles { AccountFiles(in: folder.url) }

    private func open(
        _ account: String, sealing: (any PayloadSealing)? = nil, former: [any PayloadSealing] = []
    ) async throws -> RecordStore {
        var options = RecordStore.Options()
        options.sealing = sealing
        options.formerSealings = former
        return try await accounts.open(account, tables: [Tasks.self, Lists.self], options: options)
    }

    /// The paths of all files, below the folder of all accounts.
    private func files() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.url.path).sorted().filter { path in
            var isFolder: ObjCBool = false
            let exists = FileManager.default.fileExists(
                atPath: folder.url.appending(path: path).path, isDirectory: &isFolder)
            return exists && !isFolder.boolValue
        }
    }

    private func contains(_ text: String) throws -> Bool {
        try files().contains { path in
            try Data(contentsOf: folder.url.appending(path: path)).firstRange(of: Data(text.utf8)) != nil
        }
    }

    /// Has rows, a staging that was interrupted, and a large file in a folder beside the database.
    private func fill(_ account: String) async throws -> RecordStore {
        let store = try await open(account)
        try await store.write { _ = try $0.insert(task("the diary of \(account)")) }
        let rows = (1...1000).map { list($0, "the lists of \(account)") }
        let staging = Task { try await store.stage(rows) { _, _ in withUnsafeCurrentTask { $0?.cancel() } } }
        await #expect(throws: CancellationError.self) { try await staging.value }
        let pictures = store.url.deletingLastPathComponent().appending(path: "records.sqlite-files")
        try FileManager.default.createDirectory(at: pictures, withIntermediateDirectories: true)
        let phrase = Data("the picture of \(account)".utf8)
        try Data((0..<160_000).flatMap { _ in phrase }).write(to: pictures.appending(path: "picture"))
        try Data().write(to: pictures.appending(path: "empty"))
        return store
    }

    private func expectAll(of account: String, in store: RecordStore) async throws {
        try await store.finishStaging()
        let (tasks, lists) = try await store.read { (try $0.count(Tasks.self), try $0.count(Lists.self)) }
        #expect(tasks == 1 && lists == 1000)
        let pictures = store.url.deletingLastPathComponent().appending(path: "records.sqlite-files")
        let picture = try Data(contentsOf: pictures.appending(path: "picture"))
        #expect(picture == Data((0..<160_000).flatMap { _ in Data("the picture of \(account)".utf8) }))
        #expect(try Data(contentsOf: pictures.appending(path: "empty")).isEmpty)
    }

    @Test func noIdBecomesAPath() {
        let ids = [
            "", ".", "..", "../../etc/passwd", "/", "a/b", "a", "A", "a\0", "ada@example.org",
            "\u{1F469}\u{200D}\u{1F680}",
            String(repeating: "x", count: 5000), "con", "a ", " a", "%2e%2e",
        ]
        let urls = ids.map { accounts.url(of: $0) }
        #expect(Set(urls).count == ids.count)
        for url in urls {
            let parts = url.pathComponents.suffix(2)
            #expect(parts.last == "records.sqlite" && parts.first?.wholeMatch(of: /[0-9a-f]{64}/) != nil)
            #expect(url.deletingLastPathComponent().deletingLastPathComponent().path == folder.url.path)
        }
        // The two are equal as strings.
        #expect(accounts.url(of: "\u{E9}") == accounts.url(of: "e\u{301}"))
    }

    @Test func eachAccountHasItsFile() async throws {
        let (ada, bob) = (try await open("ada"), try await open("bob"))
        try await ada.write { _ = try $0.insert(task("ada's")) }
        #expect(try await bob.read { try $0.count(Tasks.self) } == 0)
        try await ada.close()
        #expect(try await open("ada").read { try $0.count(Tasks.self) } == 1)
    }

    @Test func aRemovedAccountLeavesNothing() async throws {
        let (ada, bob) = (try await fill("ada"), try await fill("bob"))
        try await accounts.remove("ada", closing: ada)
        #expect(try !contains("of ada"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).count == 1)
        #expect(await kind { try await ada.write { _ = try $0.insert(task("late")) } } == .unavailable)
        try await expectAll(of: "bob", in: bob)
        #expect(try await open("ada").read { try $0.count(Tasks.self) } == 0)
        // One without files is removed, too, and so are the rests of a removal that was killed.
        let rest = folder.url.appending(path: "removed-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: rest, withIntermediateDirectories: true)
        try await accounts.remove("nobody")
        #expect(!FileManager.default.fileExists(atPath: rest.path))
    }

    @Test func aDamagedAccountIsRemovedAndSealed() async throws {
        for isSealed in [false, true] {
            let store = try await fill("ada")
            try await store.close()
            try Data("the diary of ada".utf8).write(to: store.url)
            if isSealed { try await accounts.seal("ada", with: sealing) } else { try await accounts.remove("ada") }
            #expect(try !contains("of ada"))
        }
    }

    @Test func aSealedAccountShowsNothing() async throws {
        let (ada, bob) = (try await fill("ada"), try await fill("bob"))
        try await accounts.seal("ada", with: sealing, closing: ada)
        #expect(try !contains("of ada") && contains("of bob"))
        let home = ada.url.deletingLastPathComponent().lastPathComponent
        let sealed = try files().filter { $0.hasPrefix(home) }
        #expect(sealed.count == 4 && sealed.allSatisfy { $0.hasSuffix(".sealed") })
        for path in sealed {
            let mode = try FileManager.default.attributesOfItem(atPath: folder.url.appending(path: path).path)
            #expect(mode[.posixPermissions] as? Int == 0o600)
        }
        // Neither another key nor an opening without one leads to a new file in its place.
        for key in [nil, KeyedSealing()] {
            #expect(await kind { _ = try await open("ada", sealing: key) } == .keyUnavailable)
        }
        #expect(
            await kind { _ = try await RecordStore.open(at: ada.url, tables: [Tasks.self, Lists.self]) }
                == .keyUnavailable)
        #expect(try files().filter { $0.hasPrefix(home) } == sealed)
        // A sealed account stays as it is when it is sealed again.
        try await accounts.seal("ada", with: sealing)
        try await expectAll(of: "ada", in: try await open("ada", sealing: KeyedSealing(), former: [sealing]))
        #expect(try !files().contains { $0.hasSuffix(".sealed") })
        try await expectAll(of: "bob", in: bob)
    }

    @Test func aSealedFileCanNotBeChanged() async throws {
        let (ada, bob) = (try await fill("ada"), try await fill("bob"))
        try await accounts.seal("ada", with: sealing, closing: ada)
        try await accounts.seal("bob", with: sealing, closing: bob)
        func sealed(_ store: RecordStore, _ name: String) -> URL {
            store.url.deletingLastPathComponent().appending(path: name)
        }
        let picture = sealed(ada, "records.sqlite-files/picture.sealed")
        let whole = try Data(contentsOf: picture)
        let pieceByteCount = whole.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) } + 4
        #expect(whole.count > pieceByteCount * 2)
        var (flipped, long) = (whole, whole)
        flipped[whole.count / 2] ^= 1
        long[3] = 0xFF
        let others = [
            Data(), whole.prefix(3), whole.prefix(pieceByteCount), whole.prefix(pieceByteCount * 2),
            whole.dropFirst(pieceByteCount), whole + whole.prefix(pieceByteCount), flipped, long,
            whole[pieceByteCount..<pieceByteCount * 2] + whole.prefix(pieceByteCount)
                + whole.dropFirst(pieceByteCount * 2),
            try Data(contentsOf: sealed(bob, "records.sqlite-files/picture.sealed")),
            try Data(contentsOf: sealed(ada, "records.sqlite-files/empty.sealed")),
        ]
        for (number, other) in others.enumerated() {
            try other.write(to: picture)
            #expect(await kind { _ = try await open("ada", sealing: sealing) } == .keyUnavailable, "\(number)")
            #expect(try Data(contentsOf: picture) == other)
        }
        try whole.write(to: picture)
        try await expectAll(of: "ada", in: try await open("ada", sealing: sealing))
    }

    @Test func anOpenFileIsNeitherRemovedNorSealed() async throws {
        let (store, other) = (try await fill("ada"), try await open("ada"))
        #expect(await kind { try await accounts.seal("ada", with: sealing, closing: store) } == .locked)
        #expect(await kind { try await accounts.remove("ada") } == .locked)
        try await expectAll(of: "ada", in: other)
        try await accounts.remove("ada", closing: other)
        #expect(try files().isEmpty)
    }

    @Test func aSealingExcludesOpening() async throws {
        // It blocks a thread of all tasks.
        try await oneAtATime {
            try await fill("ada").close()
            let (isSealing, isOpened) = (AwaitedValue(0), DispatchSemaphore(value: 0))
            let noted = NotedSealing(base: sealing) {
                if isSealing.value > 0 { return }
                isSealing.update { $0 = 1 }
                isOpened.wait()
            }
            let task = Task { [accounts] in try await accounts.seal("ada", with: noted) }
            try await isSealing.wait(until: 1)
            #expect(await kind { _ = try await open("ada", sealing: sealing) } == .locked)
            isOpened.signal()
            try await task.value
            try await expectAll(of: "ada", in: try await open("ada", sealing: sealing))
        }
    }

    @Test @MainActor func anObservedStoreIsClosed() async throws {
        let store = try await open("ada")
        let observed = store.observe { try $0.count(Tasks.self) }
        for try await count in observed {
            #expect(count == 0)
            break
        }
        try await accounts.remove("ada", closing: store)
        // The account is there again, and the former observation does nothing to its files.
        let again = try await open("ada")
        try await again.write { _ = try $0.insert(task("new")) }
        observed.cancel()
        try await again.write { _ = try $0.insert(task("newer")) }
        // The files as a kill would leave them: a connection that is closed late removes the log at its path.
        let copy = ScratchFolder()
        try FileManager.default.copyItem(at: again.url.deletingLastPathComponent(), to: copy.url)
        let found = try await copy.open([Tasks.self])
        #expect(try await found.read { try $0.count(Tasks.self) } == 2)
        #expect(observed.value == 0)
    }

    @Test func anInterruptedSealingContinues() async throws {
        let store = try await fill("ada")
        let pieces = Mutex(0)
        let cancelling = NotedSealing(base: sealing) {
            if pieces.withLock({
                $0 += 1; return $0
            }) == 3 {
                throw CancellationError()
            }
        }
        // A key that can't be read in the middle.
        #expect(await kind { try await accounts.seal("ada", with: cancelling, closing: store) } == .keyUnavailable)
        let task = Task { [accounts, sealing] in
            withUnsafeCurrentTask { $0?.cancel() }
            try await accounts.seal("ada", with: sealing)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try contains("of ada") && !files().contains { $0.hasSuffix(".partial") })
        try await accounts.seal("ada", with: sealing)
        #expect(try !contains("of ada"))
        try await expectAll(of: "ada", in: try await open("ada", sealing: sealing))
    }

    #if os(Linux) || os(macOS)
        @Test(arguments: 1...6) func aKillAmongPiecesLosesNothing(_ place: Int) async throws {
            let store = try await fill("ada")
            try await store.close()
            let key = sealing.key.withUnsafeBytes { Data($0).base64EncodedString() }
            for isOpening in [false, true] {
                await #expect(processExitsWith: .signal(SIGKILL)) {
                    [
                        path = folder.url.path as String, key = key as String, place = place as Int,
                        isOpening = isOpening as Bool
                    ] in
                    let pieces = Mutex(0)
                    let base = KeyedSealing(key: SymmetricKey(data: Data(base64Encoded: key) ?? Data()))
                    let sealing = NotedSealing(base: base) {
                        if pieces.withLock({
                            $0 += 1; return $0
                        }) == place {
                            kill(getpid(), SIGKILL)
                        }
                    }
                    let accounts = AccountFiles(in: URL(fileURLWithPath: path))
                    if isOpening {
                        var options = RecordStore.Options()
                        options.sealing = sealing
                        _ = try await accounts.open("ada", tables: [Tasks.self, Lists.self], options: options)
                    } else {
                        try await accounts.seal("ada", with: sealing)
                    }
                }
                // The one goes on from where the other was killed.
                try await accounts.seal("ada", with: sealing)
                #expect(try files().allSatisfy { $0.hasSuffix(".sealed") } && !contains("of ada"))
            }
            try await expectAll(of: "ada", in: try await open("ada", sealing: sealing))
        }
    #endif
}
