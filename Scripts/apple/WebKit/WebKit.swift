public import AppleFoundation

// Declarations of WebKit that RunwayBridge uses, as developer.apple.com/documentation/webkit declares them. Nothing is shown.

// developer.apple.com: WKContentWorld
@MainActor open class WKContentWorld: NSObject {
    public static let page = WKContentWorld()
    public class func world(name: String) -> WKContentWorld { WKContentWorld() }
}

// developer.apple.com: WKSecurityOrigin, WKFrameInfo, WKScriptMessage
@MainActor open class WKSecurityOrigin: NSObject {
    public let `protocol` = ""
    public let host = ""
    public let port = 0
}
@MainActor open class WKFrameInfo: NSObject {
    public let isMainFrame = true
    public let securityOrigin = WKSecurityOrigin()
}
@MainActor open class WKScriptMessage: NSObject {
    public let body: Any = ""
    public let frameInfo = WKFrameInfo()
}
@MainActor public protocol WKScriptMessageHandler: NSObjectProtocol {
    func userContentController(_ userContentController: WKUserContentController, didReceive message: WKScriptMessage)
}

// developer.apple.com: WKUserScript, WKUserContentController
public enum WKUserScriptInjectionTime: Int, Sendable { case atDocumentStart, atDocumentEnd }
@MainActor open class WKUserScript: NSObject {
    public init(
        source: String, injectionTime: WKUserScriptInjectionTime, forMainFrameOnly: Bool, in contentWorld: WKContentWorld
    ) {}
}
@MainActor open class WKUserContentController: NSObject {
    open func addUserScript(_ userScript: WKUserScript) {}
    open func add(
        _ scriptMessageHandler: any WKScriptMessageHandler, contentWorld world: WKContentWorld, name: String
    ) {}
}

// developer.apple.com: WKWebsiteDataStore, WKWebViewConfiguration, WKWebView
@MainActor open class WKWebsiteDataStore: NSObject {
    public class func allWebsiteDataTypes() -> Set<String> { [] }
    open func removeData(ofTypes dataTypes: Set<String>, modifiedSince date: Date) async {}
}
@MainActor open class WKNavigation: NSObject {}
@MainActor open class WKWebViewConfiguration: NSObject {
    open var userContentController = WKUserContentController()
    open var websiteDataStore = WKWebsiteDataStore()
    open var limitsNavigationsToAppBoundDomains = false
}
@MainActor open class WKWebView: NSObject {
    public let configuration: WKWebViewConfiguration
    public init(frame: CGRect, configuration: WKWebViewConfiguration) { self.configuration = configuration }
    open func callAsyncJavaScript(
        _ functionBody: String, arguments: [String: Any] = [:], in frame: WKFrameInfo? = nil,
        in contentWorld: WKContentWorld,
        completionHandler: (@MainActor @Sendable (Result<Any, any Error>) -> Void)? = nil
    ) {}
    @discardableResult open func reloadFromOrigin() -> WKNavigation? { nil }
}
