import Foundation
import GRDB
import RunwaySQLite
import RunwayStorage

/// Opens one file, creates its tables or takes over those of another library, and brings it to this build's version.
struct StoreOpener: Sendable {
    enum Mode: Sendable {
        case current
        /// Opens the file without migrating it, and without comparing it with the declarations.
        case lastWholeStep
        case readOnly
    }

    let url: URL
    let layouts: [TableLayout]
    let migrations: Migrations
    let options: RecordStore.Options
    let files: FileFolder
    let follower: (any StoreFollower)?

    /// - Throws: ``TableError``.
    func open(_ mode: Mode) throws -> DatabaseQueue {
        try TableError.of(url) {
            if let layout = layouts.first(where: \.hasSecrets), options.sealing == nil {
                throw TableError(.keyUnavailable, "\(layout.name) has secret columns, and the store has no sealing.")
            }
            if FileManager.default.fileExists(atPath: url.appendingPathExtension(SealedFile.pathExtension).path) {
                throw TableError(.keyUnavailable, "\(url.lastPathComponent) is sealed: AccountFiles opens it.")
            }
            let folder = url.deletingLastPathComponent()
            if try StorageFolder.prepare(folder) { try protect([folder]) }
            let queue = try SQLiteFile.open(
                at: url, waitsForDrive: options.survivesPowerLoss,
                overwritesRemovedBytes: layouts.contains(where: \.hasSecrets),
                busyTimeout: options.lockTimeout / .seconds(1), observesSuspension: options.isShared,
                inspect: { if mode == .current { try inspect($0) } },
                // SQLite then also fires the delete triggers of a row that REPLACE removes.
                prepare: { try $0.execute(sql: "PRAGMA recursive_triggers = ON") })
            do {
                if mode == .current { try migrate(queue) }
                try protect(StorageFolder.files(of: url))
                try files.prepare(for: layouts, follower?.heldFiles, queue, isReadOnly: mode == .readOnly)
                return queue
            } catch {
                try? queue.close()
                throw error
            }
        }
    }

    private func protect(_ urls: [URL]) throws { try StorageFolder.protect(urls, isBackedUp: options.isBackedUp) }

    private func migrate(_ queue: DatabaseQueue) throws {
        // Takes the lock of writers only if the file needs it.
        if try !queue.read({ try StepLog.exists(in: $0) }) { try queue.writeMakingRoom { try begin($0) } }
        let taken = try queue.read { try StepLog.entries(in: $0).count }
        if options.rehearsesMigrations, taken < migrations.steps.count { try migrations.rehearse(for: queue) }
        let isMigrated = try queue.read { try StepLog.entries(in: $0).count } == migrations.steps.count
        if !isMigrated, let follower { try queue.writeMakingRoom { try follower.willMigrate($0) } }
        try Migrator(queue: queue, migrations: migrations, follower: follower, report: options.reportProgress).migrate()
        try queue.read { try compare($0) }
        if let follower { try queue.writeMakingRoom { try follower.prepare($0) } }
    }

    /// Creates the tables of a new file, or takes over the file of another library.
    private func begin(_ database: Database) throws {
        // Another process may have created the tables before, and GRDB's schema cache does not notice it.
        database.clearSchemaCache()
        if try StepLog.exists(in: database) { return }
        let isNew = try isNew(database)
        if isNew {
            for layout in layouts { try layout.create(in: database) }
        } else if let adopting = options.adopting {
            try database.execute(sql: adopting.prepare)
            // An error undoes the preparation, so that another one can follow.
            if migrations.steps.isEmpty { try compare(database) }
        }
        try StepLog.create(in: database)
        guard isNew else { return }
        for (index, step) in migrations.steps.enumerated() {
            try StepLog.appendTaken(step, number: index + 1, to: database)
        }
    }

    /// Throws an error for a file without steps that can't be used: it has to stay as it is.
    private func inspect(_ database: Database) throws {
        // In this order: another process creates tables and steps in one transaction, perhaps between the two reads.
        if try isEmpty(database) || StepLog.exists(in: database) { return }
        if try isNew(database) || !migrations.steps.isEmpty { return }
        if options.adopting?.prepare.isEmpty ?? false { try compare(database) }
    }

    /// Compares the tables of the file with the declarations.
    private func compare(_ database: Database) throws {
        let differences = try layouts.flatMap { try $0.differences(in: database, isLenient: options.adopting != nil) }
        if differences.isEmpty { return }
        throw TableError(.differentSchema, "\(url.lastPathComponent): \(differences.joined(separator: " "))")
    }

    private func isEmpty(_ database: Database) throws -> Bool {
        try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM sqlite_master") == 0
    }

    /// Whether a file without steps has no table at all.
    ///
    /// - Throws: ``TableError`` if it is the file of another library, and not one that is adopted.
    private func isNew(_ database: Database) throws -> Bool {
        if try isEmpty(database) { return true }
        guard let adopting = options.adopting else {
            throw TableError(
                .differentSchema, "\(url.lastPathComponent) was made by another library, and is not adopted.")
        }
        let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        guard adopting.userVersions.contains(version) else {
            throw TableError(.newerSchema, "\(url.lastPathComponent) has the unknown version \(version).")
        }
        return false
    }
}
