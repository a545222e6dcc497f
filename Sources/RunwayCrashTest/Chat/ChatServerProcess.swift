import ArgumentParser
import Foundation
import HTTPTypes
import Hummingbird
import RunwayServer

#if PostgreSQL
    import RunwayPostgreSQL
#endif

/// A chat server that prints its port, and runs until it is killed. Several of these processes may share a database.
struct ChatServerProcess: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "chat-server", shouldDisplay: false)

    @Option var port = 0
    @Option var database: String
    /// The name under which this test run stores its data.
    @Option var tenant: String
    @Option var bug: ChatBug?

    /// The time for which a member stays present after its last connection. Servers of one database need equal values.
    static let presenceGrace = Duration.seconds(2)

    func run() async throws {
        #if PostgreSQL
            var options = EventHubOptions()
            options.presenceGrace = bug == .lastingMembers ? .seconds(3600) : Self.presenceGrace
            let hub = try await EventHub(
                name: "chat", log: try await PostgreSQLEventLog(at: database, name: "chat", tenant: tenant),
                options: options)
            let store: any ChatStore =
                bug == .forgottenMessages
                ? MemoryChatStore() : try await PostgreSQLChatStore(at: database, tenant: tenant)
            let chat = ChatService(store: store, hub: hub)
            let router = Router()
            EventStreamRoute(hub) { request, _ in EventPermission(owner: try Self.member(request)) }.add(to: router)
            ChatRoutes(chat) { request, _, _ in try Self.member(request) }.add(to: router)
            try await router.serve(at: port) { port in
                say("\(port)")
                Task { await chat.run() }
            }
        #else
            throw CrashFailure("this program was built without PostgreSQL, so that it can't use \(database)")
        #endif
    }

    private static func member(_ request: Request) throws -> String {
        guard let member = HTTPField.Name("Member").flatMap({ request.headers[$0] }) else {
            throw HTTPError(.unauthorized)
        }
        return member
    }
}

/// A bug that the test adds to the chat servers, to prove that its check finds the bug.
enum ChatBug: String, CaseIterable, ExpressibleByArgument {
    /// Messages are stored only in the memory of each process.
    case forgottenMessages
    /// The members of a killed server stay present for more than an hour.
    case lastingMembers
}
