#if Command
    import Foundation
    import Runway
    import RunwayStorage
    import RunwayChat
    import RunwayStreams
    import RunwayTesting
    import RunwayTransport

    /// The service of a ``ChatTour``. The signed-in account is the member.
    enum ViewingService: APIService {
        static let name = "viewing"
        static let environments: [ServiceEnvironment: String] = [:]
        static let credentials: (any Credentials)? = ViewingCredentials()
        static let deadline = Duration.seconds(60)
    }

    private struct ViewingCredentials: Credentials {
        func refresh(_ token: AccessToken, on network: NetworkLayer) async throws -> AccessToken { token }
    }

    /// The stream that delivers the messages of ``ViewingService``.
    struct ViewingEvents: EventStreamEndpoint {
        static let service = ViewingService.self
        var path: EndpointPath { "events" }
        var topics: Set<String>? { [] }
    }

    /// The app of one member of a conversation.
    @MainActor
    final class ChatApp {
        let status = SettableNetworkStatus(.wifi)
        let conversation: ChatConversation
        private let client: ChatClient<ViewingEvents>
        private let queue: OfflineQueue
        private let transport: NIOTransport

        /// Signs in, and opens a conversation.
        ///
        /// - Parameters:
        ///   - member: The name of the member.
        ///   - conversation: The name of the conversation.
        ///   - url: The base URL of the server.
        ///   - folder: The folder of the app's files.
        /// - Throws: The error of the transport or of the sign-in.
        init(_ member: String, in conversation: String, calling url: String, storingIn folder: URL) async throws {
            transport = try NIOTransport()
            queue = OfflineQueue(
                at: folder.appending(path: "changes/changes.sqlite"),
                replaying: [ReplayedEndpoint(ChatSend<ViewingService>.self)])
            let network = NetworkLayer(name: "chat", transport: transport, offlineQueue: queue, status: status)
            network.configure(ViewingService.self) { $0.baseURLs = [.release: url] }
            try await network.signIn(AccessToken(member, account: member), to: ViewingService.self)
            var reconnection = StreamOptions()
            reconnection.backoff = .milliseconds(100)
            client = ChatClient(
                member: member, on: network, stream: ViewingEvents(), streamOptions: reconnection,
                store: FileChatStateStore(folder: folder.appending(path: "chat")),
                cursors: FileStreamCursorStore(file: folder.appending(path: "chat.cursors")))
            self.conversation = client.conversation(conversation)
            client.start()
        }

        /// The shown messages that the server has stored, one line each.
        var lines: [String] {
            conversation.entries.filter { $0.number != nil }.map { "\($0.sender): \($0.text)" }
        }

        var queuedCount: Int { conversation.entries.count { $0.state == .queued } }

        func end() async {
            client.stop()
            await client.flush()
            await queue.close()
            await transport.shutdown(waitingAtMost: .zero)
        }
    }
#endif
