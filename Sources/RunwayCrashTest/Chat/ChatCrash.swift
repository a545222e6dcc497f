import ArgumentParser
import Foundation
import Runway
import RunwayChat
import RunwayDemo
import RunwayStreams
import RunwayTesting
import RunwayTransport

/// Kills two servers of a conversation at random moments while two members write, each through a different server.
/// Checks that both members see every message once, and in the same order.
///
/// Then kills one server for good, and checks which of its members stay present.
struct ChatCrash: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "chat",
        abstract: "Kill two servers of a conversation at random, and check that both members see every message once.",
        discussion: """
            EXIT CODES
              0  Both members have every message once and in the same order, and
                 those of each member in the order in which they were written.
                 Of the members of the server that was killed last, the one that
                 connected to the other server stayed present, and the other one
                 left in time.
              1  Something was not so; the output says what.
              2  The test itself failed.
            """)

    @Option(help: "The PostgreSQL database that the servers share.")
    var database: String

    @OptionGroup var killing: KillingOptions<ChatBug>

    func run() async throws { try await reporting { try await Self.play(at: database, killing) } }

    @MainActor private static func play(
        at database: String, _ killing: KillingOptions<ChatBug>
    ) async throws -> [String] {
        var random = SeededGenerator(seed: killing.start)
        let transport = try NIOTransport()
        let tenant = UUID().uuidString
        var servers: [ChatServer] = []
        var writers: [ChatWriter] = []
        for name in ["ada", "bob"] {
            let server = try await serve(tenant, in: database, killing, port: 0)
            servers.append(server)
            writers.append(ChatWriter(name, over: transport, port: server.port))
        }
        try await waitUntil("both members are connected") { writers.allSatisfy { $0.isLive } }
        let end = ContinuousClock.now + .seconds(killing.time)
        var kills = 0
        while ContinuousClock.now < end {
            for writer in writers { writer.write() }
            // A short run has at least one kill.
            if kills == 0 || Int.random(in: 0..<3, using: &random) == 0 {
                let index = Int.random(in: 0..<servers.count, using: &random)
                try await servers[index].process.kill()
                kills += 1
                servers[index] = try await serve(tenant, in: database, killing, port: servers[index].port)
            }
            try await Task.sleep(for: .milliseconds(Int.random(in: 10...500, using: &random)))
        }
        // With a planted bug, lost messages never arrive, so the wait is short.
        try? await waitUntil("all messages", within: .seconds(killing.bug == .forgottenMessages ? 5 : 300)) {
            writers.allSatisfy { $0.findings(of: writers).isEmpty }
        }
        var findings = writers.flatMap { $0.findings(of: writers) }
        if writers[0].ids != writers[1].ids { findings.append("the members see other messages, or another order.") }
        print("seed \(killing.start): \(kills) kills, \(writers[0].ids.count) messages, \(servers.count) servers")
        if findings.isEmpty {
            let killed = servers.removeFirst()
            findings = try await presenceFindings(of: writers, losing: killed, for: servers[0], over: transport)
        }
        for writer in writers { writer.stop() }
        await transport.shutdown(waitingAtMost: .zero)
        for server in servers { try await server.process.kill() }
        return findings
    }

    private typealias ChatServer = (process: ChildProcess, port: Int)

    /// The maximum time for which the members of a killed server stay present. It is the sum of the grace period, 20 s
    /// in which their lease ends and is removed, and 10 s for a busy machine.
    private static let maximumPresence = ChatServerProcess.presenceGrace + .seconds(30)

    /// Kills a server with two members: the first writer, who connects to the other server, and a member "eve", who
    /// does not connect again. Returns the differences from the expected presence.
    @MainActor private static func presenceFindings(
        of writers: [ChatWriter], losing killed: ChatServer, for server: ChatServer, over transport: NIOTransport
    ) async throws -> [String] {
        let eve = ChatWriter("eve", over: transport, port: killed.port)
        try await waitUntil("all members are present") {
            (writers + [eve]).allSatisfy { $0.present == ["ada", "bob", "eve"] }
        }
        let seenBefore = writers[1].seen.count
        try await killed.process.kill()
        eve.stop()
        writers[0].connect(to: server.port)
        // The check below reports a member that stays present.
        try? await waitUntil("eve has left", within: maximumPresence) {
            writers.allSatisfy { $0.present == ["ada", "bob"] }
        }
        var findings: [String] = []
        if writers[0].present != ["ada", "bob"] {
            findings.append("ada, who has moved, sees \(writers[0].present) and not that eve alone has left.")
        }
        let seen = writers[1].seen[seenBefore...]
        if seen != [["ada", "bob"]] {
            findings.append("bob, whose server was not killed, saw \(seen) and not that eve alone has left.")
        }
        return findings
    }

    @MainActor private static func serve(
        _ tenant: String, in database: String, _ killing: KillingOptions<ChatBug>, port: Int
    ) async throws -> ChatServer {
        let server = try ChildProcess(
            ["chat-server", "--port", "\(port)", "--database", database, "--tenant", tenant] + killing.bugArguments)
        return (server, try await server.numbers(count: 1)[0])
    }
}

