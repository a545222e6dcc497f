@_exported public import AppleFoundation
public import ObjectiveC
public import UIKit

// Declarations of WebKit that RunwayBridge uses, as developer.apple.com/documentation/webkit declares them. Nothing is shown. What a
// test makes WebKit do is in FakeWebKit.swift.

// developer.apple.com: NSObjectProtocol.responds(to:), NSObject.forwardingTarget(for:), of which Linux has neither
open class ForwardingObject: NSObject {
    open func responds(to selector: Selector!) -> Bool { true }
    open func forwardingTarget(for selector: Selector!) -> Any? { nil }
}

extension NSObjectProtocol {
    public func responds(to selector: Selector!) -> Bool { true }
}

// developer.apple.com: WKContentWorld
@MainActor open class WKContentWorld: NSObject {
    public static let page = WKContentWorld("")
    let fakeName: String
    init(_ name: String) { fakeName = name }
    public class func world(name: String) -> WKContentWorld { WKContentWorld(name) }
}

// developer.apple.com: WKSecurityOrigin, WKFrameInfo, WKScriptMessage
@MainActor open class WKSecurityOrigin: NSObject {
    public let `protocol`: String
    public let host: String
    public let port: Int
    init(_ scheme: String, _ host: String, _ port: Int) { (self.protocol, self.host, self.port) = (scheme, host, port) }
}
@MainActor open class WKFrameInfo: NSObject {
    public let isMainFrame: Bool
    public let securityOrigin: WKSecurityOrigin
    public init(fakeOrigin: WKSecurityOrigin, isMainFrame: Bool) { (securityOrigin, self.isMainFrame) = (fakeOrigin, isMainFrame) }
}
@MainActor open class WKScriptMessage: NSObject {
    public let body: Any
    public let frameInfo: WKFrameInfo
    public weak var webView: WKWebView?
    init(_ body: Any, _ frame: WKFrameInfo, _ view: WKWebView) { (self.body, frameInfo, webView) = (body, frame, view) }
}
@MainActor public protocol WKScriptMessageHandler: NSObjectProtocol {
    func userContentController(_ userContentController: WKUserContentController, didReceive message: WKScriptMessage)
}

// developer.apple.com: WKUserScript, WKUserContentController
public enum WKUserScriptInjectionTime: Int, Sendable { case atDocumentStart, atDocumentEnd }
@MainActor open class WKUserScript: NSObject {
    public let isForMainFrameOnly: Bool
    let fakeWorld: String
    public init(
        source: String, injectionTime: WKUserScriptInjectionTime, forMainFrameOnly: Bool, in contentWorld: WKContentWorld
    ) { (isForMainFrameOnly, fakeWorld) = (forMainFrameOnly, contentWorld.fakeName) }
}
@MainActor open class WKUserContentController: NSObject {
    public private(set) var userScripts: [WKUserScript] = []
    private(set) var fakeHandlers: [String: any WKScriptMessageHandler] = [:]
    open func addUserScript(_ userScript: WKUserScript) { userScripts.append(userScript) }
    // It is an error to add two handlers of one name.
    open func add(
        _ scriptMessageHandler: any WKScriptMessageHandler, contentWorld world: WKContentWorld, name: String
    ) {
        let old = fakeHandlers.updateValue(scriptMessageHandler, forKey: "\(world.fakeName) \(name)")
        precondition(old == nil, "a script message handler of this name exists")
    }
}

// developer.apple.com: WKURLSchemeHandler, WKURLSchemeTask
@MainActor public protocol WKURLSchemeTask: NSObjectProtocol {
    var request: URLRequest { get }
    func didReceive(_ response: URLResponse)
    func didReceive(_ data: Data)
    func didFinish()
    func didFailWithError(_ error: any Error)
}
@MainActor public protocol WKURLSchemeHandler: NSObjectProtocol {
    func webView(_ webView: WKWebView, start urlSchemeTask: any WKURLSchemeTask)
    func webView(_ webView: WKWebView, stop urlSchemeTask: any WKURLSchemeTask)
}

// developer.apple.com: WKWebsiteDataStore, WKPreferences, WKWebpagePreferences, WKWebViewConfiguration
@MainActor open class WKWebsiteDataStore: NSObject {
    open var isPersistent: Bool { true }
    public class func allWebsiteDataTypes() -> Set<String> { ["all"] }
    open func removeData(ofTypes dataTypes: Set<String>, modifiedSince date: Date) async { fakeEvents.append("removeData") }
    /// The order of what the store and the view that uses it were asked for.
    public var fakeEvents: [String] = []
}
@MainActor open class WKPreferences: NSObject {
    open var javaScriptCanOpenWindowsAutomatically = true
}
@MainActor open class WKWebpagePreferences: NSObject {}
@MainActor open class WKWebViewConfiguration: NSObject {
    open var userContentController = WKUserContentController()
    open var websiteDataStore = WKWebsiteDataStore()
    open var preferences = WKPreferences()
    open var limitsNavigationsToAppBoundDomains = false
    private var fakeSchemes: [String: any WKURLSchemeHandler] = [:]
    // It is an error to set a handler twice.
    open func setURLSchemeHandler(_ urlSchemeHandler: (any WKURLSchemeHandler)?, forURLScheme urlScheme: String) {
        precondition(fakeSchemes.updateValue(urlSchemeHandler!, forKey: urlScheme) == nil, "the scheme has a handler")
    }
    open func urlSchemeHandler(forURLScheme urlScheme: String) -> (any WKURLSchemeHandler)? { fakeSchemes[urlScheme] }
}

