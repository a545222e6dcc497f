import Foundation
import RunwayServer
import RunwayServerStorage

#if PostgreSQL
    import RunwayPostgreSQL
#endif

/// The place where `runway serve --log` stores action logs, and where `runway log` reads them: a SQLite file, or a
/// PostgreSQL database.
enum LogPlace: Equatable {
    case file(String)
    case postgres(String)

    /// Parses a path or a URL.
    init(_ text: String) {
        let isURL = text.hasPrefix("postgres://") || text.hasPrefix("postgresql://")
        self = isURL ? .postgres(text) : .file(text)
    }

    /// Opens a sink that stores action logs at this place. `close` stores the waiting batches, and closes the sink.
    ///
    /// - Throws: ``CommandFailure`` if the sink can't be opened.
    func open() async throws(CommandFailure) -> (sink: any ActionLogErasing, close: @Sendable () async throws -> Void) {
        switch self {
        case .file(let path):
            do {
                let sink = try SQLiteActionLogSink(at: URL(fileURLWithPath: path))
                return (sink, { try await sink.close() })
            } catch {
                throw CommandFailure("The log can't be opened. \(error)")
            }
        case .postgres(let url):
            #if PostgreSQL
                do {
                    let sink = try await PostgreSQLActionLogSink(at: url)
                    return (sink, { await sink.close() })
                } catch {
                    throw CommandFailure("The log can't be opened. \(error)")
                }
            #else
                throw Self.withoutPostgreSQL(url)
            #endif
        }
    }

    /// Returns the number of stored records for each installation of the app and each name of a record.
    ///
    /// - Throws: ``CommandFailure`` if the file or the database can't be read.
    func counts() async throws(CommandFailure) -> [(installation: UUID, name: String, count: Int)] {
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

    /// The error does not show the URL, which may contain a password.
    static func withoutPostgreSQL(_ url: String) -> CommandFailure {
        CommandFailure("This program was built without PostgreSQL: build it with the package trait PostgreSQL.")
    }
}