private enum Chats: APIService {
    static let name = "chats"
    static let environments: [ServiceEnvironment: String] = [:]
    static let deadline = Duration.seconds(30)
}

private struct ChatEvents: EventStreamEndpoint {
    static let service = Chats.self
    var path: Runway.EndpointPath { "events" }
    var topics: Set<String>? { [] }
    func encode(to encoder: any Encoder) {}
}

/// A member who writes numbered messages through one server.
@MainActor private final class ChatWriter: ChatConversationDelegate {
    private let name: String
    private let network: NetworkLayer
    private let client: ChatClient<ChatEvents>
    private let conversation: ChatConversation
    private var count = 0
    /// The lists of present members, recorded after every change.
    private(set) var seen: [[String]] = []

    init(_ name: String, over transport: NIOTransport, port: Int) {
        self.name = name
        network = NetworkLayer(transport: transport, limits: LayerLimits(admission: .none, retrying: .none))
        network.configure(Chats.self) { $0.commonHeaders = ["Member": name] }
        var (options, reconnection) = (ChatOptions(), StreamOptions())
        // The limit is high enough for all messages of the test.
        options.maximumMessageCount = 1_000_000
        reconnection.backoff = .milliseconds(50)
        reconnection.maximumBackoff = .milliseconds(500)
        client = ChatClient(
            member: name, on: network, stream: ChatEvents(), options: options, streamOptions: reconnection)
        conversation = client.conversation("harbour")
        conversation.delegate = self
        connect(to: port)
        client.start()
    }

    func conversationDidChange(_ conversation: ChatConversation) {
        if present != seen.last { seen.append(present) }
    }

    func connect(to port: Int) {
        network.configure(Chats.self) { $0.baseURLs = [.release: "http://127.0.0.1:\(port)"] }
    }

    var present: [String] { conversation.present }
    var isLive: Bool { conversation.isLive }
    var ids: [ChatEntry.ID] { conversation.entries.map { $0.id } }

    func write() { if conversation.send("\(name) \(count + 1)") != nil { count += 1 } }

    func stop() { client.stop() }

    /// Returns the differences on the screen, one sentence each.
    func findings(of writers: [ChatWriter]) -> [String] {
        let entries = conversation.entries
        var findings: [String] = []
        if entries.compactMap({ $0.number }) != (0..<entries.count).map({ Int64($0) + 1 }) {
            findings.append("\(name): a message has no number, or a number is missing.")
        }
        for writer in writers {
            let texts = entries.filter { $0.sender == writer.name }.map { $0.text }
            if texts != (0..<writer.count).map({ "\(writer.name) \($0 + 1)" }) {
                findings.append(
                    "\(name): the messages of \(writer.name) are not those that were written, in their order.")
            }
        }
        return findings
    }
}
