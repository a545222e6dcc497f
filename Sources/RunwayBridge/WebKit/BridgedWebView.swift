#if canImport(WebKit)
    import Dispatch
    import Foundation
    public import WebKit

    extension Bridge {
        /// Creates a web view whose pages may call the app.
        ///
        /// List the domains of the pages under `WKAppBoundDomains` in the app's `Info.plist`: the view loads no others.
        /// Its `isInspectable` is `false`, and should be `true` in builds for developers only. Bytes of commands pass
        /// as base64, so a page needs `data:` in its `connect-src`.
        ///
        /// - Parameter configuration: The configuration of the view. The bridge adds its script and its message
        ///   handler.
        @MainActor public func makeWebView(
            configuration: WKWebViewConfiguration = WKWebViewConfiguration()
        ) -> WKWebView {
            configuration.limitsNavigationsToAppBoundDomains = true
            let shell = WebViewShell(self, configuration.userContentController)
            let view = WKWebView(frame: .zero, configuration: configuration)
            shell.view = view
            return view
        }
    }

    /// The bridge's side of one `WKWebView`, which owns it through its configuration.
    ///
    /// WebKit names no contexts. The relay's random name of its document stands for one, together with the origin and
    /// the frame that WebKit reports with each message: a message with any other origin belongs to another context.
    @MainActor private final class WebViewShell: NSObject, WKScriptMessageHandler {
        weak var view: WKWebView?
        private let world = WKContentWorld.world(name: "runway")
        private var page: BridgedPage?
        private var frames: [String: WKFrameInfo] = [:]

        init(_ bridge: Bridge, _ controller: WKUserContentController) {
            super.init()
            let shell = BridgedPage.Shell { [weak self] reply, context in
                // A queue preserves the order of replies.
                DispatchQueue.main.async { MainActor.assumeIsolated { self?.pass(reply, to: context) } }
            } reset: { [weak self] in
                DispatchQueue.main.async { MainActor.assumeIsolated { self?.reset() } }
            }
            page = BridgedPage(bridge, shell: shell)
            controller.add(self, contentWorld: world, name: "runwayNative")
            let source = String(decoding: Bridge.script, as: UTF8.self)
            for world in [world, .page] {
                controller.addUserScript(
                    WKUserScript(source: source, injectionTime: .atDocumentStart, forMainFrameOnly: false, in: world))
            }
        }

        func userContentController(_ controller: WKUserContentController, didReceive message: WKScriptMessage) {
            guard let page, let text = message.body as? String, let parsed = PageMessage(text) else { return }
            let origin = message.frameInfo.securityOrigin
            let port = origin.port == 0 ? "" : ":\(origin.port)"
            let name = "\(origin.protocol)://\(origin.host)\(port)"
            let isMainFrame = message.frameInfo.isMainFrame
            let context = "\(parsed.document) \(isMainFrame) \(name)"
            switch parsed.content {
            case .opened, .shown:
                // A new document in the main frame means that the former one is gone, or frozen.
                if isMainFrame {
                    page.closeAll()
                    frames = [:]
                }
                if frames[context] == nil { page.open(context, origin: name, isMainFrame: isMainFrame) }
                frames[context] = message.frameInfo
            default: break
            }
            page.receive(text, from: context)
        }

        private func pass(_ reply: PageReply, to context: String) {
            guard let view, let frame = frames[context] else { return }
            var text = reply.text
            if reply.kind == .bytes {
                guard let data = page?.takeBytes(at: text) else { return }
                text = "data:application/octet-stream;base64,\(data.base64EncodedString())"
            }
            let values: [Any] = [
                reply.document, reply.generation, reply.kind.rawValue, reply.id, reply.errorKind, text,
            ]
            view.callAsyncJavaScript("runwayReply(...reply)", arguments: ["reply": values], in: frame, in: world)
        }

        private func reset() {
            guard let view else { return }
            Task {
                await view.configuration.websiteDataStore.removeData(
                    ofTypes: WKWebsiteDataStore.allWebsiteDataTypes(), modifiedSince: .distantPast)
                view.reloadFromOrigin()
            }
        }
    }
#endif
