import Foundation
import RunwayTesting
import Testing

@testable import RunwayTables

struct StoredTests {
    private let folder = ScratchFolder()
    private let preferences = ScratchPreferences()
    private static let texts = [
        "", "$null", "a\0b", "\u{FEFF}", "\u{FFFF}\u{1}", "'; DROP TABLE stored_value; --", "e\u{301}", " \r\n",
        "<&]]>",
    ]

    private func places<Value: Codable>(_ type: Value.Type) async throws -> [StoredPlace<Value>] {
        [
            .preferences(suite: preferences.suite), .propertyList(in: folder.url.appending(path: "lists")),
            .archive(in: folder.url.appending(path: "archives")), .database(try await folder.open([StoredValues.self])),
        ]
    }

    private func names(in folder: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    private func mode(_ url: URL) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
    }

    @Test func everyPlaceReturnsItsValue() async throws {
        for place in try await places(Settings.self) {
            let stored = Stored("settings", in: place)
            #expect(try await stored.value() == nil)
            for theme in ["light", "dark"] {
                let settings = Settings(theme: theme, seen: Date(timeIntervalSinceReferenceDate: 0.1))
                try await stored.set(settings)
                #expect(try await Stored("settings", in: place).value() == settings)
                #expect(try await Stored("other", in: place).value() == nil)
            }
            try await stored.remove()
            try await stored.remove()
            #expect(try await Stored("settings", in: place).value() == nil)
        }
        #expect(try names(in: folder.url.appending(path: "lists")).isEmpty)
    }

