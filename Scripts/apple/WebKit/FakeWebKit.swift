public import AppleFoundation
import ObjectiveC

// What a test makes WebKit do.

extension WKNavigationDelegate {
    private var target: (any WKNavigationDelegate)? {
        (self as? ForwardingObject)?.forwardingTarget(for: Selector("webView:")) as? any WKNavigationDelegate
    }

    public func webView(
        _ webView: WKWebView, decidePolicyFor navigationAction: WKNavigationAction, preferences: WKWebpagePreferences
    ) async -> (WKNavigationActionPolicy, WKWebpagePreferences) {
        (await self.webView(webView, decidePolicyFor: navigationAction), preferences)
    }
    public func webView(_ webView: WKWebView, decidePolicyFor navigationAction: WKNavigationAction) async -> WKNavigationActionPolicy {
        .allow
    }
    public func webView(_ webView: WKWebView, didCommit navigation: WKNavigation!) { target?.webView(webView, didCommit: navigation) }
    public func webView(_ webView: WKWebView, didFinish navigation: WKNavigation!) { target?.webView(webView, didFinish: navigation) }
    public func webView(_ webView: WKWebView, didFailProvisionalNavigation navigation: WKNavigation!, withError error: any Error) {
        target?.webView(webView, didFailProvisionalNavigation: navigation, withError: error)
    }
    public func webView(_ webView: WKWebView, didFail navigation: WKNavigation!, withError error: any Error) {
        target?.webView(webView, didFail: navigation, withError: error)
    }
    public func webViewWebContentProcessDidTerminate(_ webView: WKWebView) {
        target?.webViewWebContentProcessDidTerminate(webView)
    }
}

extension WKUIDelegate {
    private var target: (any WKUIDelegate)? {
        (self as? ForwardingObject)?.forwardingTarget(for: Selector("webView:")) as? any WKUIDelegate
    }

    public func webView(
        _ webView: WKWebView, createWebViewWith configuration: WKWebViewConfiguration, for navigationAction: WKNavigationAction,
        windowFeatures: WKWindowFeatures
    ) -> WKWebView? { nil }
    public func webViewDidClose(_ webView: WKWebView) { target?.webViewDidClose(webView) }
}

/// A call of a function of a frame.
public struct FakeReply {
    public let values: [Any]
    public let frame: WKFrameInfo?
    /// Ends the call with the value that the function returned.
    public let end: (@MainActor (Result<Any, any Error>) -> Void)
}

extension WKFrameInfo {
    public static func fake(_ scheme: String, _ host: String, port: Int = 0, isMainFrame: Bool = true) -> WKFrameInfo {
        WKFrameInfo(fakeOrigin: WKSecurityOrigin(scheme, host, port), isMainFrame: isMainFrame)
    }
}

extension WKWebView {
    func fakeBegin(_ request: URLRequest) -> WKNavigation {
        let navigation = WKNavigation()
        fakeProvisional = (navigation, request)
        return navigation
    }

    func fakeCall(_ arguments: [String: Any], _ frame: WKFrameInfo?, _ end: (@MainActor @Sendable (Result<Any, any Error>) -> Void)?) {
        fakeReplies.append(FakeReply(values: arguments["reply"] as? [Any] ?? [], frame: frame) { end?($0) })
    }

    /// Asks the delegate about the navigation that was begun, and commits it if it may be.
    @discardableResult public func fakeCommit() async -> Bool {
        guard let (navigation, request) = fakeProvisional else { return false }
        return await fakeNavigate(to: request, .other, navigation)
    }

    /// Ends the navigation that was begun with an error.
    public func fakeFail() {
        guard let (navigation, _) = fakeProvisional else { return }
        fakeProvisional = nil
        fakeDelegate?.webView(self, didFailProvisionalNavigation: navigation, withError: URLError(.cancelled))
    }

    /// Does what a page does that navigates the main frame, a child frame, or opens a window by a link.
    @discardableResult public func fakeNavigate(
        to address: String, _ type: WKNavigationType = .linkActivated, method: String = "GET",
        from source: WKFrameInfo = .fake("https", "m.example.com"), in target: FakeTarget = .main
    ) async -> Bool {
        var request = URLRequest(url: URL(string: address)!)
        request.httpMethod = method
        return await fakeNavigate(to: request, type, WKNavigation(), from: source, in: target)
    }

