import ArgumentParser
import Foundation
import RunwayDemo
import RunwaySyncCore
import RunwayTesting

/// Kills two servers of a space at random moments while devices push to it through either of them. Checks that the log
/// has each acknowledged transaction once, under the number of its verdict, and that the rows are those of the log.
struct SyncCrash: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Kill two servers of a space at random, and check its log and its rows.",
        discussion: """
            EXIT CODES
              0  The log has every transaction once, under the number that its
                 device received, without a gap, and the rows are those of the log.
              1  Something was not so; the output says what.
              2  The test itself failed.
            """)

    @Option(help: "How many devices push.")
    var devices = 8

    @Option(help: "The PostgreSQL database that the servers share.")
    var database: String

    @OptionGroup var killing: KillingOptions<SyncBug>

    func validate() throws {
        guard (1...100).contains(devices) else { throw ValidationError("--devices is from 1 to 100.") }
    }

    func run() async throws { try await killing.run(play) }

    private func play(in _: URL, _ random: inout SeededGenerator) async throws -> [String] {
        let tenant = UUID().uuidString
        var servers: [(process: ChildProcess, port: Int)] = []
        for _ in 0..<2 { servers.append(try await serve(tenant, port: 0)) }
        let client = SpaceClient(ports: servers.map(\.port))
        let (seed, end) = (killing.start, ContinuousClock.now + .seconds(killing.time))
        let pushers = (0..<devices).map { number in
            Task { try await SpacePusher(number, seed: seed).push(through: client, until: end) }
        }
        let (kills, _) = try await killing.kill(every: 100...1_000, &random) { random in
            let index = Int.random(in: 0..<servers.count, using: &random)
            try await servers[index].process.kill()
            servers[index] = try await serve(tenant, port: servers[index].port)
            return []
        }
        var decided: [Identifier: Verdict] = [:]
        var findings: [String] = []
        for pusher in pushers {
            switch await pusher.result {
            case .success(let pushed): decided.merge(pushed) { $1 }
            case .failure(let error): findings.append("A device can't go on: \(error)")
            }
        }
        let (entries, rows) = (try await client.entries(), try await client.rows())
        findings += Self.findings(decided, entries, rows)
        print("seed \(seed): \(kills) kills, \(decided.count) transactions of \(devices) devices, \(rows.count) rows")
        for server in servers { try await server.process.kill() }
        return findings
    }

    private func serve(_ tenant: String, port: Int) async throws -> (process: ChildProcess, port: Int) {
        let server = try ChildProcess(
            ["sync-server", "--port", "\(port)", "--database", database, "--tenant", tenant] + killing.bugArguments)
        return (server, try await server.numbers(count: 1)[0])
    }

    /// Returns the differences between the verdicts that devices received, the log and the rows, one sentence each.
    private static func findings(
        _ decided: [Identifier: Verdict], _ entries: [LogEntry], _ rows: [RowKey: Row]
    ) -> [String] {
        var findings: [String] = []
        if entries.map(\.number) != Array(1...Int64(max(decided.count, 1))) {
            findings.append("The log has \(entries.count) entries, or gaps, for \(decided.count) transactions.")
        }
        var (numbers, replayed) = ([Identifier: Int64](), [RowKey: Row]())
        for entry in entries {
            if numbers.updateValue(entry.number, forKey: entry.transaction) != nil {
                findings.append("\(entry.transaction) is in the log twice.")
            }
            for change in entry.changes { replayed[change.key, default: .absent].apply(change, number: entry.number) }
        }
        for (transaction, verdict) in decided {
            switch verdict {
            case .applied(numbers[transaction] ?? -1): break
            default: findings.append("\(transaction): \(verdict), and number \(numbers[transaction] ?? -1) in the log.")
            }
        }
        if replayed != rows { findings.append("The rows are not those of the log.") }
        return findings
    }
}

/// A device that pushes packets, each until a server decides on it.
private struct SpacePusher {
    private let device: Identifier
    private let name: String
    private var end = ChainEnd()
    private var random: SeededGenerator

    init(_ number: Int, seed: UInt64) {
        random = SeededGenerator(seed: seed &+ UInt64(number) &* 0x9E37_79B9_7F4A_7C15)
        device = Identifier(high: UInt64.random(in: 0 ... .max, using: &random), low: UInt64(number))
        name = "d\(number)"
    }

    /// Returns the verdicts on all pushed transactions.
    ///
    /// - Throws: ``CrashFailure`` if a server responds with anything else than verdicts.
    consuming func push(
        through client: SpaceClient, until time: ContinuousClock.Instant
    ) async throws -> [Identifier: Verdict] {
        var (pusher, decided) = (self, [Identifier: Verdict]())
        repeat {
            let packet = pusher.nextPacket()
            var verdicts: [Verdict]?
            while verdicts == nil {
                switch await client.send(.push(packet)) {
                case .verdicts(let received, _): verdicts = received
                // The server was killed, or the database was busy.
                case nil, .wait: try await Task.sleep(for: .milliseconds(20))
                case let other?: throw CrashFailure("\(pusher.name) received \(other)")
                }
            }
            for (transaction, verdict) in zip(packet.transactions, verdicts ?? []) { decided[transaction.id] = verdict }
        } while ContinuousClock.now < time
        return decided
    }

    private mutating func nextPacket() -> Packet {
        let transactions = (0..<Int.random(in: 1...3, using: &random)).map { _ in
            // All devices write a column of their own in the same few rows, and rows of their own.
            let operations = Set(
                (0..<Int.random(in: 1...4, using: &random)).map { _ in UInt64.random(in: 0...9, using: &random) }
            )
            .sorted().map { number in
                let isShared = number < 5
                let key = RowKey("note", Identifier(high: isShared ? 0 : device.low + 1, low: number))
                let values: Columns<SyncValue> = [name: .integer(end.number), "text": .text("\(name)\u{0}")]
                return Operation(
                    id: Identifier(high: random.next(), low: random.next()),
                    action: .insert(key, life: 1, isShared ? values.filter { name, _ in name != "text" } : values))
            }
            let transaction = Transaction(
                number: end.number + 1, previous: end.operation,
                time: HybridTime(milliseconds: Int64(1_790_000_000_000)),
                basis: Basis(epoch: Identifier(high: 0, low: 0), number: 0), operations: operations)
            end = transaction.end
            return transaction
        }
        return Packet(device: device, transactions: transactions)
    }
}
