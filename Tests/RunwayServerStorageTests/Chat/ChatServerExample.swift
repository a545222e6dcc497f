import Foundation
import Hummingbird
import RunwayServer
import RunwayServerStorage

// The examples in the doc comments of ChatService, ChatRoutes and SQLiteChatStore, line by line. They are compiled and not run.

private struct ChatAccount: Sendable {
    var id: String
    var conversations: Set<String>
}

private struct ChatContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    var account: ChatAccount?

    init(source: ApplicationRequestContextSource) { coreContext = CoreRequestContextStorage(source: source) }
}

private func serveChat(_ router: Router<ChatContext>, events: URL, file: URL) async throws {
    let hub = try await EventHub(name: "chat", log: SQLiteEventLog(file: events))
    let chat = ChatService(store: try SQLiteChatStore(at: file), hub: hub)
    ChatRoutes(chat) { request, context, conversation in
        guard let account = context.account else { throw HTTPError(.unauthorized) }
        guard account.conversations.contains(conversation) else { throw HTTPError(.notFound) }
        return account.id
    }.add(to: router)
    EventStreamRoute(hub) { request, context in
        guard let account = context.account else { throw HTTPError(.unauthorized) }
        return EventPermission(topics: Set(account.conversations.map(ChatService.topic)), owner: account.id)
    }.add(to: router)
}
