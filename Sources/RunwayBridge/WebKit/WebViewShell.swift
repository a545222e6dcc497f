#if canImport(WebKit)
    import Foundation
    import Runway
    import WebKit

    /// The bridge's side of one `WKWebView`, which owns it through its configuration. It performs what
    /// ``WebViewDocuments`` decides.
    @MainActor final class WebViewShell: NSObject, WKScriptMessageHandler {
        weak var view: BridgedWebView?
        /// Is called at sign-out, instead of clearing the data and loading the page again, and after a crash, for a
        /// view that shows no page yet.
        var onEnd: (@MainActor () -> Void)?
        private enum Request {
            case reply(PageReply, context: String)
            case reset
        }

        private let world = WKContentWorld.world(name: "runway")
        private var page: BridgedPage?
        private var documents = WebViewDocuments()
        private var frames: [String: WKFrameInfo] = [:]
        private var chunks = ByteChunks()
        private let maximumTransfers: Int
        /// The instant of the newest gesture in the page, until it is used to leave the app.
        private var gesture: Duration?
        /// The page that is loaded again when an empty one has replaced it and its data are cleared.
        private var returning: URL?
        private var blank: WKNavigation?
        /// Clears the data if the empty page has not replaced the other before; `nil` when they are being cleared.
        private var deadline: Task<Void, Never>?
        private let clock: LayerClock
        /// The longest time that a page can delay the clearing of its data.
        static let longestDelay = Duration.seconds(2)

        init(_ bridge: Bridge, _ controller: WKUserContentController) {
            (clock, maximumTransfers) = (bridge.clock, bridge.limits.maximumCallsInFlight)
            super.init()
            // A stream preserves the order of replies. It ends when the bridge's page, which has its continuation, is gone.
            let (requests, continuation) = AsyncStream<Request>.makeStream()
            let shell = BridgedPage.Shell { reply, context in
                continuation.yield(.reply(reply, context: context))
            } reset: {
                continuation.yield(.reset)
            }
            page = BridgedPage(bridge, shell: shell)
            Task { [weak self] in
                for await request in requests {
                    switch request {
                    case .reply(let reply, let context): self?.pass(reply, to: context)
                    case .reset: self?.reset()
                    }
                }
            }
            controller.add(self, contentWorld: world, name: "runwayNative")
            let source = String(decoding: Bridge.script, as: UTF8.self)
            for world in [world, .page] {
                controller.addUserScript(
                    WKUserScript(source: source, injectionTime: .atDocumentStart, forMainFrameOnly: false, in: world))
            }
        }

        // MARK: What WebKit reports

        func userContentController(_ controller: WKUserContentController, didReceive message: WKScriptMessage) {
            // An app that makes a view for a window of the page has to make it with the same configuration.
            guard message.webView === view else { return refusePopup() }
            guard let text = message.body as? String, let parsed = PageMessage(text) else {
                page?.refuse(.malformed, "The message is malformed.")
                return
            }
            let origin = message.frameInfo.securityOrigin
            let port = origin.port == 0 ? "" : ":\(origin.port)"
            let sender = WebViewDocuments.Sender(
                document: parsed.document, origin: "\(origin.protocol)://\(origin.host)\(port)",
                isMainFrame: message.frameInfo.isMainFrame)
            for action in documents.receive(parsed.content, from: sender) {
                perform(action)
                guard action == .receive else { continue }
                frames[sender.context] = message.frameInfo
                if case .gesture = parsed.content, sender.isMainFrame { gesture = clock.now }
                page?.receive(text, from: sender.context)
            }
        }

        func commit(_ navigation: WKNavigation?) {
            for action in documents.commit() { perform(action) }
            gesture = nil
            chunks.removeAll()
            if navigation != nil, navigation === blank { clear() }
        }

        /// A navigation has failed. Data are cleared also if it was the one to the empty page.
        func fail(_ navigation: WKNavigation?) {
            if navigation != nil, navigation === blank { clear() }
        }

        func crash() {
            for action in documents.crash() { perform(action) }
            chunks.removeAll()
            clear()
            onEnd?()
        }

        func refusePopup() { page?.refuse(.popup, "The page tried to open a window.") }

        func refuseLeaving() {
            page?.refuse(.gestureNeeded, "The page tried to open an address of the system, which needs a gesture.")
        }

        /// Returns whether the user has made a gesture in the page less than 1 s ago, which nothing else has used.
        func takeGesture() -> Bool {
            defer { gesture = nil }
            return gesture.map { clock.now - $0 <= .seconds(1) } ?? false
        }

        /// Removes and returns bytes that a call has returned.
        func takeBytes(at path: String) -> Data? { page?.takeBytes(at: path) }

        private func perform(_ action: WebViewDocuments.Action) {
            switch action {
            case .open(let sender):
                page?.open(sender.context, origin: sender.origin, isMainFrame: sender.isMainFrame)
            case .close(let sender):
                page?.close(sender.context)
                frames[sender.context] = nil
            case .receive: break
            }
        }

        // MARK: Replies

        private func pass(_ reply: PageReply, to context: String) {
            guard let frame = frames[context] else { return }
            // The pages of a bundle load bytes under their own origin, see BundleScheme.
            guard reply.kind == .bytes, frame.securityOrigin.protocol != Origin.bundleScheme else {
                return send(reply, to: frame)
            }
            guard let data = page?.takeBytes(at: reply.text) else { return }
            let dropped = chunks.add(data, for: reply, to: context, atMost: maximumTransfers)
            if let dropped, let frame = frames[dropped.context] { send(dropped.reply, to: frame) }
            sendChunks()
        }

        private func sendChunks() {
            guard let sending = chunks.next() else { return }
            guard let frame = frames[sending.context] else { return chunks.removeAll() }
            send(sending.reply, to: frame) { [weak self] wantsMore in
                self?.chunks.taken(sending, wantsMore: wantsMore)
                self?.sendChunks()
            }
        }

        private func send(
            _ reply: PageReply, to frame: WKFrameInfo, taken: (@MainActor @Sendable (_ wantsMore: Bool) -> Void)? = nil
        ) {
            let values: [Any] = [
                reply.document, reply.generation, reply.kind.rawValue, reply.id, reply.errorKind, reply.text,
            ]
            view?.callAsyncJavaScript(
                "return runwayReply(...reply)", arguments: ["reply": values], in: frame, in: world
            ) { result in
                taken?((try? result.get()) as? Bool == true)
            }
        }

        // MARK: Sign-out

        /// Replaces the page by an empty one before its data are cleared, so that its scripts can't write them again.
        private func reset() {
            guard let view, returning == nil else { return }
            if let onEnd {
                let store = view.configuration.websiteDataStore
                Task { await store.removeEverything() }
                return onEnd()
            }
            returning = view.url ?? URL(string: "about:blank")
            blank = view.loadHTMLString("", baseURL: nil)
            let end = clock.now + Self.longestDelay
            deadline = Task { [weak self, clock] in
                guard (try? await clock.sleep(until: end)) != nil else { return }
                self?.clear()
            }
        }

        /// Whether a page is being replaced or its data are being cleared. Meanwhile nothing else is loaded.
        var isClearing: Bool { returning != nil }

        /// Loads an address when the data are cleared, instead of the page that was shown. Returns whether it will.
        func postpone(_ url: URL?) -> Bool {
            guard isClearing else { return false }
            returning = url ?? returning
            return true
        }

        private func clear() {
            guard let view, let deadline else { return }
            deadline.cancel()
            (self.deadline, blank) = (nil, nil)
            Task {
                await view.configuration.websiteDataStore.removeEverything()
                guard let url = returning else { return }
                returning = nil
                view.load(URLRequest(url: url))
            }
        }
    }

    extension WKWebsiteDataStore {
        func removeEverything() async {
            await removeData(ofTypes: Self.allWebsiteDataTypes(), modifiedSince: .distantPast)
        }
    }
#endif
