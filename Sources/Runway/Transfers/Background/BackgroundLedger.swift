import Foundation

/// The transfers that an app handed over to the system, and their outcomes. It is stored after each change.
///
/// A transfer is added before its task is created, and removed after the app has received its end.
struct BackgroundLedger: Codable, Equatable, Sendable {
    enum Kind: Codable, Equatable, Sendable {
        /// A download to this path. The path is relative to the app's home folder unless it begins with a slash.
        case download(path: String)
        case upload

        /// Returns the kind of a download to a file. A path below the home folder is stored as relative, because an
        /// update of the app may move that folder.
        static func download(to path: String, home: String = NSHomeDirectory()) -> Kind {
            for home in spellings(of: home) where path.hasPrefix(home + "/") {
                return .download(path: String(path.dropFirst(home.count + 1)))
            }
            return .download(path: path)
        }

        /// Returns the absolute path of a download's file in this launch, or `nil` for an upload.
        func filePath(home: String = NSHomeDirectory()) -> String? {
            guard case .download(let path) = self else { return nil }
            return path.hasPrefix("/") ? path : "\(home)/\(path)"
        }

        /// Returns the path of the home folder in two spellings, with and without `/private`. iOS uses both, because
        /// `/var` is a link.
        private static func spellings(of home: String) -> [String] {
            if home.count < 2 || home.hasSuffix("/") { return [] }
            let link = "/private"
            return [home, home.hasPrefix(link + "/") ? String(home.dropFirst(link.count)) : link + home]
        }
    }

    /// The outcome of a transfer that has ended.
    enum Ending: Codable, Equatable, Sendable {
        /// The transfer ended with a response. `body` is the response body of an upload.
        case response(status: Int, body: Data)
        case failed(FailureReason, detail: String)
    }

    /// The reason why a transfer has no response, or no file.
    enum FailureReason: String, Codable, Sendable {
        case cancelled, network, storage, untrusted
        /// The system has no task for the transfer, and did not report its end between two launches.
        case lost
    }

    enum State: Codable, Equatable, Sendable {
        /// The transfer was handed over to the system.
        case started
        /// The transfer was handed over, but the system had no task for it when the app was last launched. Its end may
        /// still be reported.
        case missing
        /// The transfer has ended, but the app has not received its end yet.
        case ended(Ending)
    }

    struct Entry: Codable, Equatable, Sendable {
        var kind: Kind
        var state = State.started
    }

    /// The maximum number of transfers at the same time.
    static let maximumCount = 1000
    /// The maximum size of a ledger's file in bytes.
    static let maximumByteCount = 128 << 20
    /// The maximum size of an upload's response in bytes.
    static let maximumBodyByteCount = 64 << 10

    private(set) var version = 1
    private(set) var entries: [String: Entry] = [:]

    init() {}

    /// Parses a ledger's file. Returns `nil` if the bytes are malformed.
    init?(json: [UInt8]) {
        guard let ledger = try? JSONDecoder().decode(Self.self, from: Data(json)), ledger.version == 1 else {
            return nil
        }
        self = ledger
    }

    var json: [UInt8] {
        // Encoding fails only for numbers that are not finite, and the ledger contains none.
        get throws { Array(try JSONEncoder().encode(self)) }
    }

    /// The transfers that have not ended.
    var startedIDs: Set<String> { Set(entries.keys.filter(isInProgress)) }

    /// The outcomes that the app has not received.
    var endings: [String: Ending] {
        entries.compactMapValues { if case .ended(let ending) = $0.state { ending } else { nil } }
    }

    /// Returns whether a transfer is in the ledger and has not ended.
    func isInProgress(_ id: String) -> Bool {
        switch entries[id]?.state {
        case .started?, .missing?: true
        case .ended?, nil: false
        }
    }

    /// Adds a transfer before its task is created.
    ///
    /// - Throws: ``NetworkError/Kind/invalidParameters`` if the id is in use; ``NetworkError/Kind/overloaded`` if there
    ///   are already ``maximumCount`` transfers.
    mutating func start(_ id: String, _ kind: Kind) throws(NetworkError) {
        guard entries[id] == nil else { throw Self.idInUse(id) }
        guard entries.count < Self.maximumCount else {
            throw NetworkError(.overloaded, in: .preparing, "There are \(Self.maximumCount) background transfers.")
        }
        entries[id] = Entry(kind: kind)
    }

    /// Returns the error of a transfer whose id is in use.
    static func idInUse(_ id: String) -> NetworkError {
        NetworkError(.invalidParameters, in: .preparing, "There is a background transfer with the id \(id).")
    }

    /// Compares the transfers of earlier launches with the system's tasks.
    ///
    /// The system may report the end of a task only after a launch, when the task is no longer listed. A transfer
    /// therefore counts as lost only if it has no task at two launches and no end was reported in between.
    ///
    /// - Parameters:
    ///   - running: The ids of the tasks.
    ///   - known: The transfers that had not ended when the ledger was read.
    mutating func compare(running: Set<String>, among known: Set<String>) {
        for id in known {
            switch entries[id]?.state {
            case .started? where !running.contains(id): entries[id]?.state = .missing
            case .missing? where running.contains(id): entries[id]?.state = .started
            case .missing?:
                entries[id]?.state = .ended(
                    .failed(.lost, detail: "The system lost the transfer between two launches."))
            case .started?, .ended?, nil: break
            }
        }
    }

    /// Ends a transfer. Returns `false`, without a change, if it was not in progress: its end was already reported, or
    /// the app has discarded it.
    mutating func end(_ id: String, _ ending: Ending) -> Bool {
        guard isInProgress(id) else { return false }
        entries[id]?.state = .ended(ending)
        return true
    }

    /// Removes a transfer whose end the app has received, or whose task could not be created.
    mutating func remove(_ id: String) { entries[id] = nil }
}
