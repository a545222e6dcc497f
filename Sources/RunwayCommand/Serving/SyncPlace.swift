import Foundation
import RunwayServer
import RunwayServerStorage

#if PostgreSQL
    import RunwayPostgreSQL
#endif

/// The place where `runway serve --sync` stores spaces, and where `runway sync` administers them: a SQLite file, or a
/// PostgreSQL database.
struct SyncPlace {
    /// A store that is in use.
    struct Opened {
        let store: SyncStore
        /// The events of the server: shared by all server processes of a PostgreSQL database.
        let events: any EventLog
        let close: @Sendable () async throws -> Void
    }

    private let place: LogPlace

    /// Parses a path or a URL.
    init(_ text: String) { place = LogPlace(text) }

    /// Opens the place to write it. A file is created if it does not exist, unless `mustExist` is `true`.
    ///
    /// - Throws: ``CommandFailure`` if the place can't be opened.
    func open(mustExist: Bool = false) async throws(CommandFailure) -> Opened {
        switch place {
        case .file(let path):
            if mustExist, !FileManager.default.fileExists(atPath: path) {
                throw CommandFailure("The spaces can't be opened. There is no file \(path).")
            }
            do {
                let store = try SyncStore.sqlite(at: URL(fileURLWithPath: path))
                return Opened(store: store, events: MemoryEventLog(), close: { try await store.close() })
            } catch {
                throw CommandFailure("The spaces can't be opened. \(error)")
            }
        case .postgres(let url): return try await mustExist ? existing(url) : postgres(url)
        }
    }

    /// Opens the place to read it, also while a server uses it.
    ///
    /// - Throws: ``CommandFailure`` if the place can't be opened.
    func openForReading() async throws(CommandFailure) -> Opened {
        switch place {
        case .file(let path):
            let store = SyncStore.sqlite(reading: URL(fileURLWithPath: path))
            return Opened(store: store, events: MemoryEventLog(), close: { try await store.close() })
        case .postgres(let url): return try await existing(url)
        }
    }

    /// Opens a database that a server uses, or has used.
    private func existing(_ url: String) async throws(CommandFailure) -> Opened {
        #if PostgreSQL
            let store = SyncStore.postgreSQL(administering: url)
            do {
                _ = try await store.spaces(upTo: 1)
            } catch let error as PostgreSQLError where error.state == "42P01" {
                throw CommandFailure("The spaces can't be opened. The database has none.")
            } catch {
                throw CommandFailure("The spaces can't be opened. \(error)")
            }
            return Opened(store: store, events: MemoryEventLog(), close: {})
        #else
            throw LogPlace.withoutPostgreSQL(url)
        #endif
    }

    private func postgres(_ url: String) async throws(CommandFailure) -> Opened {
        #if PostgreSQL
            do {
                return Opened(
                    store: try await .postgreSQL(at: url),
                    events: try await PostgreSQLEventLog(at: url, name: "sync"), close: {})
            } catch {
                throw CommandFailure("The spaces can't be opened. \(error)")
            }
        #else
            throw LogPlace.withoutPostgreSQL(url)
        #endif
    }
}
