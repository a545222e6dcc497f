import Foundation
import GRDB
import Runway
import RunwaySQLite

/// A failure with a file of this module, and the consequence of the failure for the file.
///
/// ```swift
/// do { try await log.record("opened").committed() } catch { if error.kind == .full { showThatTheDiskIsFull() } }
/// ```
public struct StorageError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of a failure. A switch over it needs a `default`, since later versions may add kinds.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        /// The name of the kind, one word. It does not change between releases.
        public let description: String

        /// The disk is full, or the file has reached its limit.
        public static let full = Kind(description: "full")
        /// Another process, or another object of this process, has the file open.
        public static let locked = Kind(description: "locked")
        /// The file is damaged, or is not a database.
        public static let corrupted = Kind(description: "corrupted")
        /// The file was written by a later version of this module.
        public static let newerSchema = Kind(description: "newerSchema")
        /// The folder or file can't be read or written, for example while the device is locked.
        public static let unavailable = Kind(description: "unavailable")
        /// The key of the app's ``PayloadSealing`` can't be read now. Stored entries stay, and are used when the key
        /// can be read again.
        public static let keyUnavailable = Kind(description: "keyUnavailable")
        /// The value is not acceptable, for example a record that is too large.
        public static let rejected = Kind(description: "rejected")
        /// The task was cancelled while it was waiting. The operation itself continues.
        public static let cancelled = Kind(description: "cancelled")
    }

    /// The kind of the failure, for code to switch over.
    public let kind: Kind
    /// A description of the failure, one sentence.
    public let description: String

    init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }

    /// Converts an error of GRDB or Foundation.
    ///
    /// The text of a `DatabaseError` is not used, since it may contain values of a statement.
    init(_ error: any Error, at url: URL) {
        let name = url.lastPathComponent
        switch error {
        case let error as StorageError: self = error
        case let error as DatabaseError:
            let code = error.codeText
            switch error.failure(of: url) {
            case .full: self.init(.full, "There is no space for \(name) (\(code)).")
            case .locked: self.init(.locked, "\(name) is open elsewhere (\(code)).")
            case .damaged: self.init(.corrupted, "\(name) is damaged (\(code)).")
            case .unavailable: self.init(.unavailable, "\(name) can't be used now (\(code)).")
            }
        case is RowDecodingError, is DamagedColumn: self.init(.corrupted, "\(name) is damaged.")
        case let error as NSError where error.code == CocoaError.fileWriteOutOfSpace.rawValue:
            self.init(.full, "There is no space for \(name).")
        default: self.init(.unavailable, "\(name) can't be used now.")
        }
    }
}

/// The descriptions contain file names and SQLite codes, but no stored content.
extension StorageError: DescribedError {}
