import Foundation
import GRDB
import Runway
import RunwaySQLite

#if !Storage
    #error("RunwayTables needs the package trait Storage.")
#endif

/// A problem with the file of a store, and the state in which the file is afterwards.
///
/// Errors that a closure of the app throws, and errors in SQL of the app's own, are thrown as they are.
public struct TableError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of a problem, for code to switch over. A switch needs a `default`, since later versions may add kinds.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        /// The kind in one word, which stays the same from release to release.
        public let description: String

        /// The disk is full. Nothing of the transaction is in the file.
        public static let full = Kind(description: "full")
        /// Another process has locked the file for longer than the store waits.
        public static let locked = Kind(description: "locked")
        /// The contents of the file are damaged, or it is not a database.
        public static let corrupted = Kind(description: "corrupted")
        /// The file was written by a later version of the app, and one of the migration steps in it can't be reversed.
        public static let newerSchema = Kind(description: "newerSchema")
        /// A table of the file differs from its declaration.
        public static let differentSchema = Kind(description: "differentSchema")
        /// A table can't be synchronised as it is declared, or as it is in the file.
        public static let notSyncable = Kind(description: "notSyncable")
        /// A step of a migration failed. The file is at its last whole step.
        public static let migration = Kind(description: "migration")
        /// The file can be read, but not written.
        public static let readOnly = Kind(description: "readOnly")
        /// The transaction was interrupted, for example because the app is being suspended. Nothing of it is in the
        /// file.
        public static let interrupted = Kind(description: "interrupted")
        /// A stored file is absent, or damaged. See ``StoredFile``.
        public static let fileUnreadable = Kind(description: "fileUnreadable")
        /// The folder or the file can't be used now, or the store was closed.
        public static let unavailable = Kind(description: "unavailable")
        /// The key of the app's sealing can't be read now, or a value was sealed with another key.
        public static let keyUnavailable = Kind(description: "keyUnavailable")
        /// A value was refused: it is invalid, absent where it is required, or can't be stored without loss.
        public static let rejected = Kind(description: "rejected")
    }

    /// The kind of the problem.
    public let kind: Kind
    /// Describes the problem in one sentence, without any stored value.
    public let description: String

    package init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }

    /// Makes the error of a file from an error of GRDB or Foundation; `nil` for an error of the app's own.
    ///
    /// No text of a `DatabaseError` is used: it may contain the values of a statement.
    init?(_ error: any Error, at url: URL) {
        let name = url.lastPathComponent
        switch error {
        case let error as TableError: self = error
        case let error as DatabaseError:
            let code = error.codeText
            switch error.resultCode {
            case .SQLITE_READONLY:
                self.init(.readOnly, "\(name) can't be written (\(code)).")
            case .SQLITE_INTERRUPT, .SQLITE_ABORT:
                self.init(.interrupted, "An operation on \(name) was interrupted (\(code)).")
            case .SQLITE_CONSTRAINT:
                self.init(.rejected, "A constraint of a table in \(name) refuses the change (\(code)).")
            // Errors in the app's own SQL, and misuse of GRDB.
            case .SQLITE_ERROR, .SQLITE_MISUSE, .SQLITE_MISMATCH, .SQLITE_RANGE, .SQLITE_TOOBIG: return nil
            default:
                switch error.failure(of: url) {
                case .full: self.init(.full, "There is no space for \(name) (\(code)).")
                case .locked: self.init(.locked, "\(name) is locked by another process (\(code)).")
                case .damaged: self.init(.corrupted, "\(name) is damaged (\(code)).")
                case .unavailable: self.init(.unavailable, "\(name) can't be used now (\(code)).")
                }
            }
        case is DamagedColumn, is RowDecodingError: self.init(.corrupted, "\(name) is damaged.")
        case let error as CocoaError where error.code == .fileWriteOutOfSpace:
            self.init(.full, "There is no space for \(name).")
        case is CocoaError, is POSIXError: self.init(.unavailable, "\(name) can't be used now.")
        default: return nil
        }
    }

    /// Runs an operation on a file, and throws its errors as ``TableError``.
    static func of<Value>(_ url: URL, _ operation: () throws -> Value) throws -> Value {
        do { return try operation() } catch { throw TableError(error, at: url) ?? error }
    }
}

/// The descriptions name files, tables, columns and codes of SQLite. They contain no stored value.
extension TableError: DescribedError {}
