import Synchronization

// Classes are unchecked Sendable since Apple declares them Sendable; a program here changes them before it shares them.

// developer.apple.com: URLSessionTask
open class URLSessionTask: NSObject, @unchecked Sendable {
    // developer.apple.com: URLSessionTask.State
    public enum State: Int, Sendable { case running, suspended, canceling, completed }

    private struct Guarded {
        /// Suspensions nest, and a task starts suspended.
        var suspensionCount = 1
        var isOver = false
        var work: Task<Void, Never>?
        var waiters: [CheckedContinuation<Void, Never>] = []
        var sentByteCount: Int64 = 0
    }

    // developer.apple.com: URLSessionTask.originalRequest
    public let originalRequest: URLRequest?
    // developer.apple.com: URLSessionTask.response
    public internal(set) var response: URLResponse?
    // developer.apple.com: URLSessionTask.taskDescription
    public var taskDescription: String?
    // developer.apple.com: URLSessionTask.state
    open var state: State {
        guarded.withLock { $0.isOver ? .completed : $0.suspensionCount > 0 ? .suspended : .running }
    }
    // developer.apple.com: URLSessionTask.countOfBytesSent. Bytes of the body alone are counted, and none of header fields.
    public var countOfBytesSent: Int64 { guarded.withLock(\.sentByteCount) }
    weak var session: URLSession?
    private let guarded = Mutex(Guarded())

    init(_ request: URLRequest, of session: URLSession) {
        originalRequest = request
        self.session = session
    }

