import Foundation
public import HTTPTypes
public import Runway
import RunwayFormats
import RunwayJSON
import RunwayStreams

/// Sends a message to a conversation.
///
/// To send messages that were written offline, pass this type as a replayable endpoint to `OfflineQueue` of
/// `RunwayStorage`. The queue stores a call that can't reach the server, and sends it later. The server recognises a
/// message by its id, and stores a message that arrives twice only once.
public struct ChatSend<Service: APIService>: Endpoint {
    /// The service that serves the conversation.
    public static var service: Service.Type { Service.self }
    /// The name of the endpoint, `ChatSend`. The offline queue stores it with each call.
    public static var name: String { "ChatSend" }
    /// The HTTP method, POST.
    public static var method: HTTPRequest.Method { .post }
    /// Lets the offline queue of the layer store calls while the server can't be reached. A layer without a queue
    /// stores none.
    public static var offline: OfflinePolicy { .queued }
    /// Sends an idempotency key with every call.
    public static var sendsIdempotencyKey: Bool { true }

    let base: ChatPath
    let draft: ChatDraft

    /// The path to which messages of the conversation are posted.
    public var path: EndpointPath { base.path("messages") }
    /// The parameters of the call: the id and the text of the message.
    public var parameters: Parameters {
        ["id": .string(draft.id.uuidString.lowercased()), "text": .string(draft.text)]
    }

    /// Encodes nothing, since ``parameters`` supplies the parameters.
    public func encode(to encoder: any Encoder) {}
}

struct ChatPath: Sendable, Hashable {
    let base: String
    let conversation: String

    func path(_ part: String) -> EndpointPath {
        let name = EndpointPath("\(conversation)").percentEncoded
        return EndpointPath(stringLiteral: "\(base)/\(name)/\(part)")
    }
}

struct ChatPageCall<Service: APIService>: Endpoint {
    static var service: Service.Type { Service.self }
    static var name: String { "ChatPage" }

    let base: ChatPath
    let range: ChatRange
    let count: Int

    var path: EndpointPath { base.path("messages") }
    var parameters: Parameters {
        var parameters: Parameters = ["limit": .string("\(count)")]
        switch range {
        case .latest: break
        case .after(let number): parameters.append("after", .string("\(number)"))
        case .before(let number): parameters.append("before", .string("\(number)"))
        }
        return parameters
    }

    func encode(to encoder: any Encoder) {}
}

/// Reports how far the member has received and read the messages of a conversation.
///
/// The mark of a member holds the number of the last message that the member has received, and the number of the last
/// one that the member has read. The call may be repeated, since the server never moves a mark back.
struct ChatMarkCall<Service: APIService>: Endpoint {
    static var service: Service.Type { Service.self }
    static var name: String { "ChatMark" }
    static var method: HTTPRequest.Method { .post }

    let base: ChatPath
    let mark: ChatMark

    var path: EndpointPath { base.path("marks") }
    var parameters: Parameters {
        ["delivered": .integer(mark.delivered), "read": .integer(mark.read)]
    }

    func encode(to encoder: any Encoder) {}
}

protocol ChatCalls: Sendable {
    func page(_ conversation: String, _ range: ChatRange, upTo count: Int) async throws(NetworkError) -> ChatPage
    func send(_ conversation: String, _ draft: ChatDraft) async throws(NetworkError) -> ChatMessage
    func mark(_ conversation: String, _ mark: ChatMark) async throws(NetworkError) -> ChatMark
}

/// Makes the calls of conversations over a layer, for one account only.
struct NetworkChatCalls<Service: APIService>: ChatCalls {
    let network: NetworkLayer
    let base: String
    /// The account for which calls are made: the one that is signed in when the conversations are opened, or else the
    /// first that signs in later.
    let account: StreamAccount

    init(network: NetworkLayer, base: String) {
        (self.network, self.base) = (network, base)
        account = StreamAccount("conversations", of: Service.self, on: network, isBoundLater: true)
    }

    @concurrent func page(
        _ conversation: String, _ range: ChatRange, upTo count: Int
    ) async throws(NetworkError) -> ChatPage {
        let call = ChatPageCall<Service>(base: path(conversation), range: range, count: count)
        return try read(try await perform(call)) { ChatPage($0) }
    }

    @concurrent func send(_ conversation: String, _ draft: ChatDraft) async throws(NetworkError) -> ChatMessage {
        let call = ChatSend<Service>(base: path(conversation), draft: draft)
        return try read(try await perform(call)) { ChatMessage($0) }
    }

    @concurrent func mark(_ conversation: String, _ mark: ChatMark) async throws(NetworkError) -> ChatMark {
        let call = ChatMarkCall<Service>(base: path(conversation), mark: mark)
        return try read(try await perform(call)) { ChatMark($0) }
    }

    private func perform<Call: Endpoint>(_ call: Call) async throws(NetworkError) -> RawData {
        try account.check()
        return try await network.call(call)
    }

    private func path(_ conversation: String) -> ChatPath { ChatPath(base: base, conversation: conversation) }

    private func read<Value>(_ rawData: RawData, _ read: (JSONValue) -> Value?) throws(NetworkError) -> Value {
        guard let value = read(rawData.json) else {
            throw NetworkError(
                .invalidResponse, in: .reforming, "The response is not what a server of conversations sends.")
        }
        return value
    }
}

extension ChatMachine {
    /// The reason why a page could not be fetched, a message could not be sent, or the member's mark could not be
    /// moved.
    enum Failure: Sendable, Hashable {
        /// The offline queue stored the call.
        case queued
        /// The server refused the call, for the associated reason.
        case refused(String)
        /// The call failed, and a repeated call may succeed. The server did not receive the call, or stored nothing.
        case notSent
        /// The call failed, and a repeated call may succeed. The server may have received the call.
        case transient

        /// Creates the reason from the error of a call that sends a message or moves the member's mark.
        init(_ error: NetworkError) {
            let outlook = error.outlook
            if error.kind == .queued {
                self = .queued
            } else if outlook.isFinal || outlook.obstacle == .app {
                self = .refused(error.chatReason)
            } else {
                self = outlook.mayHaveTakenEffect ? .transient : .notSent
            }
        }

        /// Creates the reason from the error of a call that gets a page. Status 403 means that the member may not read
        /// the conversation, and 410 that the conversation does not exist. Status 404 means that one of the two
        /// applies.
        init(ofPage error: NetworkError) {
            let isRefused = error.outlook.isFinal && [.forbidden, .notFound, .gone].contains(error.status)
            self = isRefused ? .refused(error.chatReason) : .transient
        }
    }
}

extension NetworkError {
    /// Creates the error for a layer whose offline queue can't send ``ChatSend``.
    static func sendsAreNotStored(of service: any APIService.Type) -> NetworkError {
        NetworkError(
            .invalidConfiguration, in: .offlineQueue,
            "The conversations can't send messages, since the layer's offline queue does not know how: pass "
                + "ReplayedEndpoint(ChatSend<\(service)>.self) to the queue's initialiser.",
            sending: .notSent)
    }

    /// The reason why a server refused a call: the text of the problem details (RFC 9457 §3.1) if there are any.
    var chatReason: String {
        let problem = rawData?.json
        return problem?["detail"].string ?? problem?["title"].string ?? detail
    }
}
