import Foundation
import Runway
import RunwayChat
import RunwayStreams
import RunwayTesting

import struct Runway.EndpointPath

// The examples in the documentation of conversations on a client, line by line. They are compiled and not run.

private struct ChatAccount: Sendable {
    var id: String
}

private enum Listings: APIService {
    static let environments: [ServiceEnvironment: String] = [.release: "https://listings.example"]
}

private struct ChatEvents: EventStreamEndpoint {
    static let service = Listings.self
    var path: EndpointPath { "events" }
    var topics: Set<String>? { [] }
}

@MainActor private func openChat(
    of account: ChatAccount, on network: NetworkLayer, folder: URL, cursors: FileStreamCursorStore
) {
    let chat = ChatClient(
        member: account.id, on: network, stream: ChatEvents(), store: FileChatStateStore(folder: folder),
        cursors: cursors)
    let conversation = chat.conversation("harbour-7")
    chat.start()
    conversation.send("Is it still free?")
}

@MainActor final class ConversationController: ChatConversationDelegate {
    lazy var conversation = chat.conversation("harbour-7", delegate: self)
    func conversationDidChange(_ conversation: ChatConversation) { list.show(conversation.entries) }
    func sendTapped() { _ = conversation.send(field.text) }
}

extension ConversationController {
    private var chat: ChatClient<ChatEvents> {
        let network = NetworkLayer(transport: StubTransport { _ in .json("{}") })
        return ChatClient(member: "ada", on: network, stream: ChatEvents())
    }
    private var list: ConversationRows { ConversationRows() }
    private var field: (text: String, isEnabled: Bool) { ("Hello", true) }
}

private final class ConversationRows {
    func show(_ entries: [ChatEntry]) {}
}
