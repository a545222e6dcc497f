import Foundation
import Testing

@testable import Runway

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

struct FileTokenStoreTests {
    private let root = NSTemporaryDirectory() + "runway-tokens-\(UUID().uuidString)"
    private var store: FileTokenStore { FileTokenStore(folder: URL(filePath: root + "/a/tokens")) }
    private let key = TokenKey(network: "default", service: "club", environment: "release", account: "ann@x.test")
    private let token = AccessToken(
        "t1", account: "ann@x.test", expiry: Date(timeIntervalSince1970: 1_767_225_600.125), refreshToken: "r1")

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    private func expectUntrusted(_ reason: String, sourceLocation: SourceLocation = #_sourceLocation) {
        let error = #expect(throws: NetworkError.self, sourceLocation: sourceLocation) { try store.load(key) }
        #expect(error?.description.contains(reason) == true, "\(error as Any)", sourceLocation: sourceLocation)
        #expect(error.map { "\($0)".contains("t1\"") } == false, sourceLocation: sourceLocation)
    }

    @Test func aTokenIsLoadedAsSavedUntilRemoved() throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        #expect(try store.load(key) == nil)
        try store.remove(key)
        try store.save(token, at: key)
        #expect(try FileTokenStore(folder: store.folder).load(key) == token)
        var newer = token
        newer.value = "t2"
        try store.save(newer, at: key)
        #expect(try store.load(key) == newer)
        try store.remove(key)
        #expect(try store.load(key) == nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: store.folder.path).isEmpty)
    }

    @Test func onlyTheUserCanReadFilesAndFolders() throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        let long = TokenKey(
            network: "n", service: String(repeating: "s", count: 700), environment: "e", account: "a")
        for key in [key, long] {
            try store.save(token, at: key)
            #expect(try mode(store.path(of: key)) == 0o600)
            #expect(try mode((store.path(of: key) as NSString).deletingLastPathComponent) == 0o700)
        }
        #expect(try mode(store.folder.path) == 0o700)
    }

    @Test func everyKeyHasAFileOfItsOwn() throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        let names = [
            "", ".", "..", "a/b", "a\\b", "a+b", "a", "A", "_41", "%41", "é", "e\u{301}", "上海", "a\u{0}b", "-rf", "~",
            "a b",
            String(repeating: "x", count: 199), String(repeating: "/", count: 400), "a.token",
        ]
        var keys: [TokenKey] = []
        for name in names {
            keys.append(TokenKey(network: "n", service: name, environment: "e", account: "a"))
            keys.append(TokenKey(network: "n", service: "s", environment: "e", account: name))
        }
        keys.append(TokenKey(network: "n", service: "a+b", environment: "e", account: "c"))
        keys.append(TokenKey(network: "n", service: "a", environment: "b+e", account: "c"))
        for (index, key) in keys.enumerated() {
            try store.save(AccessToken("token \(index)", account: key.account), at: key)
        }
        for (index, key) in keys.enumerated() {
            #expect(try store.load(key)?.value == "token \(index)", "\(key)")
        }
        let paths = keys.map { store.path(of: $0) }
        #expect(Set(paths.map { $0.lowercased() }).count == keys.count)
        #expect(paths.allSatisfy { $0.hasPrefix(store.folder.path + "/") && !$0.contains("/../") })
        #expect(paths.allSatisfy { $0.split(separator: "/").allSatisfy { $0.utf8.count <= 204 } })
    }

    @Test func fileCutOffAnywhereIsNotTrusted() throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        try store.save(token, at: key)
        let path = store.path(of: key)
        let whole = try #require(FileManager.default.contents(atPath: path))
        for count in 0..<whole.count {
            try whole.prefix(count).write(to: URL(fileURLWithPath: path))
            expectUntrusted("truncated or damaged")
        }
    }

    @Test func fileWithOneByteChangedIsNotTrusted() throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        try store.save(token, at: key)
        let path = store.path(of: key)
        let whole = try #require(FileManager.default.contents(atPath: path))
        for index in whole.indices {
            var damaged = whole
            damaged[index] ^= 0x04
            try damaged.write(to: URL(fileURLWithPath: path))
            expectUntrusted("truncated or damaged")
        }
        try store.save(token, at: key)
        #expect(try store.load(key) == token, "a new token replaces a damaged one")
    }

    @Test func tokenOfAnotherKeyIsNotTrusted() throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        var other = key
        other.account = "eve"
        try store.save(token, at: other)
        try FileManager.default.moveItem(atPath: store.path(of: other), toPath: store.path(of: key))
        expectUntrusted("belongs to another key")
    }

    @Test(arguments: [0o644, 0o640, 0o606, 0o660]) func fileOpenToOthersIsNotTrusted(mode: Int) throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        try store.save(token, at: key)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: store.path(of: key))
        expectUntrusted("is open to others, mode \(String(mode, radix: 8))")
        try store.save(token, at: key)
        #expect(try self.mode(store.path(of: key)) == 0o600)
        #expect(try store.load(key) == token)
    }

    @Test func folderOpenToOthersIsNotTrusted() throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        try store.save(token, at: key)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: store.folder.path)
        expectUntrusted("is open to others, mode 755")
        #expect(throws: NetworkError.self) { try store.save(token, at: key) }
    }

    @Test func onlyPlainFilesAreTrusted() throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        try store.save(token, at: key)
        let path = store.path(of: key)
        try FileManager.default.moveItem(atPath: path, toPath: root + "/elsewhere")
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: root + "/elsewhere")
        #expect(throws: NetworkError.self) { try store.load(key) }
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        #expect(throws: NetworkError.self) { try store.load(key) }
    }

    @Test func crashDraftsDoNotBlockASave() throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        try store.save(token, at: key)
        let draft = store.path(of: key) + ".new"
        #expect(FileManager.default.createFile(atPath: draft, contents: Data([1, 2])))
        #expect(try store.load(key) == token)
        try store.save(token, at: key)
        #expect(!FileManager.default.fileExists(atPath: draft))
        #expect(FileManager.default.createFile(atPath: draft + "7", contents: Data([1, 2])))
        try store.remove(key)
        #expect(try FileManager.default.contentsOfDirectory(atPath: store.folder.path).isEmpty)
    }

    @Test func concurrentSavesLeaveOneFile() async throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        let tokens = (1...50).map { AccessToken("t\($0)", account: key.account) }
        try await withThrowingTaskGroup(of: Void.self) { [store, key] group in
            for token in tokens { group.addTask { try store.save(token, at: key) } }
            try await group.waitForAll()
        }
        let stored = try #require(try store.load(key))
        #expect(tokens.contains(stored))
        #expect(try FileManager.default.contentsOfDirectory(atPath: store.folder.path).count == 1)
    }

    @Test func anotherSavesDraftStaysUntilAbandoned() throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        try store.save(token, at: key)
        let draft = store.path(of: key) + ".new"
        #expect(FileManager.default.createFile(atPath: draft, contents: Data([1, 2])))
        let other = try #require(FileHandle(forWritingAtPath: draft))
        let isHeld = flock(other.fileDescriptor, LOCK_EX) == 0
        #expect(isHeld)
        var newer = token
        newer.value = "t2"
        try store.save(newer, at: key)
        #expect(try store.load(key) == newer)
        #expect(FileManager.default.contents(atPath: draft) == Data([1, 2]))
        // A process that another test starts may hold the file open a little longer.
        let isReleased = flock(other.fileDescriptor, LOCK_UN) == 0
        #expect(isReleased)
        try other.close()
        try store.save(token, at: key)
        #expect(try FileManager.default.contentsOfDirectory(atPath: store.folder.path).count == 1)
    }

    @Test func aSaveThatFailsLeavesNoDraft() throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        try store.save(token, at: key)
        try store.remove(key)
        try FileManager.default.createDirectory(
            atPath: store.path(of: key) + "/in the way", withIntermediateDirectories: true)
        #expect(throws: NetworkError.self) { try store.save(token, at: key) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: store.folder.path).count == 1)
    }

    @Test func uncreatableFolderIsAClearError() throws {
        let error = #expect(throws: NetworkError.self) {
            try FileTokenStore(folder: URL(filePath: "/dev/null/tokens")).save(token, at: key)
        }
        #expect(error?.description.contains("/dev/null/tokens") == true)
    }

    @Test func fileTooLargeForATokenIsIgnored() throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        try store.save(token, at: key)
        let path = store.path(of: key)
        try Data(repeating: 32, count: FileTokenStore.maximumByteCount + 1).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        expectUntrusted("too large")
    }
}
