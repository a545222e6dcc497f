public import RunwayStorage

extension RecordStore {
    /// The way in which a file of records is opened and used.
    public struct Options: Sendable {
        /// Seals the values of secret columns. The default is `nil`, which tables with secret columns refuse.
        public var sealing: (any PayloadSealing)?
        /// The sealings that open values from before a rotation of the key; see ``RecordStore/resealSecrets()``. The
        /// default is none.
        public var formerSealings: [any PayloadSealing] = []
        /// Whether a commit survives a power loss. The default is `true`.
        public var survivesPowerLoss = true
        /// Whether the file is in the user's backups, on Apple's systems. The default is `false`.
        public var isBackedUp = false
        /// Whether other processes write the file, such as extensions: their changes are observed, and transactions are
        /// interrupted while the app is being suspended (GRDB's `Database.suspendNotification`). The default is
        /// `false`.
        public var isShared = false
        /// The longest time that a transaction waits for other processes. The default is 5 s.
        public var lockTimeout: Duration = .seconds(5)
        /// Accepts a file that another library made. The default, `nil`, refuses it.
        public var adopting: Adoption?
        /// Whether steps are taken on a copy of the file first, with their ways back. It needs the time and the space
        /// of a copy. The default is `false`.
        public var rehearsesMigrations = false
        /// Receives the progress of a migration, on a background thread. The default does nothing.
        public var reportProgress: @Sendable (MigrationProgress) -> Void = { _ in }
        /// Receives writes that were interrupted, and will be repeated. The default does nothing.
        public var reportInterruption: @Sendable (TableError) -> Void = { _ in }
        /// Decides about a file that can't be opened. The default, ``Recovery/fail``, leaves it as it is.
        public var recover: @Sendable (TableError) async -> Recovery = { _ in .fail }

        /// The defaults.
        public init() {}
    }

    /// The treatment of a file that can't be opened, or brought to this build's version.
    public struct Recovery: Sendable, Hashable {
        private enum Code { case fail, lastWholeStep, readOnly, setAside, beginAnew }
        private let code: Code

        /// The error is thrown, and the file stays as it is.
        public static let fail = Recovery(code: .fail)
        /// The file is used as its last whole step has left it. Tables that differ from their declarations may fail.
        public static let lastWholeStep = Recovery(code: .lastWholeStep)
        /// The same, and every write is refused as ``TableError/Kind/readOnly``.
        public static let readOnly = Recovery(code: .readOnly)
        /// The file is renamed (``RecordStore/setAside``), and a new one is created. Only for a file that is damaged,
        /// of another version or of another schema; other errors are thrown.
        public static let setAside = Recovery(code: .setAside)
        /// The file is removed, and a new one is created. For the same files.
        public static let beginAnew = Recovery(code: .beginAnew)
    }

    /// The file of another library that a store takes over, with its rows.
    ///
    /// The declared tables must have the declared columns and keys; other columns, tables, types and indexes stay as
    /// they are. Values in another form are read if their type can read them, such as dates in seconds.
    public struct Adoption: Sendable {
        let userVersions: ClosedRange<Int>
        let prepare: String

        /// - Parameters:
        ///   - userVersions: The known versions of the file (`PRAGMA user_version`). The default is all from 0. Others
        ///     are refused as ``TableError/Kind/newerSchema``.
        ///   - sql: Statements that are executed once, in the transaction that takes the file over. The default is
        ///     none.
        public init(userVersions: ClosedRange<Int> = 0...Int(Int32.max), preparing sql: String = "") {
            self.userVersions = userVersions
            prepare = sql
        }
    }
}