    // developer.apple.com: URLSessionTask.resume(). A task that is not suspended stays as it is.
    open func resume() {
        let waiters = guarded.withLock { state in
            guard state.suspensionCount > 0, !state.isOver else { return [CheckedContinuation<Void, Never>]() }
            state.suspensionCount -= 1
            guard state.suspensionCount == 0 else { return [] }
            if state.work == nil { state.work = Task { await FakeNetwork.perform(FakeExchange(task: self)) } }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    // developer.apple.com: URLSessionTask.suspend(). "There may still be delegate calls", for instance to report data.
    /// Late, to show who relies on its being quick: every task that was ready before has run, on a slow machine, too.
    open func suspend() {
        for _ in 0..<50 {
            let hasRun = DispatchSemaphore(value: 0)
            Task.detached { hasRun.signal() }
            // A program that suspends under a lock may block the threads of all tasks; then nobody overtakes it.
            if hasRun.wait(timeout: .now() + 0.5) == .timedOut { break }
        }
        Thread.sleep(forTimeInterval: 0.05)
        guarded.withLock { $0.suspensionCount += 1 }
    }

    // developer.apple.com: URLSessionTask.cancel(). The task completes with URLError.cancelled, later, on the delegate's queue.
    open func cancel() { complete(URLError(.cancelled)) }

    fileprivate func waitWhileSuspended() async {
        await withCheckedContinuation { continuation in
            let isFree = guarded.withLock { state in
                if state.suspensionCount == 0 || state.isOver { return true }
                state.waiters.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    var isOver: Bool { guarded.withLock(\.isOver) }
    var isSuspended: Bool { guarded.withLock { $0.suspensionCount > 0 } }

    /// The server has read bytes of the body.
    fileprivate func noteSent(_ byteCount: Int) { guarded.withLock { $0.sentByteCount += Int64(byteCount) } }

    /// Completes the task once; later completions do nothing.
    fileprivate func complete(_ error: (any Error)?, _ metrics: URLSessionTaskMetrics? = nil) {
        let ended = guarded.withLock { state -> (Task<Void, Never>?, [CheckedContinuation<Void, Never>])? in
            if state.isOver { return nil }
            state.isOver = true
            defer { state.waiters = [] }
            return (state.work, state.waiters)
        }
        guard let (work, waiters) = ended, let session else { return }
        work?.cancel()
        for waiter in waiters { waiter.resume() }
        session.delegateQueue.addOperation { [self] in
            if let metrics { session.delegate?.urlSession(session, task: self, didFinishCollecting: metrics) }
            session.delegate?.urlSession(session, task: self, didCompleteWithError: error)
            session.remove(self)
        }
    }
}

// developer.apple.com: URLSessionDataTask, URLSessionUploadTask
open class URLSessionDataTask: URLSessionTask, @unchecked Sendable {
    override init(_ request: URLRequest, of session: URLSession) { super.init(request, of: session) }
}
open class URLSessionUploadTask: URLSessionDataTask, @unchecked Sendable {}

/// What the server and the network do in one task, and how the session reports it.
///
/// Every event comes on the delegate's queue, one after the other, and none begins while the task is suspended; one that was enqueued
/// before a suspension comes after it.
public struct FakeExchange: Sendable {
    let task: URLSessionTask

    public var request: URLRequest { task.originalRequest! }
    /// Whether the task completed or was cancelled.
    public var isOver: Bool { task.isOver }
    public var isSuspended: Bool { task.isSuspended }
    /// Whether the task's body is a stream, for which the session asks.
    public var isUpload: Bool { task is URLSessionUploadTask }

    /// What a program here stores for the session of the task, made once; `nil` if the session is gone.
    public func stored<Value: Sendable>(_ make: (URLSessionConfiguration) -> Value) -> Value? {
        task.session?.stored(make) as? Value
    }

    private func deliver<Value: Sendable>(
        or last: Value,
        _ event:
            @escaping @Sendable (URLSession, any URLSessionDataDelegate, @escaping @Sendable (Value) -> Void) -> Void
    ) async -> Value {
        await task.waitWhileSuspended()
        guard let session = task.session, !task.isOver else { return last }
        return await withCheckedContinuation { continuation in
            session.delegateQueue.addOperation {
                guard let delegate = session.delegate else { return continuation.resume(returning: last) }
                event(session, delegate) { continuation.resume(returning: $0) }
            }
        }
    }

    /// Reports the head of a response; returns whether the delegate allows its body.
    @discardableResult
    public func respond(_ status: Int = 200, _ fields: [String: String] = [:]) async -> Bool {
        let response = HTTPURLResponse(
            url: request.url!, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields)!
        let task = task as! URLSessionDataTask
        let disposition = await deliver(or: URLSession.ResponseDisposition.cancel) {
            $1.urlSession($0, dataTask: task, didReceive: response, completionHandler: $2)
        }
        return disposition == .allow
    }

    /// Reports an interim response, and returns when the delegate has it.
    public func inform(_ status: Int, _ fields: [String: String] = [:]) async {
        let response = HTTPURLResponse(
            url: request.url!, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields)!
        let task = task
        await deliver(or: ()) { session, delegate, done in
            delegate.urlSession(session, task: task, didReceiveInformationalResponse: response)
            done(())
        }
    }

    /// Reports a part of the body, and returns at once: the session does not wait for its delegate.
    public func send(_ bytes: [UInt8]) async {
        await task.waitWhileSuspended()
        guard let session = task.session, !task.isOver else { return }
        let task = task as! URLSessionDataTask
        session.delegateQueue.addOperation {
            session.delegate?.urlSession(session, dataTask: task, didReceive: Data(bytes))
        }
    }

    /// Waits until the delegate has handled what was reported so far.
    public func waitForDelegate() async {
        guard let session = task.session else { return }
        await withCheckedContinuation { continuation in
            session.delegateQueue.addOperation { continuation.resume() }
        }
    }

    /// Reports a redirect; returns the request that the delegate lets the session follow it with.
    public func redirect(_ status: Int, to url: URL) async -> URLRequest? {
        let response = HTTPURLResponse(
            url: request.url!, statusCode: status, httpVersion: "HTTP/1.1",
            headerFields: ["Location": url.absoluteString])!
        let task = task
        return await deliver(or: nil) {
            $1.urlSession(
                $0, task: task, willPerformHTTPRedirection: response, newRequest: URLRequest(url: url),
                completionHandler: $2)
        }
    }

    /// Reports a challenge; returns what the delegate decides.
    public func challenge(_ space: URLProtectionSpace) async -> URLSession.AuthChallengeDisposition {
        let task = task
        return await deliver(or: .cancelAuthenticationChallenge) { session, delegate, done in
            delegate.urlSession(session, task: task, didReceive: URLAuthenticationChallenge(fakeOf: space)) {
                disposition, credential in
                // A session goes on only with the trust that was evaluated.
                let isTrusted = credential.map { $0.trust === space.serverTrust } ?? false
                precondition(disposition != .useCredential || isTrusted, "There is no credential for the challenge.")
                done(disposition)
            }
        }
    }

    /// The stream with the body, asked of the delegate: for the second sending, and for the first of a task that was made without one.
    public func newBodyStream() async -> InputStream? {
        let task = task
        let box = await deliver(or: nil as FakeBox?) { session, delegate, done in
            delegate.urlSession(session, task: task) { done(FakeBox($0)) }
        }
        return box?.stream
    }

    /// Reads a part of a stream; empty at its end.
    public func read(_ stream: InputStream, upTo count: Int = 1 << 16) async -> [UInt8] {
        let box = FakeBox(stream)
        let part: [UInt8] = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(
                    returning: [UInt8](unsafeUninitializedCapacity: count) { buffer, read in
                        read = max(0, box.stream?.read(buffer.baseAddress!, maxLength: count) ?? 0)
                    })
            }
        }
        task.noteSent(part.count)
        return part
    }

    /// The parts of a stream, each read when it is asked for.
    public func parts(of stream: InputStream) -> AsyncStream<[UInt8]> {
        let box = FakeBox(stream)
        return AsyncStream {
            guard let stream = box.stream, case let part = await read(stream), !part.isEmpty else { return nil }
            return part
        }
    }

    /// The whole body of the request.
    public func body() async -> [UInt8] {
        if let bytes = request.httpBody {
            task.noteSent(bytes.count)
            return Array(bytes)
        }
        let stream = if let first = request.httpBodyStream { first } else { await newBodyStream() }
        guard let stream else { return [] }
        return await body(stream)
    }

    /// All that is left of a stream.
    public func body(_ stream: InputStream) async -> [UInt8] {
        var bytes: [UInt8] = []
        while case let part = await read(stream), !part.isEmpty { bytes += part }
        return bytes
    }

    /// Completes the task.
    public func complete(_ error: (any Error)? = nil, _ metrics: URLSessionTaskMetrics? = nil) async {
        await task.waitWhileSuspended()
        task.complete(error, metrics)
    }
}

private struct FakeBox: Sendable {
    // Unsafe: it is only handed from the delegate to the program that reads it.
    nonisolated(unsafe) let stream: InputStream?
    init(_ stream: InputStream?) { self.stream = stream }
}

/// The network of the fakes: what happens to the requests for each host.
public enum FakeNetwork {
    public typealias Host = @Sendable (FakeExchange) async -> Void
    private static let hosts = Mutex<[String: Host]>([:])

    /// Sets what happens to the requests for a host.
    public static func serve(_ name: String, _ host: @escaping Host) { hosts.withLock { $0[name] = host } }

    static func perform(_ exchange: FakeExchange) async {
        guard let host = exchange.request.url?.host, let serve = hosts.withLock({ $0[host] }) else {
            return await exchange.complete(URLError(.cannotFindHost))
        }
        await serve(exchange)
    }
}
