import ArgumentParser
import Foundation
import Runway
import RunwayStorage
import RunwayTransport

/// A client that records numbers until it is killed. With `--drain` it sends the remaining records and ends.
struct WriterProcess: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: ClientFiles.Kind.writer.rawValue, shouldDisplay: false)

    private enum Logging: APIService {
        static let name = "logging"
        static let environments: [ServiceEnvironment: String] = [:]
        static let deadline = Duration.seconds(5)
        static let credentials: (any Credentials)? = CrashCredentials()
        static let authorization = AuthorizationPolicy.ifSignedIn
    }

    /// The number of waiting records at which a writer pauses. It is far below the limit of the log.
    private static let maximumWaitingCount = 20_000

    @Option var files: String
    @Option var url: String
    @Option var bug: PlantedBug?
    @Flag var drain = false

    func run() async throws {
        let files = ClientFiles(folder: URL(fileURLWithPath: files), kind: .writer)
        let wire = try NIOTransport()
        let network = NetworkLayer(
            transport: bug?.transport(over: wire) ?? wire,
            limits: LayerLimits(admission: .none, retrying: .none))
        network.configure(Logging.self) { $0.baseURLs = [.release: url] }
        var options = ActionLogOptions()
        options.interval = .milliseconds(50)
        options.gap = .zero
        options.baseWait = .milliseconds(20)
        options.longestWait = .milliseconds(200)
        let log = ActionLog(at: files.database, sendingTo: Logging.self, at: "log", over: network, options: options)
        if drain { return try await sendTheRest(of: log, network) }
        let (offered, durable) = (try AppendedFile(files.offered), try AppendedFile(files.durable))
        var number = (try files.numbers(in: files.offered).last ?? 0) + 1
        var account: String?
        while true {
            // A writer makes records faster than they are sent. Without a pause, a full log would evict acknowledged
            // records.
            while await log.currentState.waitingCount > Self.maximumWaitingCount {
                account = try await signIn(on: network)
                try await Task.sleep(for: .milliseconds(100))
            }
            if number.isMultiple(of: 5) { account = try await signIn(on: network) }
            // The writer waits for the commit of one record while other records are waiting, too.
            let numbers = number..<number + Int.random(in: 1...8)
            try offered.append(numbers)
            let receipts = numbers.map { number in
                var properties: Parameters = ["n": .integer(Int64(number))]
                if let account { properties["account"] = .string(account) }
                return log.record(files.name, properties)
            }
            if bug == .earlyAcknowledgement { try durable.append(numbers) }
            for (receipt, number) in zip(receipts, numbers) {
                try await receipt.committed()
                if bug != .earlyAcknowledgement { try durable.append(number..<number + 1) }
            }
            number = numbers.upperBound
        }
    }

    private func signIn(on network: NetworkLayer) async throws -> String? {
        let account = ClientFiles.accounts.randomElement() ?? nil
        try await CrashToken.signIn(account, to: Logging.self, on: network)
        return account
    }

    private func sendTheRest(of log: ActionLog, _ network: NetworkLayer) async throws {
        for round in 0..<3000 {
            // The log sends an account's records while that account is signed in.
            let account = ClientFiles.accounts[round % ClientFiles.accounts.count]
            try await CrashToken.signIn(account, to: Logging.self, on: network)
            await log.flush()
            let state = await log.currentState
            if state.waitingCount == 0, state.bufferedCount == 0, state.problem == nil {
                guard state.lost.isEmpty, state.setAsideCount == 0, state.unreadableFiles.isEmpty else {
                    throw CrashFailure("the log lost records: \(state)")
                }
                return await log.close()
            }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw CrashFailure("the rest was not sent within a minute")
    }
}
