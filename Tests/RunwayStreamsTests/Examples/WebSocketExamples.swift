import Runway
import RunwayStreams
import RunwayTesting

// The examples in the documentation of WebSockets, line by line. They are compiled and not run.

private enum Messages: APIService {
    static let environments: [ServiceEnvironment: String] = [.release: "https://chat.example"]
}

private final class MessageRows {
    func append(_ message: WebSocketMessage) {}
}

private enum PageExample {
    struct Chat: Endpoint {
        static let service = Messages.self
        var path: EndpointPath { "rooms/\(room)" }
        var room: String
    }

    @MainActor final class ChatController: WebSocketChannelDelegate {
        lazy var chat = WebSocketChannel(Chat(room: "swift"), on: network, delegate: self)

        func appear() { chat.start() }
        func disappear() { chat.stop() }

        func webSocket(_ channel: any WebSocketChanneling, didReceive message: WebSocketMessage) { log.append(message) }
        func webSocket(_ channel: any WebSocketChanneling, didConnect link: WebSocketLink) {
            if link.number > 1 { reload() }  // messages in between may be missing
        }
        func webSocket(_ channel: any WebSocketChanneling, didEndWith error: NetworkError?) {}
    }
}

private enum CloseExample {
    @MainActor final class ChatController: WebSocketChannelDelegate {
        func webSocket(_ channel: any WebSocketChanneling, didReceive message: WebSocketMessage) {}
        func webSocket(_ channel: any WebSocketChanneling, didConnect link: WebSocketLink) {}
        func webSocket(_ channel: any WebSocketChanneling, didEndWith error: NetworkError?) {
            let frame = error?.underlying as? WebSocketCloseFrame
            if frame?.code == WebSocketCloseCode(4401) { showPlans(frame?.reason) }
        }
        func showPlans(_ reason: String?) {}
    }
}

extension PageExample.ChatController {
    fileprivate var log: MessageRows { MessageRows() }
    fileprivate var network: NetworkLayer { NetworkLayer(transport: StubTransport { _ in .json("{}") }) }
    fileprivate func reload() {}
}

private typealias Chat = PageExample.Chat

private enum CommentExample {
    @MainActor final class ChatController: WebSocketChannelDelegate {
        lazy var chat = WebSocketChannel(Chat(room: "swift"), on: network, delegate: self)
        func appear() { chat.start() }
        func webSocket(_ channel: any WebSocketChanneling, didReceive message: WebSocketMessage) { log.append(message) }
        func webSocket(_ channel: any WebSocketChanneling, didConnect link: WebSocketLink) {
            if link.number > 1 { reload() }
        }
        func webSocket(_ channel: any WebSocketChanneling, didEndWith error: NetworkError?) {}
    }
}

extension CommentExample.ChatController {
    fileprivate var log: MessageRows { MessageRows() }
    fileprivate var network: NetworkLayer { NetworkLayer(transport: StubTransport { _ in .json("{}") }) }
    fileprivate func reload() {}
}

private func talk(on network: NetworkLayer) async throws {
    let chat = network.webSocket(Chat(room: "swift"))
    for try await element in chat {
        switch element {
        case .connected: try await chat.send(.text("hello"))
        case .message(let message): print(message)
        }
    }
}
