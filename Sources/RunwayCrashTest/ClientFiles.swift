import Foundation
import Runway

/// The files of one client, which record its actions and their outcomes as far as it knows them.
struct ClientFiles: Sendable {
    /// The kind of a client, by the name of its command.
    enum Kind: String, Sendable {
        /// A client that writes an action log.
        case writer
        /// A client that makes changes, which an offline queue stores.
        case changer
    }

    /// The accounts that sign in to a client in turns; `nil` stands for nobody.
    static let accounts: [String?] = [nil, "ada", "bob"]

    let folder: URL
    let kind: Kind

    /// Returns the files of all clients of a run.
    static func all(in folder: URL, writers: Int, changers: Int) -> [ClientFiles] {
        func files(_ kind: Kind, _ count: Int) -> [ClientFiles] {
            (0..<count).map { ClientFiles(folder: folder.appending(path: "\(kind.rawValue)-\($0)"), kind: kind) }
        }
        return files(.writer, writers) + files(.changer, changers)
    }

    /// The name of the client and of its records.
    var name: String { folder.lastPathComponent }
    /// The database of the action log or the offline queue.
    var database: URL { folder.appending(path: "database/\(kind.rawValue).sqlite") }
    /// The numbers of records and changes before they were recorded or sent.
    var offered: URL { folder.appending(path: "offered") }
    /// The numbers that were reported to the client as durable.
    var durable: URL { folder.appending(path: "durable") }
    /// The numbers of changes that the queue has stored.
    var queued: URL { folder.appending(path: "queued") }
    /// The numbers of stored changes whose success was reported.
    var reported: URL { folder.appending(path: "reported") }
    /// The numbers of changes that a client had begun to send.
    var sent: URL { folder.appending(path: "sent") }
    /// The numbers of stored changes that the gateway refused, and that were sent again.
    var uncertain: URL { folder.appending(path: "uncertain") }
    /// The reasons why stored changes failed.
    var refused: URL { folder.appending(path: "refused") }

    func numbers(in file: URL) throws -> [Int] { try Self.lines(of: file).compactMap { Int($0) } }

    /// Returns the lines of a file; none if it does not exist.
    static func lines(of file: URL) throws -> [Substring] {
        guard FileManager.default.fileExists(atPath: file.path) else { return [] }
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
    }
}

/// The files of the servers.
struct ServerFiles: Sendable {
    /// The file of the action log, if it is stored in SQLite.
    let actions: URL

    init(in folder: URL) { self.init(actions: folder.appending(path: "server/actions.sqlite")) }

    init(actions: URL) { self.actions = actions }

    /// The database of idempotency keys.
    var keys: URL { actions.deletingLastPathComponent().appending(path: "keys.sqlite") }
    /// The lines of ``Ledger``.
    var ledger: URL { actions.deletingLastPathComponent().appending(path: "ledger") }
    /// Records and changes that arrived in the name of another account than their own.
    var foreign: URL { actions.deletingLastPathComponent().appending(path: "foreign") }
}

/// A file to which lines are appended, each in one write, which a kill can't divide.
struct AppendedFile: Sendable {
    private let descriptor: Int32

    init(_ url: URL) throws {
        descriptor = open(url.path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        guard descriptor >= 0 else { throw CrashFailure("\(url.path) can't be written") }
    }

    func append(_ numbers: Range<Int>) throws { try append(numbers.map { "\($0)\n" }.joined()) }

    func append(line: String) throws { try append(line + "\n") }

    /// Runs `body` while no other process runs one for the same file. The system releases the lock of a killed process.
    func locked(_ body: () throws -> Void) throws {
        guard flock(descriptor, LOCK_EX) == 0 else { throw CrashFailure("a file can't be locked") }
        defer { flock(descriptor, LOCK_UN) }
        try body()
    }

    private func append(_ text: String) throws {
        let bytes = Array(text.utf8)
        guard write(descriptor, bytes, bytes.count) == bytes.count else {
            throw CrashFailure("a file can't be written")
        }
    }
}

/// The access token of an account.
enum CrashToken {
    static let prefix = "token-of-"

    /// Signs an account in, or signs out if `account` is `nil`.
    static func signIn<Service: APIService>(
        _ account: String?, to service: Service.Type, on network: NetworkLayer
    ) async throws {
        if let account {
            try await network.signIn(AccessToken(prefix + account, account: account), to: service)
        } else {
            try await network.signOut(of: service)
        }
    }
}

/// Credentials that need no renewal.
struct CrashCredentials: Credentials {
    func refresh(_ token: AccessToken, on network: NetworkLayer) async throws -> AccessToken { token }
}