// developer.apple.com: WKNavigation, WKNavigationType, WKNavigationAction, WKNavigationActionPolicy, WKWindowFeatures
@MainActor open class WKNavigation: NSObject {}
public enum WKNavigationType: Int, Sendable {
    case linkActivated, formSubmitted, backForward, reload, formResubmitted
    case other = -1
}
@MainActor open class WKNavigationAction: NSObject {
    public let request: URLRequest
    public let sourceFrame: WKFrameInfo
    public let targetFrame: WKFrameInfo?
    public let navigationType: WKNavigationType
    init(_ request: URLRequest, from source: WKFrameInfo, _ target: WKFrameInfo?, _ type: WKNavigationType) {
        (self.request, sourceFrame, targetFrame, navigationType) = (request, source, target, type)
    }
}
public enum WKNavigationActionPolicy: Int, Sendable { case cancel, allow }
@MainActor open class WKWindowFeatures: NSObject {}

// developer.apple.com: WKNavigationDelegate, WKUIDelegate. Their methods are optional there; here, those that a delegate lacks are
// forwarded, or do what WebKit does without them.
@MainActor public protocol WKNavigationDelegate: NSObjectProtocol {
    func webView(
        _ webView: WKWebView, decidePolicyFor navigationAction: WKNavigationAction, preferences: WKWebpagePreferences
    ) async -> (WKNavigationActionPolicy, WKWebpagePreferences)
    func webView(_ webView: WKWebView, decidePolicyFor navigationAction: WKNavigationAction) async -> WKNavigationActionPolicy
    func webView(_ webView: WKWebView, didCommit navigation: WKNavigation!)
    func webView(_ webView: WKWebView, didFinish navigation: WKNavigation!)
    func webView(_ webView: WKWebView, didFailProvisionalNavigation navigation: WKNavigation!, withError error: any Error)
    func webView(_ webView: WKWebView, didFail navigation: WKNavigation!, withError error: any Error)
    func webViewWebContentProcessDidTerminate(_ webView: WKWebView)
}
@MainActor public protocol WKUIDelegate: NSObjectProtocol {
    func webView(
        _ webView: WKWebView, createWebViewWith configuration: WKWebViewConfiguration, for navigationAction: WKNavigationAction,
        windowFeatures: WKWindowFeatures
    ) -> WKWebView?
    func webViewDidClose(_ webView: WKWebView)
}

// developer.apple.com: WKWebView
@MainActor open class WKWebView: UIView {
    public let configuration: WKWebViewConfiguration
    open var isInspectable = false
    // A subclass may return others than WebKit calls.
    weak var fakeDelegate: (any WKNavigationDelegate)?
    weak var fakeWindows: (any WKUIDelegate)?
    open weak var navigationDelegate: (any WKNavigationDelegate)? { get { fakeDelegate } set { fakeDelegate = newValue } }
    open weak var uiDelegate: (any WKUIDelegate)? { get { fakeWindows } set { fakeWindows = newValue } }
    public internal(set) var url: URL?
    public init(frame: CGRect, configuration: WKWebViewConfiguration) {
        self.configuration = configuration
        super.init()
    }
    public required init?(coder: NSCoder) { nil }
    @discardableResult open func load(_ request: URLRequest) -> WKNavigation? {
        configuration.websiteDataStore.fakeEvents.append("load \(request.url?.absoluteString ?? "")")
        return fakeBegin(request)
    }
    @discardableResult open func loadHTMLString(_ string: String, baseURL: URL?) -> WKNavigation? {
        configuration.websiteDataStore.fakeEvents.append("loadHTMLString")
        return fakeBegin(URLRequest(url: baseURL ?? URL(string: "about:blank")!))
    }
    open func callAsyncJavaScript(
        _ functionBody: String, arguments: [String: Any] = [:], in frame: WKFrameInfo? = nil,
        in contentWorld: WKContentWorld,
        completionHandler: (@MainActor @Sendable (Result<Any, any Error>) -> Void)? = nil
    ) { fakeCall(arguments, frame, completionHandler) }

    /// The navigation that has not been committed yet.
    public internal(set) var fakeProvisional: (navigation: WKNavigation, request: URLRequest)?
    /// The replies that pages have received, and who waits for the value of each.
    public var fakeReplies: [FakeReply] = []
}
