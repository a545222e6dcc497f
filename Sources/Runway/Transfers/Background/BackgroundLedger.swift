import Foundation

/// The transfers that an app handed over to the system, and their outcomes: a value, which is stored after each change.
///
/// A transfer is in the ledger before its task is created, and until the app has received its end.
struct BackgroundLedger: Codable, Equatable, Sendable {
    /// The kind of a transfer.
    enum Kind: Codable, Equatable, Sendable {
        /// A download to this path, which is relative to the app's home folder if it does not begin with a slash.
        case download(path: String)
        /// An upload.
        case upload

        /// Returns the kind of a download to a file. Below the home folder its path is relative: an update of the app
        /// may move that folder.
        static func download(to path: String, home: String = NSHomeDirectory()) -> Kind {
            for home in spellings(of: home) where path.hasPrefix(home + "/") {
                return .download(path: String(path.dropFirst(home.count + 1)))
            }
            return .download(path: path)
        }

        /// Returns the path of a download's file in the home folder of this launch; `nil` for an upload.
        func filePath(home: String = NSHomeDirectory()) -> String? {
            guard case .download(let path) = self else { return nil }
            return path.hasPrefix("/") ? path : "\(home)/\(path)"
        }

        /// Returns the path of the home folder with and without the folder that the link `/var` leads to, as iOS uses
        /// both.
        private static func spellings(of home: String) -> [String] {
            if home.count < 2 || home.hasSuffix("/") { return [] }
            let link = "/private"
            return [home, home.hasPrefix(link + "/") ? String(home.dropFirst(link.count)) : link + home]
        }
    }

    /// The end of a transfer.
    enum Ending: Codable, Equatable, Sendable {
        /// The transfer ended with a response. `body` is the body of an upload's response.
        case response(status: Int, body: Data)
        case failed(FailureReason, detail: String)
    }

    /// The reason why a transfer has no response, or no file.
    enum FailureReason: String, Codable, Sendable {
        case cancelled, network, storage, untrusted
        /// The system has no task for the transfer, and reported no end of it between two launches.
        case lost
    }

    enum State: Codable, Equatable, Sendable {
        /// The transfer is handed over.
        case started
        /// The transfer is handed over, but had no task when the app was last launched: its end may still be reported.
        case missing
        /// The transfer has ended, and the app has not received its end yet.
        case ended(Ending)
    }

    struct Entry: Codable, Equatable, Sendable {
        var kind: Kind
        var state = State.started
    }

    /// The most transfers at a time.
    static let maximumCount = 1000
    /// The most bytes of a ledger's file.
    static let maximumByteCount = 128 << 20
    /// The most bytes of an upload's response.
    static let maximumBodyByteCount = 64 << 10

    private(set) var version = 1
    private(set) var entries: [String: Entry] = [:]

    init() {}

    /// Reads a ledger's file; returns `nil` for malformed bytes.
    init?(json: [UInt8]) {
        guard let ledger = try? JSONDecoder().decode(Self.self, from: Data(json)), ledger.version == 1 else {
            return nil
        }
        self = ledger
    }

    var json: [UInt8] {
        // Only numbers that are not finite can't be encoded, and the ledger has no such number.
        get throws { Array(try JSONEncoder().encode(self)) }
    }

    /// The transfers that have not ended.
    var startedIDs: Set<String> { Set(entries.keys.filter(isInProgress)) }

    /// The transfers whose end the app has not received.
    var endings: [String: Ending] {
        entries.compactMapValues { if case .ended(let ending) = $0.state { ending } else { nil } }
    }

    /// Whether a transfer is in the ledger and has not ended.
    func isInProgress(_ id: String) -> Bool {
        switch entries[id]?.state {
        case .started?, .missing?: true
        case .ended?, nil: false
        }
    }

    /// Adds a transfer before its task is created.
    ///
    /// - Throws: ``NetworkError/Kind/invalidParameters`` for an id that is in use, ``NetworkError/Kind/overloaded``
    ///   beyond ``maximumCount`` transfers.
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

    /// Compares the transfers of earlier launches with the tasks that the system has.
    ///
    /// The system reports the end of a task after a launch, when the task is no longer listed. A transfer is therefore
    /// lost only if it has no task at two launches and no end was reported in between.
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

    /// Ends a transfer. Returns whether it was in progress: an end that is reported again, or for a transfer that the
    /// app has discarded, changes nothing.
    mutating func end(_ id: String, _ ending: Ending) -> Bool {
        guard isInProgress(id) else { return false }
        entries[id]?.state = .ended(ending)
        return true
    }

    /// Removes a transfer whose end the app has received, or whose task could not be created.
    mutating func remove(_ id: String) { entries[id] = nil }
}
