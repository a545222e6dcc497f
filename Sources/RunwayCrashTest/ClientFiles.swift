import Foundation
import Runway

/// The files of one client. They record its actions, and the outcomes that it knows.
struct ClientFiles: Sendable {
    /// The kind of a client. The raw value is the name of its command.
    enum Kind: String, Sendable {
        case writer
        /// A client that makes changes through an offline queue.
        case changer
    }

    /// The accounts that sign in to a client in turn; `nil` means signed out.
    static let accounts: [String?] = [nil, "ada", "bob"]

    let folder: URL
    let kind: Kind

    static func all(in folder: URL, writers: Int, changers: Int) -> [ClientFiles] {
        func files(_ kind: Kind, _ count: Int) -> [ClientFiles] {
            (0..<count).map { ClientFiles(folder: folder.appending(path: "\(kind.rawValue)-\($0)"), kind: kind) }
        }
        return files(.writer, writers) + files(.changer, changers)
    }

    var name: String { folder.lastPathComponent }
    /// The database of the action log or offline queue.
    var database: URL { folder.appending(path: "database/\(kind.rawValue).sqlite") }
    /// The file with the numbers of all records and changes. A number is written before its record or change is
    /// recorded or sent.
    var offered: URL { folder.appending(path: "offered") }
    /// The file with the numbers of records and changes that were reported to the client as durable.
    var durable: URL { folder.appending(path: "durable") }
    /// The file with the numbers of changes that the queue has stored.
    var queued: URL { folder.appending(path: "queued") }
    /// The file with the numbers of stored changes that were reported as successful.
    var reported: URL { folder.appending(path: "reported") }
    /// The file with the numbers of changes that the client began to send.
    var sent: URL { folder.appending(path: "sent") }
    /// The file with the numbers of stored changes that the gateway refused, and that the client sent again.
    var uncertain: URL { folder.appending(path: "uncertain") }
    /// The file with the reasons why stored changes failed.
    var refused: URL { folder.appending(path: "refused") }

    func numbers(in file: URL) throws -> [Int] { try Self.lines(of: file).compactMap { Int($0) } }

    /// Returns the lines of a file; an empty array if it does not exist.
    static func lines(of file: URL) throws -> [Substring] {
        guard FileManager.default.fileExists(atPath: file.path) else { return [] }
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
    }
}

struct ServerFiles: Sendable {
    /// The file of the action log if it is stored in SQLite.
    let actions: URL

    init(in folder: URL) { self.init(actions: folder.appending(path: "server/actions.sqlite")) }

    init(actions: URL) { self.actions = actions }

    var keys: URL { actions.deletingLastPathComponent().appending(path: "keys.sqlite") }
    var ledger: URL { actions.deletingLastPathComponent().appending(path: "ledger") }
    /// A file that lists the records and changes that arrived under another account than their own.
    var foreign: URL { actions.deletingLastPathComponent().appending(path: "foreign") }
}

/// A file to which lines are appended. Each line is one write, so a kill can't divide it.
struct AppendedFile: Sendable {
    private let descriptor: Int32

    init(_ url: URL) throws {
        descriptor = open(url.path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        guard descriptor >= 0 else { throw CrashFailure("\(url.path) can't be written") }
    }

    func append(_ numbers: Range<Int>) throws { try append(numbers.map { "\($0)\n" }.joined()) }

    func append(line: String) throws { try append(line + "\n") }

    /// Runs `body` under a lock that excludes other processes. The system releases the lock of a killed process.
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

enum CrashToken {
    static let prefix = "token-of-"

    /// Signs in an account, or signs out if `account` is `nil`.
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

struct CrashCredentials: Credentials {
    func refresh(_ token: AccessToken, on network: NetworkLayer) async throws -> AccessToken { token }
}
