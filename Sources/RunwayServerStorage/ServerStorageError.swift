import Foundation
import GRDB
import RunwaySQLite
import RunwayServer

#if !Storage || !Server
    #error("RunwayServerStorage needs the package traits Server and Storage.")
#endif

/// An error of a server's database file.
public struct ServerStorageError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of an error. A switch needs a `default`, since later versions may add kinds.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        /// The kind in one word, which never changes between releases.
        public let description: String

        /// The disk is full.
        public static let full = Kind(description: "full")
        /// Another process, or another object in this process, writes the file.
        public static let locked = Kind(description: "locked")
        /// The file is damaged, or is not a database.
        public static let corrupted = Kind(description: "corrupted")
        /// The file is a database with other contents.
        public static let foreign = Kind(description: "foreign")
        /// The file was written by a later version of this module.
        public static let newerSchema = Kind(description: "newerSchema")
        /// The file does not exist.
        public static let missing = Kind(description: "missing")
        /// The folder or the file cannot be read or written.
        public static let unavailable = Kind(description: "unavailable")
    }

    /// The kind of the error.
    public let kind: Kind
    /// The error in one sentence.
    public let description: String

    init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }

    static func checkExists(_ file: URL) throws(ServerStorageError) {
        guard FileManager.default.fileExists(atPath: file.path) else {
            throw ServerStorageError(.missing, "There is no file \(file.lastPathComponent).")
        }
    }

    /// Translates an error of GRDB or Foundation. The text of a `DatabaseError` is not used, since it may contain
    /// values of a statement.
    init(_ error: any Error, at url: URL) {
        let name = url.lastPathComponent
        switch error {
        case let error as ServerStorageError: self = error
        case let error as DatabaseError:
            let code = error.codeText
            switch error.failure(of: url) {
            case .full: self.init(.full, "There is no space for \(name) (\(code)).")
            case .locked: self.init(.locked, "\(name) is in use elsewhere (\(code)).")
            case .damaged: self.init(.corrupted, "\(name) is damaged or no database (\(code)).")
            case .unavailable: self.init(.unavailable, "\(name) can't be used now (\(code)).")
            }
        case is RowDecodingError, is DamagedColumn, is DecodingError: self.init(.corrupted, "\(name) is damaged.")
        default: self.init(.unavailable, "\(name) can't be used.")
        }
    }
}

extension ServerStorageError: CommitError {
    /// Whether the error may concern only one row: a damaged row affects only requests that need it. If more is
    /// damaged, the commits of other requests fail, too.
    package var isOfOneElement: Bool { kind == .corrupted }
}
