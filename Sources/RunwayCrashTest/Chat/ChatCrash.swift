import ArgumentParser
import Foundation
import Runway
import RunwayDemo
import RunwayStreams
import RunwayTesting
import RunwayTransport

/// Kills two servers of a conversation at random instants while two members write, each through another server, and checks that both see every
/// message once and in the same order.
struct ChatCrash: AsyncParsableCommand {
    // No option has the name of one of the tool itself, which would take it for its own.
    static let configuration = CommandConfiguration(
        commandName: "chat",
        abstract: "Kill two servers of a conversation at random, and check that both members see every message once.",
        discussion: """
            EXIT CODES
              0  Both members have every message once and in the same order, and
                 those of each member in the order in which they were written.
              1  Something was not so; the output says what.
              2  The test itself failed.
            """)

    @Option(help: "How many seconds the members write and the servers are killed.")
    var time = 15.0

    @Option(help: "Decides when a server is killed.")
    var start = UInt64.random(in: 0...UInt64.max)

    @Option(help: "The PostgreSQL database that the servers share.")
    var database: String

    @Option(help: "A bug that the check must find: \(ChatBug.allCases.map(\.rawValue).joined(separator: ", ")).")
    var bug: ChatBug?

    func validate() throws {
        guard time > 0 else { throw ValidationError("--time is above 0.") }
    }

    func run() async throws {
        let findings: [String]
        do {
            findings = try await Self.play(for: .seconds(time), at: database, with: bug, seed: start)
        } catch {
            FileHandle.standardError.write(Data("The test failed: \(error)\n".utf8))
            throw ExitCode(2)
        }
        for finding in findings.prefix(20) { print(finding) }
        if !findings.isEmpty { throw ExitCode(1) }
    }

    @MainActor private static func play(
        for time: Duration, at database: String, with bug: ChatBug?, seed: UInt64
    ) async throws -> [String] {
        var random = SeededGenerator(seed: seed)
        let transport = try NIOTransport()
        let tenant = UUID().uuidString
        var servers: [ChatServer] = []
        var writers: [ChatWriter] = []
        for name in ["ada", "bob"] {
            let server = try await serve(tenant, in: database, with: bug, port: 0)
            servers.append(server)
            writers.append(ChatWriter(name, over: transport, port: server.port))
        }
        try await waitUntil("both members are connected") { writers.allSatisfy { $0.isLive } }
        let end = ContinuousClock.now + time
        var kills = 0
        while ContinuousClock.now < end {
            for writer in writers { writer.write() }
            // At least once, however short the run is.
            if kills == 0 || Int.random(in: 0..<3, using: &random) == 0 {
                let index = Int.random(in: 0..<servers.count, using: &random)
                try await servers[index].process.kill()
                kills += 1
                servers[index] = try await serve(tenant, in: database, with: bug, port: servers[index].port)
            }
            try await Task.sleep(for: .milliseconds(Int.random(in: 10...500, using: &random)))
        }
        // What a bug loses never comes.
        try? await waitUntil("all messages", within: .seconds(bug == nil ? 300 : 5)) {
            writers.allSatisfy { $0.findings(of: writers).isEmpty }
        }
        var findings = writers.flatMap { $0.findings(of: writers) }
        if writers[0].ids != writers[1].ids { findings.append("the members see other messages, or another order.") }
        print("seed \(seed): \(kills) kills, \(writers[0].ids.count) messages, \(servers.count) servers")
        for writer in writers { writer.stop() }
        await transport.shutdown(.cutting)
        for server in servers { try await server.process.kill() }
        return findings
    }

    private typealias ChatServer = (process: ChildProcess, port: Int)

    @MainActor private static func serve(
        _ tenant: String, in database: String, with bug: ChatBug?, port: Int
    ) async throws -> ChatServer {
        let server = try ChildProcess(
            ["chat-server", "--port", "\(port)", "--database", database, "--tenant", tenant]
                + (bug.map { ["--bug", $0.rawValue] } ?? []))
        guard let bound = await server.nextLine().flatMap({ Int($0) }) else {
            throw CrashFailure("the server did not start")
        }
        return (server, bound)
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

/// A member, who writes numbered messages through one server.
@MainActor private final class ChatWriter {
    private let name: String
    private let client: ChatClient<ChatEvents>
    private let conversation: ChatConversation
    private var count = 0

    init(_ name: String, over transport: NIOTransport, port: Int) {
        self.name = name
        let network = NetworkLayer(transport: transport, limits: LayerLimits(admission: .none, retrying: .none))
        network.configure(Chats.self) {
            $0.baseURLs = [.release: "http://127.0.0.1:\(port)"]
            $0.commonHeaders = ["Member": name]
        }
        var (options, reconnection) = (ChatOptions(), StreamOptions())
        // The screen has all that was written.
        options.maximumMessageCount = 1_000_000
        reconnection.backoff = .milliseconds(50)
        reconnection.maximumBackoff = .milliseconds(500)
        client = ChatClient(
            member: name, on: network, stream: ChatEvents(), options: options, streamOptions: reconnection)
        conversation = client.conversation("harbour")
        client.start()
    }

    var isLive: Bool { conversation.isLive }
    /// What is on the screen.
    var ids: [ChatEntry.ID] { conversation.entries.map { $0.id } }

    func write() { if conversation.send("\(name) \(count + 1)") != nil { count += 1 } }

    func stop() { client.stop() }

    /// What is wrong on the screen, each in one sentence.
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
