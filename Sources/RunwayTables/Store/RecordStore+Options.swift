public import RunwayStorage

extension RecordStore {
    /// The way in which a file of records is opened and used.
    public struct Options: Sendable {
        /// Seals the values of secret columns. The default is `nil`; then a store that has secret columns does not
        /// open, and throws ``TableError/Kind/keyUnavailable``.
        public var sealing: (any PayloadSealing)?
        /// The sealings that open values from before a rotation of the key; see ``RecordStore/resealSecrets()``. The
        /// default is none.
        public var formerSealings: [any PayloadSealing] = []
        /// Whether a commit survives a power loss. The default is `true`.
        public var survivesPowerLoss = true
        /// Whether the file is in the user's backups, on Apple's systems. The default is `false`.
        public var isBackedUp = false
        /// Whether other processes, such as extensions, write the file. Their changes are then observed, and
        /// transactions are interrupted while the app is being suspended (GRDB's `Database.suspendNotification`). The
        /// default is `false`.
        public var isShared = false
        /// The longest time that a transaction waits for other processes. The default is 5 s.
        public var lockTimeout: Duration = .seconds(5)
        /// Accepts a file that another library made. The default, `nil`, refuses it.
        public var adopting: Adoption?
        /// Whether the steps of a migration, and their ways back, run on a copy of the file first. This needs the time
        /// and the space of a copy. The default is `false`.
        public var rehearsesMigrations = false
        /// Receives the progress of a migration, on a background thread. The default does nothing.
        public var reportProgress: @Sendable (MigrationProgress) -> Void = { _ in }
        /// Receives the error of each write that was interrupted, and will be repeated. The default does nothing.
        public var reportInterruption: @Sendable (TableError) -> Void = { _ in }
        /// The folder's name of the account in ``AccountFiles``, for which secrets are sealed; empty without one.
        var account = ""
        /// Chooses what happens to a file that can't be opened. The default, ``Recovery/fail``, leaves it as it is.
        public var recover: @Sendable (TableError) async -> Recovery = { _ in .fail }

        /// The defaults.
        public init() {}
    }

    /// The treatment of a file that can't be opened, or brought to this build's version.
    public struct Recovery: Sendable, Hashable {
        private enum Code { case fail, stayAtLastStep, readOnly, setAside, beginAnew }
        private let code: Code

        /// The error is thrown, and the file stays as it is.
        public static let fail = Recovery(code: .fail)
        /// The file is used as it was after its last whole step. Operations on tables that differ from their
        /// declarations may fail.
        public static let stayAtLastStep = Recovery(code: .stayAtLastStep)
        /// The file is used as it was after its last whole step, and every write is refused as
        /// ``TableError/Kind/readOnly``.
        public static let readOnly = Recovery(code: .readOnly)
        /// The file is renamed (``RecordStore/setAside``), and a new one is created. This is possible only if the file
        /// is damaged, of another version or of another schema, or if a migration failed; other errors are thrown.
        public static let setAside = Recovery(code: .setAside)
        /// The file is removed, and a new one is created. This is possible for the same errors as ``setAside``.
        public static let beginAnew = Recovery(code: .beginAnew)
    }

    /// The file of another library, which a store takes over with its rows.
    ///
    /// The declared tables must have the declared columns and keys; other columns, tables, types and indexes stay as
    /// they are. A value in another form, such as a date in seconds, is read if its column's type can read it.
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
