import Foundation
import RunwayServerStorage

@testable import RunwayServer
@testable import RunwaySyncCore

#if PostgreSQL
    @testable import RunwayPostgreSQL
#endif

/// Measures how many operations a second devices push into one space. They are on the drive when they are acknowledged.
enum PushBenchmark {
    /// Stores a packet of a device.
    private typealias Push = @Sendable (Packet) async throws -> Void

    private static let length = Duration.seconds(2)

    static func run(in folder: URL) async throws {
        let store = try SyncStore.sqlite(at: folder.appending(path: "store.sqlite"))
        let naive = try NaiveSQLiteServer(at: folder.appending(path: "naive.sqlite"))
        try await measure("SQLite", { push(to: store) }) {
            let space = UUID().uuidString
            return { try await naive.push($0, in: space) }
        }
        try await store.close()
        #if PostgreSQL
            let url = ProcessInfo.processInfo.environment["RUNWAY_POSTGRESQL"] ?? ""
            let database = try await SyncStore.postgreSQL(at: url, tenant: UUID().uuidString)
            let other = try await NaivePostgreSQLServer(at: url)
            try await measure("PostgreSQL", { push(to: database) }) {
                let space = UUID().uuidString
                return { try await other.push($0, in: space) }
            }
        #endif
    }

    private static func push(to store: SyncStore) -> Push {
        let (service, space) = (SyncService(store: store) { _, _, _ in true }, Identifier(UUID()))
        return { packet in
            let response = try await service.respond(
                to: .push(packet), in: space, as: "ada", byteCount: 300 * packet.transactions.count)
            guard case .verdicts = response else { preconditionFailure("\(response)") }
        }
    }

    /// - Parameter makePush: Returns the function that pushes into a new space.
    private static func measure(
        _ name: String, _ makePush: () -> Push, beside makeNaive: () -> Push
    ) async throws {
        for (size, devices) in [(500, 8), (1, 256)] {
            var (ours, theirs): ([Double], [Double]) = ([], [])
            var times: [Double] = []
            for _ in 0..<Figures.rounds {
                let start = Figures.processorTime
                let own = try await rate(makePush(), size, devices)
                times.append((Figures.processorTime - start).inMilliseconds * 1_000 / Double(own.count))
                ours.append(own.rate)
                theirs.append(try await rate(makeNaive(), size, devices).rate)
            }
            Figures.report("\(name): an operation in packets of \(size), of the processors", times, "µs", .none)
            Figures.report(
                "\(name): \(devices) devices push packets of \(size)", ours, "operations/s", .atLeast(5_000),
                beside: .init(name: "a clock for each column", values: theirs))
        }
    }

    private static func rate(
        _ push: @escaping Push, _ size: Int, _ devices: Int
    ) async throws -> (rate: Double, count: Int) {
        let start = ContinuousClock.now
        let count = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<devices {
                group.addTask {
                    var (device, count) = (PushingDevice(), 0)
                    while ContinuousClock.now - start < length {
                        try await push(device.packet(size))
                        count += size
                    }
                    return count
                }
            }
            return try await group.reduce(0, +)
        }
        return (Double(count) / (ContinuousClock.now - start).inSeconds, count)
    }
}
