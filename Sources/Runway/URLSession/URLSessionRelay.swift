import Foundation
import HTTPTypes
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The delegate of a session. It passes the events of each task to the task's exchange.
///
/// A session retains its delegate, and the delegate retains the exchanges that have not ended.
final class URLSessionRelay: NSObject, Sendable {
    /// The serial queue on which the session calls its delegate.
    let queue: OperationQueue = {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        return queue
    }()
    /// Guards the exchanges in flight, by task.
    private let exchanges = Mutex<[ObjectIdentifier: URLSessionExchange]>([:])
    #if canImport(Darwin)
        /// Guards the WebSockets whose tasks have not ended.
        let webSockets = Mutex<[ObjectIdentifier: URLSessionWebSocketLink]>([:])
        private let trust: PinnedTrust

        init(_ trust: PinnedTrust) { self.trust = trust }
    #endif

    func start(
        _ task: URLSessionDataTask, for request: Request, in flight: Flight,
        _ configuration: URLSessionTransport.Configuration, _ upload: Upload?
    ) -> URLSessionExchange {
        let exchange = URLSessionExchange(
            task, for: request, in: flight, upload,
            maximumBufferedByteCount: max(1 << 16, configuration.maximumBufferedByteCount))
        exchanges.withLock { $0[ObjectIdentifier(task)] = exchange }
        exchange.start()
        return exchange
    }

    private func exchange(of task: URLSessionTask) -> URLSessionExchange? {
        exchanges.withLock { $0[ObjectIdentifier(task)] }
    }
}

extension URLSessionRelay: URLSessionDataDelegate {
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        if let response = response as? HTTPURLResponse { exchange(of: dataTask)?.receive(response) }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        exchange(of: dataTask)?.receive(data)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        exchanges.withLock { $0.removeValue(forKey: ObjectIdentifier(task)) }?.finish(error)
        #if canImport(Darwin)
            webSockets.withLock { $0.removeValue(forKey: ObjectIdentifier(task)) }?.finish(error)
        #endif
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        // The redirect itself is the response, because a stage follows redirects.
        #if canImport(Darwin)
            webSocket(of: task)?.refused(response)
        #endif
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        #if canImport(FoundationNetworking)
            // On this system only servers and proxies that require credentials cause a challenge. It arrives after the
            // whole response, which would be lost without this call.
            exchange(of: task)?.finish(nil)
            completionHandler(.cancelAuthenticationChallenge, nil)
        #else
            let space = challenge.protectionSpace
            // The system has the credentials of its proxies, and verifies the proxies.
            if space.isProxy() { return completionHandler(.performDefaultHandling, nil) }
            // Stages add the credentials for servers. Without credentials, the session returns the response.
            guard space.authenticationMethod == NSURLAuthenticationMethodServerTrust else {
                return completionHandler(.rejectProtectionSpace, nil)
            }
            trust.evaluate(challenge) { decision in
                switch decision {
                case .system: completionHandler(.performDefaultHandling, nil)
                case .trusted(let credential): completionHandler(.useCredential, credential)
                case .refused(let error):
                    // The exchange must be stopped first, because the session would report a cancellation instead.
                    self.exchange(of: task)?.stop(error)
                    self.webSocket(of: task)?.stop(error)
                    completionHandler(.cancelAuthenticationChallenge, nil)
                }
            }
        #endif
    }

    #if canImport(Darwin)
        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse
        ) {
            exchange(of: task)?.receive(interim: response)
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask,
            needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
        ) {
            completionHandler(exchange(of: task)?.bodyStream())
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
        ) {
            exchange(of: task)?.note(metrics)
            webSocket(of: task)?.note(metrics)
        }
    #endif
}
