/// Decides which contexts of a `WKWebView` exist, since WebKit reports no contexts. Pure.
///
/// The relay's random name of its document stands for a context, together with the origin and the frame that WebKit
/// reports with each message. A document of the main frame begins only after a navigation was committed, so that a late
/// message of the one before does not begin it again.
struct WebViewDocuments {
    /// A sender of messages, as WebKit reports it.
    struct Sender: Hashable {
        /// The name in the message.
        let document: String
        /// The origin of the frame.
        let origin: String
        let isMainFrame: Bool

        /// The name of the context, for ``BridgedPage``.
        var context: String { "\(document) \(isMainFrame) \(origin)" }
    }

    enum Action: Equatable {
        case open(Sender)
        case close(Sender)
        /// The message is passed on, and its sender receives the replies.
        case receive
    }

    /// The greatest number of child frames whose refusals are counted at a time. A page can make frames without bound.
    static let maximumChildren = 16

    private var main: Sender?
    /// The child frames that have sent messages, in the order of their last messages, oldest first.
    private var children: [Sender] = []
    /// Whether the next document of the main frame may open: the first one, and the first one after each commit.
    private var awaitsDocument = true

    /// Decides about a message. Nothing is done for one of a document that is gone.
    mutating func receive(_ content: PageMessage.Content, from sender: Sender) -> [Action] {
        guard sender.isMainFrame else { return receive(from: sender) }
        if sender == main { return [.receive] }
        switch content {
        case .opened, .shown:
            guard awaitsDocument else { return [] }
            awaitsDocument = false
            defer { main = sender }
            return end() + [.open(sender), .receive]
        default: return []
        }
    }

    /// Calls of child frames are refused, so it is enough to know the last ones.
    private mutating func receive(from child: Sender) -> [Action] {
        guard main != nil else { return [] }
        if let index = children.firstIndex(of: child) {
            children.append(children.remove(at: index))
            return [.receive]
        }
        children.append(child)
        let gone = children.count > Self.maximumChildren ? [Action.close(children.removeFirst())] : []
        return gone + [.open(child), .receive]
    }

    /// Handles that the main frame shows a new document, or one from the back/forward cache.
    mutating func commit() -> [Action] {
        awaitsDocument = true
        return end()
    }

    /// The process of the page has ended. Messages that it had sent before may still arrive.
    mutating func crash() -> [Action] {
        awaitsDocument = false
        return end()
    }

    private mutating func end() -> [Action] {
        defer { (main, children) = (nil, []) }
        return ([main].compactMap(\.self) + children).map { .close($0) }
    }
}