    @Test func hostileValuesAreEqualOrRefused() async throws {
        for place in try await places(String.self) {
            for text in Self.texts {
                let refusal = await kind { try await Stored("text", in: place).set(text) }
                let isEqual = try await Stored("text", in: place).value().map { Array($0.utf8) } == Array(text.utf8)
                #expect(
                    text == "$null" ? refusal == .rejected : refusal == nil && isEqual, "\(text.debugDescription)")
            }
        }
        for place in try await places(Double.self) {
            for number in [.infinity, -0.0, .greatestFiniteMagnitude, .leastNonzeroMagnitude] as [Double] {
                try await Stored("number", in: place).set(number)
                #expect(try await Stored("number", in: place).value() == number)
            }
        }
    }

    #if os(Linux) || os(macOS)
        @Test func anotherProcessReadsThePreferences() async throws {
            let (suite, date) = (preferences.suite, Date(timeIntervalSinceReferenceDate: 0.1))
            for (index, text) in Self.texts.enumerated() where text != "$null" {
                try await Stored<[String]>("\(index)", in: .preferences(suite: suite)).set([text])
            }
            try await Stored<Date>("date", in: .preferences(suite: suite)).set(date)
            try await Stored<Data>("data", in: .preferences(suite: suite)).set(Data("RP\u{1}".utf8))
            await #expect(processExitsWith: .success) { [suite = suite as String] in
                for (index, text) in StoredTests.texts.enumerated() where text != "$null" {
                    let stored = Stored<[String]>("\(index)", in: .preferences(suite: suite))
                    let read = try await stored.value() ?? []
                    #expect(read.map { Array($0.utf8) } == [Array(text.utf8)])
                }
                let date = try await Stored<Date>("date", in: .preferences(suite: suite)).value()
                let data = try await Stored<Data>("data", in: .preferences(suite: suite)).value()
                #expect(date == Date(timeIntervalSinceReferenceDate: 0.1) && data == Data("RP\u{1}".utf8))
            }
        }
    #endif

    @Test func preferencesHaveTheirOwnForms() async throws {
        let defaults = try #require(UserDefaults(suiteName: preferences.suite))
        let place = StoredPlace<Bool>.preferences(suite: preferences.suite)
        try await Stored("isLarge", in: place).set(true)
        #expect(defaults.object(forKey: "isLarge") as? Bool == true)
        defaults.set("dark", forKey: "theme")
        defaults.set(["a", "b"], forKey: "tabs")
        let suite = preferences.suite
        #expect(try await Stored<String>("theme", in: .preferences(suite: suite)).value() == "dark")
        #expect(try await Stored<[String]>("tabs", in: .preferences(suite: suite)).value() == ["a", "b"])
        // A value of another type is an error and no default, and stays.
        #expect(await kind { _ = try await Stored<Bool>("theme", in: place).value() } == .corrupted)
        #expect(defaults.string(forKey: "theme") == "dark")
    }

    @Test func bytesAreTheFile() async throws {
        let stored = Stored<Data>("picture.png", in: .bytes(in: folder.url))
        let bytes = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 * 7) })
        try await stored.set(bytes)
        #expect(try Data(contentsOf: folder.url.appending(path: "picture.png")) == bytes)
        #expect(try await stored.value() == bytes)
    }

    @Test func filesArePrivateAndReplacedWhole() async throws {
        let stored = Stored<Settings>("settings", in: .archive(in: folder.url))
        try await stored.set(Settings())
        let file = folder.url.appending(path: "settings")
        #expect(try mode(folder.url) == 0o700 && mode(file) == 0o600)
        let number = try FileManager.default.attributesOfItem(atPath: file.path)[.systemFileNumber] as? Int
        try await stored.set(Settings(theme: "light"))
        #expect(try FileManager.default.attributesOfItem(atPath: file.path)[.systemFileNumber] as? Int != number)
        #expect(try names(in: folder.url) == ["settings"])
    }

    @Test func aRemovalTakesDraftsAlong() async throws {
        let stored = Stored<Settings>("settings", in: .propertyList(in: folder.url))
        try await stored.set(Settings())
        // A kill has left them.
        for name in ["settings.new", "settings.new1"] { try Data().write(to: folder.url.appending(path: name)) }
        try await stored.remove()
        #expect(try names(in: folder.url).isEmpty)
    }

    @Test func archivesAreSmaller() async throws {
        let long = Array(repeating: "a sentence that comes again", count: 10_000)
        try await Stored<[String]>("long", in: .archive(in: folder.url)).set(long)
        #expect(try Data(contentsOf: folder.url.appending(path: "long")).count < 10_000)
        #expect(try await Stored<[String]>("long", in: .archive(in: folder.url)).value() == long)
    }

    @Test func secretsAreSealedForTheirNames() async throws {
        let (sealing, url) = (KeyedSealing(), folder.url)
        let stored = Stored<Secret<String>>("token", in: .sealedFile(in: url, sealing: sealing))
        try await stored.set(Secret("hunter2"))
        #expect(try await stored.value()?.value == "hunter2")
        let file = url.appending(path: "token")
        #expect(try Data(contentsOf: file).range(of: Data("hunter2".utf8)) == nil && mode(file) == 0o600)
        // In the place of another secret it does not open.
        try FileManager.default.copyItem(at: file, to: url.appending(path: "other"))
        for (name, sealing) in [("other", sealing), ("token", KeyedSealing())] {
            let place = StoredPlace<Secret<String>>.sealedFile(in: url, sealing: sealing)
            #expect(await kind { _ = try await Stored(name, in: place).value() } == .keyUnavailable)
        }
        let rotated = KeyedSealing()
        let place = StoredPlace<Secret<String>>.sealedFile(in: url, sealing: rotated, former: [sealing])
        #expect(try await Stored("token", in: place).value()?.value == "hunter2")
        try await Stored("token", in: place).set(Secret("new"))
        let alone = Stored<Secret<String>>("token", in: .sealedFile(in: url, sealing: rotated))
        #expect(try await alone.value()?.value == "new")
    }

    @Test func largeValuesAreRefused() async throws {
        let large = Data(count: 2 << 20)
        for place in [try await places(Data.self)[0], try await places(Data.self)[3]] {
            let stored = Stored("large", in: place)
            try await stored.set(Data([1]))
            let error = await #expect(throws: TableError.self) { try await stored.set(large) }
            #expect(error?.kind == .rejected && error?.description.contains("at most") == true)
            #expect(try await stored.value() == Data([1]))
        }
        // What can't be compressed is larger as an archive, and is read all the same.
        var generator = SeededGenerator(seed: 7)
        let noise = (0..<(1 << 17)).map { _ in UInt64.random(in: 0...UInt64.max, using: &generator) }
            .withUnsafeBytes { Data($0) }
        let archive = FileMedium(folder: folder.url, .archive)
        try await archive.save(noise, "noise")
        #expect(try await archive.load("noise") == noise)
        // An archive that would unpack to more is damaged.
        let medium = FileMedium(folder: folder.url, .archive)
        try await medium.save(Data(count: (64 << 20) + 1), "bomb")
        #expect(await kind { _ = try await medium.load("bomb") } == .corrupted)
    }

    @Test func everyDamagedByteIsFound() async throws {
        let (url, sealing) = (folder.url, FixedSealing())
        let archive = Stored<Settings>("a", in: .archive(in: url))
        let secret = Stored<Secret<String>>("s", in: .sealedFile(in: url, sealing: sealing))
        try await archive.set(Settings())
        try await secret.set(Secret("text"))
        for (name, read) in [
            ("a", { _ = try await archive.value() }), ("s", { _ = try await secret.value() }),
        ] as [(String, () async throws -> Void)] {
            let file = url.appending(path: name)
            let bytes = try Data(contentsOf: file)
            for position in bytes.indices {
                var damaged = bytes
                damaged[position] ^= 4
                try damaged.write(to: file)
                #expect(await kind(read) == (position == 2 ? .newerSchema : .corrupted), "\(name) at \(position)")
                try bytes.prefix(position).write(to: file)
                #expect(await kind(read) == .corrupted, "\(name) of \(position) bytes")
            }
            #expect(try Data(contentsOf: file) == bytes.dropLast())
            try (bytes + [0]).write(to: file)
            #expect(await kind(read) == .corrupted)
        }
        try Data("{}".utf8).write(to: url.appending(path: "list"))
        #expect(
            await kind { _ = try await Stored<Settings>("list", in: .propertyList(in: url)).value() } == .corrupted)
        try FileManager.default.createDirectory(at: url.appending(path: "folder"), withIntermediateDirectories: true)
        #expect(await kind { _ = try await Stored("folder", in: .bytes(in: url)).value() } == .corrupted)
    }

    @Test func aCancelledCallerLeavesAWholeValue() async throws {
        let stored = Stored<Int>("number", in: .propertyList(in: folder.url))
        let calls = (1...50).map { number in Task { try await stored.set(number) } }
        for call in calls { call.cancel() }
        for call in calls { try await call.value }
        #expect(try #require(try await stored.value()) > 0)
    }

    #if os(Linux) || os(macOS)
        @Test func aReadOnlyFolderIsOneError() async throws {
            try await Stored<Int>("number", in: .propertyList(in: folder.url)).set(1)
            for path in [folder.url.path, folder.url.appending(path: "number").path] where geteuid() == 0 {
                try #require(chown(path, 65_534, 65_534) == 0)
            }
            try #require(chmod(folder.url.path, 0o500) == 0)
            defer { _ = chmod(folder.url.path, 0o700) }
            await #expect(processExitsWith: .success) { [path = folder.url.path as String] in
                if geteuid() == 0 { try #require(setgid(65_534) == 0 && setuid(65_534) == 0) }
                let stored = Stored<Int>("number", in: .propertyList(in: URL(filePath: path)))
                #expect(await kind { try await stored.set(2) } == .readOnly)
                #expect(await kind { try await stored.remove() } != nil)
                #expect(try await stored.value() == 1)
            }
        }

        @Test func invalidNamesAreRefusedAtOnce() async {
            for name in ["", "a/b", "..", "a.new", "a\0", String(repeating: "a", count: 129)] {
                await #expect(processExitsWith: .failure) { [name = name as String] in
                    _ = Stored<Int>(name, in: .preferences())
                }
            }
            await #expect(processExitsWith: .failure) {
                _ = Stored<Int>("a", in: .preferences(), moved: .from(.preferences()))
            }
        }
    #endif
}
