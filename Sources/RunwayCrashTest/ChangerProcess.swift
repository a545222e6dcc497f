import ArgumentParser
import Foundation
import HTTPTypes
import Runway
import RunwayDemo
import RunwayJSON
import RunwayStorage
import RunwayTransport

/// A client that makes changes until it is killed. With `--drain` it sends its stored changes and ends.
struct ChangerProcess: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: ClientFiles.Kind.changer.rawValue, shouldDisplay: false)

    private enum Changes: APIService {
        static let name = "changes"
        static let environments: [ServiceEnvironment: String] = [:]
        static let deadline = Duration.seconds(5)
        static let credentials: (any Credentials)? = CrashCredentials()
        static let authorization = AuthorizationPolicy.ifSignedIn
    }

    private struct Change: Endpoint {
        static let service = Changes.self
        static let method = HTTPRequest.Method.post
        static let offline = OfflinePolicy.queued
        static let retry = RetryPolicy.off
        var path: EndpointPath { "changes" }
        var client: String
        var number: Int
    }

    @Option var files: String
    @Option var url: String
    @Option var bug: PlantedBug?
    @Flag var drain = false

    func run() async throws {
        let files = ClientFiles(folder: URL(fileURLWithPath: files), kind: .changer)
        let wire = try NIOTransport()
        let queue = try queue(files)
        let network = NetworkLayer(
            transport: NotingTransport(base: bug?.transport(over: wire) ?? wire, sent: try AppendedFile(files.sent)),
            limits: LayerLimits(admission: .none, retrying: .none), offlineQueue: bug?.queue(over: queue) ?? queue)
        network.configure(Changes.self) { $0.baseURLs = [.release: url] }
        if drain { return try await sendTheRest(of: queue, network) }
        let (offered, durable) = (try AppendedFile(files.offered), try AppendedFile(files.durable))
        let queued = try AppendedFile(files.queued)
        var number = (try files.numbers(in: files.offered).last ?? 0) + 1
        while true {
            if number.isMultiple(of: 3) { try await changeAccount(network) }
            let numbers = number..<number + Int.random(in: 1...4)
            try offered.append(numbers)
            if bug == .earlyAcknowledgement { try durable.append(numbers) }
            for number in numbers {
                let failure = await network.failure(of: Change(client: files.name, number: number))
                // Any other failure would leave unknown whether the change was made.
                if let failure, failure.kind != .queued { throw failure }
                try (failure == nil ? durable : queued).append(number..<number + 1)
            }
            number = numbers.upperBound
            try await retryUncertain(queue)
            // At most 20 changes wait, so that the queue is empty at times. An empty queue sends new calls at once. The
            // test covers calls that are sent at once, and calls that wait.
            while queue.currentState.waitingCount > 20 {
                try await changeAccount(network)
                try await retryUncertain(queue)
                try await Task.sleep(for: .milliseconds(40))
            }
        }
    }

    private func changeAccount(_ network: NetworkLayer) async throws {
        try await CrashToken.signIn(ClientFiles.accounts.randomElement() ?? nil, to: Changes.self, on: network)
    }

    /// Sends again the changes that the gateway refused, as a user would.
    private func retryUncertain(_ queue: OfflineQueue) async throws {
        guard queue.currentState.undecidedCount > 0 else { return }
        try await queue.retry(Set(try await queue.changes().filter { $0.state == .uncertain }.map(\.id)))
    }

    private func queue(_ files: ClientFiles) throws -> OfflineQueue {
        let (reported, refused) = (try AppendedFile(files.reported), try AppendedFile(files.refused))
        let uncertain = try AppendedFile(files.uncertain)
        var options = OfflineQueueOptions()
        options.gap = .zero
        options.interval = .milliseconds(200)
        options.baseWait = .milliseconds(20)
        options.longestWait = .milliseconds(200)
        return OfflineQueue(
            at: files.database,
            replaying: [
                ReplayedEndpoint(Change.self) { change, result in
                    let number = change.parameters["number"].int ?? 0
                    switch result {
                    case .success: try? reported.append(number..<number + 1)
                    case .failure where change.state == .uncertain: try? uncertain.append(number..<number + 1)
                    case .failure(let error): try? refused.append(line: "\(number) is \(change.state): \(error.detail)")
                    }
                }
            ], options: options)
    }

    private func sendTheRest(of queue: OfflineQueue, _ network: NetworkLayer) async throws {
        for round in 0..<3000 {
            // The queue sends an account's changes while that account is signed in.
            let account = ClientFiles.accounts[round % ClientFiles.accounts.count]
            try await CrashToken.signIn(account, to: Changes.self, on: network)
            try await retryUncertain(queue)
            await queue.flush()
            if try await queue.changes().isEmpty {
                let state = queue.currentState
                guard state.damagedCount == 0, state.unreadableFiles.isEmpty else {
                    throw CrashFailure("the queue lost changes: \(state)")
                }
                return await queue.close()
            }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw CrashFailure("the rest was not sent within a minute")
    }
}
