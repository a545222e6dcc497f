import Foundation
import RunwayTesting
import Testing

@testable import RunwayTables

/// Values that move from one store to another, also while their process is killed.
struct StoredMoveTests {
    private let folder = ScratchFolder()
    private let preferences = ScratchPreferences()

    private typealias Places = (new: StoredPlace<Settings>, former: StoredPlace<Settings>)

    /// The ways that are tested, by number. The same in a child process.
    private static func places(_ way: Int, _ folder: URL, _ suite: String) async throws -> Places {
        let file = folder.appending(path: "records.sqlite")
        let database = StoredPlace<Settings>.database(try await RecordStore.open(at: file, tables: [StoredValues.self]))
        let preferences = StoredPlace<Settings>.preferences(suite: suite)
        let list = StoredPlace<Settings>.propertyList(in: folder.appending(path: "lists"))
        let archive = StoredPlace<Settings>.archive(in: folder.appending(path: "archives"))
        let ways: [Places] = [(list, preferences), (archive, list), (database, archive), (preferences, database)]
        return ways[way]
    }

    private func places(_ way: Int) async throws -> Places {
        try await Self.places(way, folder.url, preferences.suite)
    }

    @Test(arguments: 0..<4) func aValueMovesOnce(_ way: Int) async throws {
        let (new, former) = try await places(way)
        let old = Stored("old name", in: former)
        try await old.set(Settings(theme: "moved"))
        let stored = Stored("settings", in: new, moved: .from(former, named: "old name"))
        #expect(try await stored.value()?.theme == "moved")
        #expect(try await old.value() == nil)
        // Another version of the app has written the former store once more.
        try await old.set(Settings(theme: "older"))
        let again = Stored("settings", in: new, moved: .from(former, named: "old name"))
        #expect(try await again.value()?.theme == "moved")
        #expect(try await old.value() == nil)
    }

    @Test func writesAndRemovalsLeaveTheFormerStore() async throws {
        let (new, former) = try await places(0)
        for isRemoved in [false, true] {
            try await Stored("a", in: former).set(Settings(theme: "old"))
            let stored = Stored("a", in: new, moved: .from(former))
            if isRemoved { try await stored.remove() } else { try await stored.set(Settings(theme: "new")) }
            let again = Stored("a", in: new, moved: .from(former))
            #expect(try await again.value()?.theme == (isRemoved ? nil : "new"))
            #expect(try await Stored("a", in: former).value() == nil)
        }
    }

    @Test func aFormerStoreThatFailsLosesNoValue() async throws {
        let (new, former) = try await places(0)
        try await Stored("a", in: former).set(Settings(theme: "old"))
        let refusing = AwaitedValue(1)
        let stored = Stored("a", in: new, moved: .from(former.refusingRemovals(while: refusing)))
        #expect(await kind { try await stored.remove() } == .unavailable)
        #expect(await kind { _ = try await stored.value() } == .unavailable)
        #expect(try await Stored("a", in: new).value()?.theme == "old")
        #expect(await kind { try await stored.set(Settings(theme: "new")) } == .unavailable)
        #expect(try await Stored("a", in: new).value()?.theme == "new")
        #expect(try await Stored("a", in: former).value()?.theme == "old")
        refusing.update { $0 = 0 }
        // The next operation repeats the removal.
        #expect(try await stored.value()?.theme == "new")
        #expect(try await Stored("a", in: former).value() == nil)
    }

    @Test func aDamagedFormerValueStays() async throws {
        let url = folder.url.appending(path: "archives")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        try Data("RA".utf8).write(to: url.appending(path: "a"))
        let stored = Stored<Settings>("a", in: .propertyList(in: folder.url), moved: .from(.archive(in: url)))
        #expect(await kind { _ = try await stored.value() } == .corrupted)
        #expect(try Data(contentsOf: url.appending(path: "a")) == Data("RA".utf8))
        try await stored.set(Settings(theme: "new"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: url.path).isEmpty)
    }

    @Test func aSecretMovesOutOfTheOpen() async throws {
        let suite = preferences.suite
        try await Stored<String>("token", in: .preferences(suite: suite)).set("hunter2")
        let stored = Stored<Secret<String>>(
            "token", in: .sealedFile(in: folder.url, sealing: KeyedSealing()), moved: .from(.preferences(suite: suite)))
        #expect(try await stored.value()?.value == "hunter2")
        #expect(UserDefaults(suiteName: suite)?.object(forKey: "token") == nil)
    }

    #if os(Linux) || os(macOS)
        /// Before and after each of: reading the new store and the former one, writing, removing.
        @Test(arguments: 0..<4) func aKillLosesNothing(_ way: Int) async throws {
            for step in 0..<8 {
                let (new, former) = try await places(way)
                try await Stored("a", in: former).set(Settings(theme: "\(step)"))
                await #expect(processExitsWith: .signal(SIGKILL)) {
                    [
                        way = way as Int, step = step as Int, path = folder.url.path as String,
                        suite = preferences.suite as String
                    ] in
                    let countdown = Countdown(step)
                    let (new, former) = try await StoredMoveTests.places(way, URL(filePath: path), suite)
                    let stored = Stored(
                        "a", in: new.killing(at: countdown), moved: .from(former.killing(at: countdown)))
                    _ = try await stored.value()
                }
                let stored = Stored("a", in: new, moved: .from(former))
                #expect(try await stored.value()?.theme == "\(step)", "way \(way), step \(step)")
                #expect(try await Stored("a", in: former).value() == nil)
                try await stored.remove()
            }
        }

        @Test func aKilledRemovalBringsNothingBack() async throws {
            for step in 0..<4 {
                let (new, former) = try await places(1)
                try await Stored("a", in: new).set(Settings(theme: "new"))
                try await Stored("a", in: former).set(Settings(theme: "old"))
                await #expect(processExitsWith: .signal(SIGKILL)) {
                    [step = step as Int, path = folder.url.path as String, suite = preferences.suite as String] in
                    let countdown = Countdown(step)
                    let (new, former) = try await StoredMoveTests.places(1, URL(filePath: path), suite)
                    try await Stored(
                        "a", in: new.killing(at: countdown), moved: .from(former.killing(at: countdown))
                    ).remove()
                }
                // The removed value is there or not; the former one is not.
                let theme = try await Stored("a", in: new, moved: .from(former)).value()?.theme
                #expect(theme == (step < 3 ? "new" : nil))
            }
        }
    #endif
}
