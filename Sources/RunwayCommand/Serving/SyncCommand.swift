import ArgumentParser
import Foundation
import Runway
import RunwayServer

/// `runway sync`: administers the spaces that `runway serve --sync`, or a server of the app, stores.
struct SyncCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync", abstract: "Administer spaces that devices synchronise.",
        discussion: """
            A place is a SQLite file of spaces, or the URL of a PostgreSQL database.
            "spaces", "devices" and "log" only read, also while a server runs. The
            others write; a file must not be in use by a server then, while a database
            may be.

            EXAMPLES
              runway sync spaces spaces.sqlite
              runway sync devices spaces.sqlite 0192b1c4-7a3e-7cc1-9f27-0a1f3d5b7e90
              runway sync log spaces.sqlite 0192b1c4-7a3e-7cc1-9f27-0a1f3d5b7e90 --after 40
              runway sync trim spaces.sqlite --days 7
              runway sync epoch postgres://localhost/notes
              runway sync backup postgres://localhost/notes postgres://spare/notes
              runway sync close spaces.sqlite SPACE DEVICE

            EXIT CODES
              0    It was done.
              1    There is no such space or device.
              2    The command line or the place can't be used.
            """,
        subcommands: [
            ListSpaces.self, ListDevices.self, PrintLog.self, TrimLog.self, BeginEpoch.self, MarkBackup.self,
            CloseDevice.self,
        ])
}

struct SyncPlaceArgument: ParsableArguments {
    @Argument(help: "A file, or postgres://….", completion: .file())
    var place: String

    /// Opens the place for reading while `body` runs.
    func reading<Value>(_ body: (SyncStore) async throws -> Value) async throws -> Value {
        try await Self.use(try await SyncPlace(place).openForReading(), body)
    }

    /// Opens the place for writing while `body` runs.
    func writing<Value>(_ body: (SyncStore) async throws -> Value) async throws -> Value {
        try await Self.use(try await SyncPlace(place).open(mustExist: true), body)
    }

    private static func use<Value>(
        _ opened: SyncPlace.Opened, _ body: (SyncStore) async throws -> Value
    ) async throws -> Value {
        let result: Result<Value, any Error>
        do {
            result = .success(try await body(opened.store))
        } catch let failure as CommandFailure {
            result = .failure(failure)
        } catch {
            result = .failure(CommandFailure("The spaces can't be used. \(error)"))
        }
        try? await opened.close()
        return try result.get()
    }
}

struct SpaceArgument: ParsableArguments {
    @Argument(help: "The id of a space, a UUID.")
    var space: String

    /// Returns the space of a store.
    ///
    /// - Throws: ``CommandFailure`` if the text is no UUID, or the store does not have the space.
    func find(in store: SyncStore) async throws -> SyncSpace {
        guard let id = UUID(uuidString: space) else { throw CommandFailure("\(space) is no UUID.") }
        guard let found = try await store.space(id) else {
            throw CommandFailure("There is no space \(space).", status: ExitStatus.refused)
        }
        return found
    }
}

extension SyncStore {
    /// All spaces, page by page.
    func forEachSpace(_ body: (SyncSpace) async throws -> Void) async throws {
        var last: UUID?
        repeat {
            let page = try await spaces(after: last)
            for space in page { try await body(space) }
            last = page.last?.id
        } while last != nil
    }
}

extension UUID {
    var lowercase: String { uuidString.lowercased() }
}

extension Encodable {
    /// The value as JSON in one line.
    func jsonLine() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return String(decoding: try encoder.encode(self), as: UTF8.self) + "\n"
    }
}
