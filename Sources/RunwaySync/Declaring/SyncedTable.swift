public import Foundation
@_exported public import RunwaySyncCore  // apps name its policies
public import RunwayTables

#if !Storage
    #error("RunwaySync needs the package trait Storage.")
#endif

/// A table whose rows are the same on all devices of a space. One line declares it:
///
/// ```swift
/// enum Tasks: SyncedTable {
///     static let name = "task"
///     static let id = Column<UUID>("id"), list = Column<UUID>("listId")
///     static let title = Column<String>("title", default: ""), due = Column<Date?>("due")
///     static let columns = TableColumns<Self>(id, list, title, due)
///
///     static let sync = Synced(space: list)
/// }
/// ```
///
/// Reads, writes and observations stay as they are: triggers of the file capture each change in its transaction,
/// whichever code makes it. A ``SyncEngine`` exchanges the changes with the server.
///
/// The key is one UUID, and no column is required: each other column has a default, or may be NULL. Unique indexes,
/// `CHECK`, `RESTRICT`, and triggers of the app that write synchronised tables are refused when the store is opened, as
/// `TableError.Kind.notSyncable`: a row of another device could violate them.
///
/// A column of a `StoredFile` synchronises as any other. Its file travels separately, and may arrive after the row;
/// see ``FileSyncStatus``.
///
/// Secret columns are sent as they are sealed, if the declaration says that all devices open them
/// (``Synced/init(space:conflicts:devicesShareKeys:)``). A value is sealed for its row, so that such a table can't use
/// `keepBoth`; it is refused as `TableError.Kind.notSyncable`. A secret that is saved again is a change, since
/// it is sealed anew.
///
/// The id and the space of a row never change; `TableWriter.move(_:_:to:)` inserts a copy in another space. A
/// transaction changes at most 5,000 rows, or 4 MiB; a larger one is refused as `TableError.Kind.rejected`.
///
/// Steps of a migration are not captured, since each device takes them.
public protocol SyncedTable: TableDefinition {
    /// The space of the rows, and the treatment of conflicts.
    static var sync: Synced { get }
}

extension SyncedTable {
    /// Declares that `RunwaySync` follows the table.
    public static var following: TableFollowing? { TableFollowing(details: sync) { ChangeCapture($0) } }
}

/// The declaration that a table is synchronised in both directions; see ``SyncedTable``.
public struct Synced: Sendable {
    let spaceColumn: String
    let conflicts: ConflictPolicy
    let devicesShareKeys: Bool
    var direction = SyncDevice.Direction.both

    /// Declares the space of each row, and the treatment of concurrent changes.
    ///
    /// - Parameters:
    ///   - space: The column with the id of the space that a row belongs to, such as a list or a team. Devices join
    ///     spaces as a whole.
    ///   - conflicts: The treatment of changes that two devices make without having seen each other's. The default is
    ///     `ConflictPolicy.newestPerColumn`.
    ///   - devicesShareKeys: Whether all devices of a space have the same `RecordStore.Options.sealing` and the same
    ///     account, so that each opens the secret columns of the others. The server can't. The default, `false`,
    ///     refuses a table with secret columns, since a row that can't be opened fails each read of it.
    public init<Table: TableDefinition>(
        space: TableColumn<Table, UUID>, conflicts: ConflictPolicy = .newestPerColumn, devicesShareKeys: Bool = false
    ) {
        self.init(column: space.name, conflicts: conflicts, devicesShareKeys: devicesShareKeys)
    }

    init(column: String, conflicts: ConflictPolicy, devicesShareKeys: Bool = false) {
        (spaceColumn, self.conflicts, self.devicesShareKeys) = (column, conflicts, devicesShareKeys)
    }
}

/// A table whose rows are sent to the server, and never read back, such as messages of a chat or the entries of a form.
///
/// ```swift
/// static let sync = SentOneWay(space: conversation, deadline: .seconds(3600))
/// ```
///
/// The same rules as for a ``SyncedTable`` apply to its columns. A space has tables of one kind: either synchronised in
/// both directions, or sent.
public protocol SentTable: TableDefinition {
    /// The space of the rows, and the time after which a change has failed.
    static var sync: SentOneWay { get }
}

extension SentTable {
    /// Declares that `RunwaySync` follows the table.
    public static var following: TableFollowing? { TableFollowing(details: sync.synced) { ChangeCapture($0) } }
}

/// The declaration that a table is sent one way; see ``SentTable``.
public struct SentOneWay: Sendable {
    let synced: Synced

    /// Declares the space of each row, and the deadline of its changes.
    ///
    /// - Parameters:
    ///   - space: The column with the id of the space that a row is sent to.
    ///   - deadline: The time after which a change that was not sent counts as failed (``RowSyncStatus/failed``). The
    ///     default, `nil`, lets it wait for ever. If a store has several such tables, the shortest deadline applies.
    public init<Table: TableDefinition>(space: TableColumn<Table, UUID>, deadline: Duration? = nil) {
        var synced = Synced(column: space.name, conflicts: .newestPerColumn)
        // Rounded up, so that no deadline is 0, and to 30,000 years at most.
        let milliseconds = deadline.map { Int64(min(max(($0 / .milliseconds(1)).rounded(.up), 1), 1e15)) }
        synced.direction = .sending(deadline: milliseconds)
        self.synced = synced
    }
}
