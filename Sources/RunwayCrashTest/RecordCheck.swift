import Foundation
import RunwayJSON
import RunwayServer
import RunwayServerStorage

#if PostgreSQL
    import RunwayPostgreSQL
#endif

/// Compares the records on the servers with the files of their writers.
struct RecordCheck {
    /// The differences that the check found, one sentence each.
    private(set) var findings: [String] = []
    private var durableCount = 0
    private var storedCount = 0

    /// A sentence with the numbers of compared records.
    var totals: String { "\(durableCount) records acknowledged to their writers, \(storedCount) at the server" }

    init(_ writers: [ClientFiles], in folder: URL, _ postgres: String?) async throws {
        if writers.isEmpty { return }
        // Records are ordered per account of a writer.
        var arrived: [String: [String: [Int]]] = [:]
        var ids: Set<UUID> = []
        for record in try await Self.records(folder, postgres) {
            let properties = try JSONDocument(record.json).root["properties"]
            guard let number = properties["n"].int else {
                findings.append("A record has no number: \(record.id).")
                continue
            }
            if !ids.insert(record.id).inserted { findings.append("The id \(record.id) is stored twice.") }
            arrived[record.name, default: [:]][properties["account"].string ?? "", default: []].append(number)
        }
        for files in writers {
            let numbers = arrived.removeValue(forKey: files.name) ?? [:]
            let durable = Set(try files.numbers(in: files.durable))
            durableCount += durable.count
            storedCount += numbers.values.reduce(0) { $0 + $1.count }
            findings += problems(
                of: files.name, numbers, offered: Set(try files.numbers(in: files.offered)), durable: durable)
        }
        if durableCount == 0 { findings.append("Nothing was recorded.") }
        for name in arrived.keys { findings.append("Nobody recorded \(name).") }
        for line in try ClientFiles.lines(of: ServerFiles(in: folder).foreign) { findings.append(String(line)) }
    }

    private static func records(_ folder: URL, _ postgres: String?) async throws -> [StoredAction] {
        if let postgres {
            #if PostgreSQL
                let sink = try await PostgreSQLActionLogSink(at: postgres)
                let records = try await sink.records(limit: 10_000_000)
                await sink.close()
                return records
            #else
                throw CrashFailure("this program was built without PostgreSQL, so that it can't use \(postgres)")
            #endif
        }
        return try ActionLogFile(at: ServerFiles(in: folder).actions).records(limit: 10_000_000)
    }
}
