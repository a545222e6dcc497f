import Foundation
import RunwayServer
import RunwayServerStorage

#if PostgreSQL
    import RunwayPostgreSQL
#endif

/// The place where `runway serve --log` stores action logs, and `runway log` finds them: a SQLite file, or a PostgreSQL
/// database.
enum LogPlace: Equatable {
    case file(String)
    case postgres(String)

    /// A sink, and the function that ends it.
    struct Sink: ActionLogErasing {
        let base: any ActionLogErasing
        /// Stores the waiting records, and closes the sink.
        let close: @Sendable () async throws -> Void

        func store(_ batch: ActionLogBatch) async throws -> ActionLogStorage { try await base.store(batch) }
        func erase(account: String) async throws { try await base.erase(account: account) }
        func erase(anonymousRecordsOf installation: UUID) async throws {
            try await base.erase(anonymousRecordsOf: installation)
        }
    }

    /// Reads a path or a URL.
    init(_ text: String) {
        let isURL = text.hasPrefix("postgres://") || text.hasPrefix("postgresql://")
        self = isURL ? .postgres(text) : .file(text)
    }

    /// Opens a sink that writes there.
    ///
    /// - Throws: ``CommandFailure``.
    func open() async throws(CommandFailure) -> Sink {
        switch self {
        case .file(let path):
            do {
                let sink = try SQLiteActionLogSink(at: URL(fileURLWithPath: path))
                return Sink(base: sink) { try await sink.close() }
            } catch {
                throw CommandFailure("The log can't be opened. \(error)")
            }
        case .postgres(let url):
            #if PostgreSQL
                do {
                    let sink = try await PostgreSQLActionLogSink(at: url)
                    return Sink(base: sink) { await sink.close() }
                } catch {
                    throw CommandFailure("The log can't be opened. \(error)")
                }
            #else
                throw Self.withoutPostgreSQL(url)
            #endif
        }
    }

    /// The number of records by installation and name.
    ///
    /// - Throws: ``CommandFailure``.
    func counts() async throws(CommandFailure) -> [ActionLogCount] {
        switch self {
        case .file(let path):
            do {
                return try ActionLogFile(at: URL(fileURLWithPath: path)).counts()
            } catch {
                throw CommandFailure("The log can't be read. \(error)")
            }
        case .postgres(let url):
            #if PostgreSQL
                do {
                    return try await PostgreSQLActionLogSink.counts(at: url)
                } catch let error as PostgreSQLError where error.state == "42P01" {
                    throw CommandFailure("The log can't be read. The database has no action log.")
                } catch {
                    throw CommandFailure("The log can't be read. \(error)")
                }
            #else
                throw Self.withoutPostgreSQL(url)
            #endif
        }
    }

    /// The URL itself may hold a password.
    static func withoutPostgreSQL(_ url: String) -> CommandFailure {
        CommandFailure("This program was built without PostgreSQL: build it with the package trait PostgreSQL.")
    }
}
