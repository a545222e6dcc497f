public import Security
import Synchronization

// Classes are unchecked Sendable since Apple declares them Sendable; a program here changes them before it shares them.

// developer.apple.com: HTTPCookieStorage, URLCache, URLCredentialStorage
open class HTTPCookieStorage: NSObject, @unchecked Sendable {}
open class URLCache: NSObject, @unchecked Sendable {}
open class URLCredentialStorage: NSObject, @unchecked Sendable {}
// developer.apple.com: HTTPCookie.AcceptPolicy
public enum HTTPCookie { public enum AcceptPolicy: UInt, Sendable { case always, never, onlyFromMainDocumentDomain } }
// developer.apple.com: NSURLRequest.CachePolicy
public enum NSURLRequest {
    public enum CachePolicy: UInt, Sendable {
        case useProtocolCachePolicy = 0
        case reloadIgnoringLocalCacheData = 1
        case returnCacheDataElseLoad = 2
        case returnCacheDataDontLoad = 3
        case reloadIgnoringLocalAndRemoteCacheData = 4
        case reloadRevalidatingCacheData = 5
    }
}

// developer.apple.com: URLSessionConfiguration
open class URLSessionConfiguration: NSObject, @unchecked Sendable {
    // developer.apple.com: URLSessionConfiguration.ephemeral. It has storages, which are in memory alone.
    open class var ephemeral: URLSessionConfiguration { URLSessionConfiguration() }
    open var httpCookieStorage: HTTPCookieStorage? = HTTPCookieStorage()
    open var httpShouldSetCookies = true
    open var httpCookieAcceptPolicy = HTTPCookie.AcceptPolicy.onlyFromMainDocumentDomain
    open var urlCache: URLCache? = URLCache()
    open var urlCredentialStorage: URLCredentialStorage? = URLCredentialStorage()
    open var requestCachePolicy = NSURLRequest.CachePolicy.useProtocolCachePolicy
    open var timeoutIntervalForRequest: TimeInterval = 60
    open var timeoutIntervalForResource: TimeInterval = 604_800
    open var httpMaximumConnectionsPerHost = 6
    open var allowsCellularAccess = true
    open var allowsExpensiveNetworkAccess = true
    open var allowsConstrainedNetworkAccess = true
    open var waitsForConnectivity = false
    // developer.apple.com: URLSessionConfiguration.MultipathServiceType; not on macOS and watchOS
    public enum MultipathServiceType: Int, Sendable { case none, handover, interactive, aggregate }
    // developer.apple.com: URLSessionConfiguration.multipathServiceType
    open var multipathServiceType = MultipathServiceType.none
    // developer.apple.com: URLSessionConfiguration.background(withIdentifier:)
    open class func background(withIdentifier identifier: String) -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration()
        configuration.identifier = identifier
        return configuration
    }
    // developer.apple.com: URLSessionConfiguration.identifier
    public private(set) var identifier: String?
    open var isDiscretionary = false
    open var sessionSendsLaunchEvents = true
    // developer.apple.com: URLSessionConfiguration.tlsMinimumSupportedProtocolVersion
    open var tlsMinimumSupportedProtocolVersion = tls_protocol_version_t.TLSv10
}

// developer.apple.com: URLSessionDelegate, URLSessionTaskDelegate, URLSessionDataDelegate. Their methods are optional there; here they are
// not, so that a method with another signature, which would never be called, does not compile.
public protocol URLSessionDelegate: NSObjectProtocol, Sendable {}
public protocol URLSessionTaskDelegate: URLSessionDelegate {
    // developer.apple.com: urlSession(_:task:willPerformHTTPRedirection:newRequest:completionHandler:)
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void)
    // developer.apple.com: urlSession(_:task:didReceive:completionHandler:)
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)
    // developer.apple.com: urlSession(_:task:didReceiveInformationalResponse:), since iOS 17 and macOS 14
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse)
    // developer.apple.com: urlSession(_:task:needNewBodyStream:)
    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void)
    // developer.apple.com: urlSession(_:task:didFinishCollecting:)
    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics)
    // developer.apple.com: urlSession(_:task:didCompleteWithError:)
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
}
public protocol URLSessionDataDelegate: URLSessionTaskDelegate {
    // developer.apple.com: urlSession(_:dataTask:didReceive:completionHandler:)
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void)
    // developer.apple.com: urlSession(_:dataTask:didReceive:)
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)
}

