public import Foundation
import GRDB
public import Runway
import RunwaySyncCore
public import RunwayTables

/// The state of a file that a row names, on this device and in one space.
///
/// Rows and files are transferred separately: the row of another device arrives first, and names a file that is not on
/// this device yet. `RecordStore.url(of:)` throws `TableError.Kind.fileUnreadable` until the file has arrived.
public enum FileSyncStatus: Hashable, Sendable {
    /// The file is here and at the server.
    case synced
    /// The file is here, and waits for its upload.
    case waiting
    /// The file is being sent.
    case uploading(TransferProgress)
    /// The file is not here. It waits for its download, or another device has not uploaded it yet. After a day, it
    /// has failed with ``SyncProblem/missing``.
    case absent
    /// The file is being received.
    case downloading(TransferProgress)
    /// The last attempt failed. Another follows within five minutes, or within 24 hours after
    /// ``SyncProblem/forbidden`` and ``SyncProblem/missing``, and if the server requests a pause. None follows after
    /// ``SyncProblem/tooLarge`` and ``SyncProblem/damaged``; see ``SyncEngine/transferAgain(_:in:)``.
    case failed(SyncProblem)
}

extension SyncProblem {
    /// The file is larger than the device or the server allows.
    public static let tooLarge = SyncProblem(description: "tooLarge")
    /// No device has uploaded the file for a day: the one that has it is away, or has lost it. If the file arrives at
    /// the server, it is downloaded.
    public static let missing = SyncProblem(description: "missing")
    /// The server has sent other bytes than those that the row names. They were discarded.
    public static let damaged = SyncProblem(description: "damaged")
}

extension TableReading {
    /// Returns the state of a file that a synchronised row names. It can be observed; the progress of a transfer is
    /// written once a second.
    ///
    /// ```swift
    /// let status = store.observe { try $0.syncStatus(of: photo, in: list) }
    /// ```
    ///
    /// - Parameters:
    ///   - file: The value of a column.
    ///   - space: The space of the row. A file that no row of the space names is ``FileSyncStatus/absent``.
    /// - Throws: An error of the file of records.
    public func syncStatus(of file: StoredFile, in space: UUID) throws -> FileSyncStatus {
        let sql = "SELECT here, settled, moved, problem FROM runway_sync_stored WHERE space = ? AND name = ?"
        let statement = try connection.cachedStatement(sql: sql)
        let key: StatementArguments = [Identifier(space).databaseValue, file.name]
        guard let row = try GRDB.Row.fetchOne(statement, arguments: key) else { return .absent }
        let (isHere, isSettled): (Bool, Bool) = (row[0], row[1])
        if isSettled { return .synced }
        if let moved: Int = row[2] {
            let progress = TransferProgress(completedByteCount: moved, totalByteCount: file.byteCount)
            return isHere ? .uploading(progress) : .downloading(progress)
        }
        if let problem: String = row[3] { return .failed(SyncProblem(description: problem)) }
        return isHere ? .waiting : .absent
    }
}

extension SyncEngine {
    /// Begins the next attempt to upload or download a file at once.
    ///
    /// - Parameters:
    ///   - file: The value of a column.
    ///   - space: The space of the row.
    /// - Throws: An error of the file of records.
    public func transferAgain(_ file: StoredFile, in space: UUID) async throws {
        try await files.prompt("space = ? AND name = ?", [Identifier(space).databaseValue, file.name])
    }
}
