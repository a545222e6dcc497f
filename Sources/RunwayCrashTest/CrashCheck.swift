import Foundation
import RunwayJSON
import RunwayServer
import RunwayServerStorage

#if PostgreSQL
    import RunwayPostgreSQL
#endif

/// Compares what a server has with what its writers know.
struct CrashCheck {
    /// What is wrong, each in one sentence.
    private(set) var findings: [String] = []
    private var durableCount = 0
    private var storedCount = 0

    /// How much was compared.
    var totals: String { "\(durableCount) records acknowledged to their writers, \(storedCount) at the server" }

    init(folder: URL, writerCount: Int, postgres: String?) async throws {
        var arrived: [String: [Int]] = [:]
        var ids: Set<UUID> = []
        for record in try await Self.records(folder, postgres) {
            guard let number = try JSONDocument(record.json).root["properties"]["n"].int else {
                findings.append("A record has no number: \(record.id).")
                continue
            }
            if !ids.insert(record.id).inserted { findings.append("The id \(record.id) is stored twice.") }
            arrived[record.name, default: []].append(number)
        }
        for index in 0..<writerCount {
            let files = CrashRun.writer(index, in: folder)
            let numbers = arrived.removeValue(forKey: files.name) ?? []
            let (offered, durable) = (
                Set(try files.numbers(in: files.offered)), Set(try files.numbers(in: files.durable))
            )
            durableCount += durable.count
            storedCount += numbers.count
            compare(numbers, files.name, offered: offered, durable: durable)
        }
        if durableCount == 0 { findings.append("Nothing was recorded.") }
        for name in arrived.keys { findings.append("Nobody recorded \(name).") }
    }

    private mutating func compare(_ numbers: [Int], _ name: String, offered: Set<Int>, durable: Set<Int>) {
        let stored = Set(numbers)
        if stored.count < numbers.count {
            findings.append("\(name): \(numbers.count - stored.count) are stored twice.")
        }
        let (missing, invented) = (durable.subtracting(stored).sorted(), stored.subtracting(offered).sorted())
        if !missing.isEmpty {
            findings.append("\(name): \(missing.count) were acknowledged and are missing, the first is \(missing[0]).")
        }
        if !invented.isEmpty {
            findings.append("\(name): \(invented.count) were never recorded, such as \(invented[0]).")
        }
        if let place = zip(numbers, numbers.dropFirst()).first(where: { $0 >= $1 }) {
            findings.append("\(name): \(place.1) comes after \(place.0).")
        }
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
        return try ActionLogFile(at: CrashRun.file(in: folder)).records(limit: 10_000_000)
    }
}