// developer.apple.com: URLSession
open class URLSession: NSObject, @unchecked Sendable {
    // developer.apple.com: URLSession.ResponseDisposition
    public enum ResponseDisposition: Int, Sendable { case cancel, allow, becomeDownload, becomeStream }
    // developer.apple.com: URLSession.AuthChallengeDisposition
    public enum AuthChallengeDisposition: Int, Sendable {
        case useCredential, performDefaultHandling, cancelAuthenticationChallenge, rejectProtectionSpace
    }

    public let configuration: URLSessionConfiguration
    public let delegateQueue: OperationQueue
    private struct State {
        /// A session retains its delegate until it is invalidated.
        var delegate: (any URLSessionDataDelegate)?
        var tasks: [ObjectIdentifier: URLSessionTask] = [:]
        var isInvalid = false
        var stored: (any Sendable)?
    }
    private let state: Mutex<State>

    // developer.apple.com: URLSession.init(configuration:delegate:delegateQueue:)
    public init(
        configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?,
        delegateQueue queue: OperationQueue?
    ) {
        self.configuration = configuration
        delegateQueue = queue ?? OperationQueue()
        state = Mutex(State(delegate: delegate as? any URLSessionDataDelegate))
        super.init()
        FakeDaemon.attach(self)
    }
    // developer.apple.com: URLSession.shared
    open class var shared: URLSession {
        URLSession(configuration: URLSessionConfiguration(), delegate: nil, delegateQueue: nil)
    }
    // developer.apple.com: URLSession.data(from:delegate:). Only examples call it, which are not run.
    public func data(from url: URL, delegate: (any URLSessionTaskDelegate)? = nil) async throws -> (Data, URLResponse) {
        throw URLError(.unsupportedURL)
    }
    // developer.apple.com: URLSession.data(for:delegate:). Only the crash test calls it, which is not run.
    public func data(
        for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        throw URLError(.unsupportedURL)
    }
    // developer.apple.com: URLSession.dataTask(with:)
    open func dataTask(with request: URLRequest) -> URLSessionDataTask { added(URLSessionDataTask(request, of: self)) }
    // developer.apple.com: URLSession.uploadTask(withStreamedRequest:)
    open func uploadTask(withStreamedRequest request: URLRequest) -> URLSessionUploadTask {
        added(URLSessionUploadTask(request, of: self))
    }
    // developer.apple.com: URLSession.invalidateAndCancel()
    open func invalidateAndCancel() {
        let tasks = state.withLock { state in
            state.isInvalid = true
            return Array(state.tasks.values)
        }
        for task in tasks { task.cancel() }
        releaseIfDone()
    }

    var delegate: (any URLSessionDataDelegate)? { state.withLock(\.delegate) }

    func stored(_ make: (URLSessionConfiguration) -> any Sendable) -> any Sendable {
        state.withLock { state in
            let stored = state.stored ?? make(configuration)
            state.stored = stored
            return stored
        }
    }

    func added<Task: URLSessionTask>(_ task: Task) -> Task {
        state.withLock { state in
            precondition(!state.isInvalid, "A task was made in a session that was invalidated.")
            state.tasks[ObjectIdentifier(task)] = task
        }
        return task
    }

    func remove(_ task: URLSessionTask) {
        state.withLock { _ = $0.tasks.removeValue(forKey: ObjectIdentifier(task)) }
        releaseIfDone()
    }

    private func releaseIfDone() {
        state.withLock { state in if state.isInvalid, state.tasks.isEmpty { state.delegate = nil } }
    }
}