    public enum FakeTarget { case main, child, window }

    private func fakeNavigate(
        to request: URLRequest, _ type: WKNavigationType, _ navigation: WKNavigation,
        from source: WKFrameInfo = .fake("https", "m.example.com"), in target: FakeTarget = .main
    ) async -> Bool {
        let frame: WKFrameInfo? =
            switch target {
            case .main: .fake("https", "m.example.com")
            case .child: .fake("https", "m.example.com", isMainFrame: false)
            case .window: nil
            }
        let action = WKNavigationAction(request, from: source, frame, type)
        let policy = await fakeDelegate?.webView(self, decidePolicyFor: action, preferences: WKWebpagePreferences()).0
        guard policy ?? .allow == .allow else { return false }
        switch target {
        case .main:
            (url, fakeProvisional) = (request.url, nil)
            fakeDelegate?.webView(self, didCommit: navigation)
            fakeDelegate?.webView(self, didFinish: navigation)
        case .child: break
        case .window: _ = fakeOpenWindow(request)
        }
        return true
    }

    /// Does what `window.open` does.
    public func fakeOpenWindow(_ request: URLRequest? = nil) -> WKWebView? {
        let action = WKNavigationAction(
            request ?? URLRequest(url: URL(string: "about:blank")!), from: .fake("https", "m.example.com"), nil, .other)
        return fakeWindows?.webView(self, createWebViewWith: configuration, for: action, windowFeatures: WKWindowFeatures())
    }

    /// Ends the process of the page.
    public func fakeCrash() { fakeDelegate?.webViewWebContentProcessDidTerminate(self) }

    /// Does what `window.close` does.
    public func fakeCloseWindow() { fakeWindows?.webViewDidClose(self) }

    /// Sends what a script of a world posts to a handler.
    public func fakePost(_ body: Any, from frame: WKFrameInfo, world: String = "runway", to name: String = "runwayNative") {
        let controller = configuration.userContentController
        controller.fakeHandlers["\(world) \(name)"]?.userContentController(controller, didReceive: WKScriptMessage(body, frame, self))
    }

    /// Requests an address whose scheme has a handler.
    public func fakeRequest(_ address: String, method: String = "GET", headerFields: [String: String] = [:]) -> FakeSchemeTask {
        var request = URLRequest(url: URL(string: address)!)
        request.httpMethod = method
        for (name, value) in headerFields { request.setValue(value, forHTTPHeaderField: name) }
        let task = FakeSchemeTask(request)
        configuration.urlSchemeHandler(forURLScheme: request.url?.scheme ?? "")?.webView(self, start: task)
        return task
    }

    /// Ends a request before its response is complete, as leaving the page does.
    public func fakeStop(_ task: FakeSchemeTask) {
        task.fakeIsOver = true
        configuration.urlSchemeHandler(forURLScheme: task.request.url?.scheme ?? "")?.webView(self, stop: task)
    }
}

/// A request under a scheme that has a handler. It ends the process where WebKit raises an exception.
@MainActor public final class FakeSchemeTask: NSObject, WKURLSchemeTask {
    public let request: URLRequest
    public private(set) var response: HTTPURLResponse?
    public private(set) var data = Data()
    public private(set) var isFinished = false
    public private(set) var error: (any Error)?
    fileprivate var fakeIsOver = false

    fileprivate init(_ request: URLRequest) { self.request = request }

    private func fakeCheck(_ isInOrder: Bool) {
        precondition(!fakeIsOver, "this task has already been stopped or completed")
        precondition(isInOrder, "the response comes first, and once")
    }

    public func didReceive(_ response: URLResponse) {
        fakeCheck(self.response == nil)
        self.response = response as? HTTPURLResponse
    }
    public func didReceive(_ data: Data) {
        fakeCheck(response != nil)
        self.data += data
    }
    public func didFinish() {
        fakeCheck(response != nil)
        (isFinished, fakeIsOver) = (true, true)
    }
    public func didFailWithError(_ error: any Error) {
        fakeCheck(true)
        (self.error, fakeIsOver) = (error, true)
    }
}
