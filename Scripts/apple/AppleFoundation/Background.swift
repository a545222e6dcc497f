import Foundation
import Synchronization

// Classes are unchecked Sendable since Apple declares them Sendable; a fatal error stands where a correct program never comes.

// developer.apple.com: URLSessionDownloadDelegate. Its methods are optional there but for the first.
public protocol URLSessionDownloadDelegate: URLSessionTaskDelegate {
    // developer.apple.com: urlSession(_:downloadTask:didFinishDownloadingTo:)
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL)
    // developer.apple.com: urlSession(_:downloadTask:didWriteData:totalBytesWritten:totalBytesExpectedToWrite:)
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64)
    // developer.apple.com: URLSessionTaskDelegate.urlSession(_:task:didSendBodyData:totalBytesSent:totalBytesExpectedToSend:)
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64)
    // developer.apple.com: URLSessionDelegate.urlSessionDidFinishEvents(forBackgroundURLSession:)
    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession)
}
// A background session follows redirects without asking, and its uploads come from files. Nothing waits for their interim responses.
extension URLSessionDownloadDelegate {
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse
    ) {}
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        fatalError("A background session asks for no redirect.")
    }
    public func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        fatalError("A background session has no body stream.")
    }
}

// developer.apple.com: URLSessionDownloadTask
open class URLSessionDownloadTask: URLSessionTask, @unchecked Sendable {
    private let number: UUID
    fileprivate init(_ request: URLRequest, _ number: UUID, of session: URLSession) {
        self.number = number
        super.init(request, of: session)
    }
    override open var state: State { FakeDaemon.state(of: self, number) }
    override open func resume() { FakeDaemon.start(self, number, file: nil) }
    override open func cancel() { FakeDaemon.cancel(self, number) }
}
private final class BackgroundUploadTask: URLSessionUploadTask, @unchecked Sendable {
    private let number: UUID
    private let file: URL
    init(_ request: URLRequest, _ number: UUID, file: URL, of session: URLSession) {
        self.number = number
        self.file = file
        super.init(request, of: session)
    }
    override var state: State { FakeDaemon.state(of: self, number) }
    override func resume() { FakeDaemon.start(self, number, file: file) }
    override func cancel() { FakeDaemon.cancel(self, number) }
}

extension URLSession {
    // developer.apple.com: URLSession.downloadTask(with:)
    public func downloadTask(with request: URLRequest) -> URLSessionDownloadTask {
        URLSessionDownloadTask(request, UUID(), of: self)
    }
    // developer.apple.com: URLSession.uploadTask(with:fromFile:)
    public func uploadTask(with request: URLRequest, fromFile file: URL) -> URLSessionUploadTask {
        BackgroundUploadTask(request, UUID(), file: file, of: self)
    }
    // developer.apple.com: URLSession.getAllTasks(completionHandler:)
    public func getAllTasks(completionHandler: @escaping @Sendable ([URLSessionTask]) -> Void) {
        let tasks = FakeDaemon.tasks(of: self)
        delegateQueue.addOperation { completionHandler(tasks) }
    }
    // developer.apple.com: URLSession.finishTasksAndInvalidate(). The session and its delegate stay until the last task has ended.
    public func finishTasksAndInvalidate() { FakeDaemon.detach(self) }
}

/// A transfer that the daemon performs.
public struct FakeTransfer: Sendable {
    public let request: URLRequest
    /// The file with the body of an upload; `nil` for a download.
    public let file: URL?
    public fileprivate(set) var description: String?
    public fileprivate(set) var isSuspended = false
    /// What its tasks have in common, of whatever process.
    fileprivate let number: UUID

    fileprivate func task(of session: URLSession) -> URLSessionTask {
        let task: URLSessionTask =
            if let file { BackgroundUploadTask(request, number, file: file, of: session) } else {
                URLSessionDownloadTask(request, number, of: session)
            }
        task.taskDescription = description
        return task
    }
}

/// The system's part of background sessions: its transfers outlive the objects that an app's process has of them. What happens while no
/// session has their identifier is reported to the next that has.
public enum FakeDaemon {
    /// How a transfer ends.
    public enum End: Sendable {
        case response(Int, [UInt8])
        case error(URLError)
    }

    private struct State {
        var session: URLSession?
        /// Whether the session is invalid when its last transfer has ended.
        var isFinishing = false
        var running: [FakeTransfer] = []
        var ended: Set<UUID> = []
        var unreported: [(FakeTransfer, End)] = []
    }
    private static let states = Mutex<[String: State]>([:])

    /// The transfers that have not ended.
    public static func running(_ identifier: String) -> [FakeTransfer] {
        states.withLock { $0[identifier]?.running ?? [] }
    }

    /// The configuration of the session that receives the ends; `nil` if there is none.
    public static func configuration(_ identifier: String) -> URLSessionConfiguration? {
        states.withLock { $0[identifier]?.session?.configuration }
    }

    /// Ends the app's process, as far as the daemon is concerned: nothing is reported to its session any more.
    public static func endProcess(_ identifier: String) {
        states.withLock { states in
            states[identifier]?.session = nil
            states[identifier]?.isFinishing = false
        }
    }

    /// Loses a transfer, without a report.
    public static func lose(_ identifier: String, _ description: String) {
        states.withLock { $0[identifier]?.running.removeAll { $0.description == description } }
    }

    /// Changes a transfer into one whose process ended before it resumed the task, or even before it named it.
    public static func interrupt(_ identifier: String, _ description: String, isNamed: Bool = true) {
        states.withLock { states in
            guard let index = states[identifier]?.running.firstIndex(where: { $0.description == description }) else {
                return
            }
            states[identifier]?.running[index].isSuspended = true
            if !isNamed { states[identifier]?.running[index].description = nil }
        }
    }

    /// Ends a transfer.
    public static func end(_ identifier: String, _ description: String, _ end: End) {
        self.end(identifier, end) { $0.description == description }
    }

    private static func end(_ identifier: String, _ end: End, _ isMeant: (FakeTransfer) -> Bool) {
        let session = states.withLock { states -> URLSession? in
            guard let index = states[identifier]?.running.firstIndex(where: isMeant),
                let transfer = states[identifier]?.running.remove(at: index)
            else { return nil }
            states[identifier]?.ended.insert(transfer.number)
            states[identifier]?.unreported.append((transfer, end))
            return states[identifier]?.session
        }
        if let session { report(to: session, identifier) }
        releaseIfDone(identifier)
    }

    /// Reports how far a transfer is, to a session that is there.
    ///
    /// - Parameter total: -1 for an unknown length (`NSURLSessionTransferSizeUnknown`).
    public static func progress(_ identifier: String, _ description: String, _ byteCount: Int64, of total: Int64) {
        guard let (session, transfer) = find(identifier, description) else { return }
        session.delegateQueue.addOperation {
            guard let delegate = session.delegate as? any URLSessionDownloadDelegate else { return }
            let task = transfer.task(of: session)
            if let task = task as? URLSessionDownloadTask {
                delegate.urlSession(
                    session, downloadTask: task, didWriteData: 1, totalBytesWritten: byteCount,
                    totalBytesExpectedToWrite: total)
            } else {
                delegate.urlSession(
                    session, task: task, didSendBodyData: 1, totalBytesSent: byteCount, totalBytesExpectedToSend: total)
            }
        }
    }

    /// Reports a challenge of a transfer's server; returns what the delegate decides.
    public static func challenge(
        _ identifier: String, _ description: String, _ space: URLProtectionSpace
    ) async -> URLSession.AuthChallengeDisposition? {
        guard let (session, transfer) = find(identifier, description) else { return nil }
        return await withCheckedContinuation { continuation in
            session.delegateQueue.addOperation {
                guard let delegate = session.delegate else { return continuation.resume(returning: nil) }
                let challenge = URLAuthenticationChallenge(fakeOf: space)
                delegate.urlSession(session, task: transfer.task(of: session), didReceive: challenge) {
                    disposition, _ in
                    continuation.resume(returning: disposition)
                }
            }
        }
    }

    private static func find(_ identifier: String, _ description: String) -> (URLSession, FakeTransfer)? {
        states.withLock { states in
            guard let session = states[identifier]?.session,
                let transfer = states[identifier]?.running.first(where: { $0.description == description })
            else { return nil }
            return (session, transfer)
        }
    }

    static func attach(_ session: URLSession) {
        guard let identifier = session.configuration.identifier else { return }
        let isLaunch = states.withLock { states in
            // developer.apple.com: background(withIdentifier:): "You must create exactly one session per identifier".
            precondition(states[identifier]?.session == nil, "Two sessions have one identifier.")
            states[identifier, default: State()].session = session
            return !(states[identifier]?.unreported.isEmpty ?? true)
        }
        guard isLaunch else { return }
        report(to: session, identifier)
        session.delegateQueue.addOperation {
            (session.delegate as? any URLSessionDownloadDelegate)?
                .urlSessionDidFinishEvents(forBackgroundURLSession: session)
        }
    }

    static func detach(_ session: URLSession) {
        guard let identifier = session.configuration.identifier else { return }
        states.withLock { if $0[identifier]?.session === session { $0[identifier]?.isFinishing = true } }
        releaseIfDone(identifier)
    }

    /// Releases a session that is finishing and whose transfers have ended and were reported.
    private static func releaseIfDone(_ identifier: String) {
        let session = states.withLock { states -> URLSession? in
            guard states[identifier]?.isFinishing == true, states[identifier]?.running.isEmpty == true else {
                return nil
            }
            defer {
                states[identifier]?.session = nil
                states[identifier]?.isFinishing = false
            }
            return states[identifier]?.session
        }
        // After what was reported before.
        if let session { session.delegateQueue.addOperation { withExtendedLifetime(session) {} } }
    }

    fileprivate static func start(_ task: URLSessionTask, _ number: UUID, file: URL?) {
        guard let identifier = task.session?.configuration.identifier, let request = task.originalRequest else {
            fatalError("Only background sessions have such tasks here.")
        }
        let transfer = FakeTransfer(request: request, file: file, description: task.taskDescription, number: number)
        states.withLock { states in
            if states[identifier]?.ended.contains(number) == true { return }
            if let index = states[identifier]?.running.firstIndex(where: { $0.number == number }) {
                states[identifier]?.running[index].isSuspended = false
            } else {
                states[identifier]?.running.append(transfer)
            }
        }
    }

    fileprivate static func state(of task: URLSessionTask, _ number: UUID) -> URLSessionTask.State {
        let identifier = task.session?.configuration.identifier ?? ""
        return states.withLock { states -> URLSessionTask.State in
            if states[identifier]?.ended.contains(number) == true { return .completed }
            // One that was not resumed is not among them.
            let transfer = states[identifier]?.running.first { $0.number == number }
            return transfer?.isSuspended ?? true ? .suspended : .running
        }
    }

    fileprivate static func cancel(_ task: URLSessionTask, _ number: UUID) {
        guard let identifier = task.session?.configuration.identifier else { return }
        end(identifier, .error(URLError(.cancelled))) { $0.number == number }
    }

    static func tasks(of session: URLSession) -> [URLSessionTask] {
        running(session.configuration.identifier ?? "").map { $0.task(of: session) }
    }

    private static func report(to session: URLSession, _ identifier: String) {
        let ends = states.withLock { states in
            defer { states[identifier]?.unreported = [] }
            return states[identifier]?.unreported ?? []
        }
        for (transfer, end) in ends {
            session.delegateQueue.addOperation {
                guard let delegate = session.delegate else { return }
                let task = transfer.task(of: session)
                switch end {
                case .error(let error): delegate.urlSession(session, task: task, didCompleteWithError: error)
                case .response(let status, let body):
                    task.response = HTTPURLResponse(
                        url: transfer.request.url!, statusCode: status, httpVersion: "HTTP/1.1", headerFields: [:])
                    if let task = task as? URLSessionDownloadTask {
                        let file = FileManager.default.temporaryDirectory.appendingPathComponent(
                            "fake-\(UUID().uuidString)")
                        // A test on a machine without room for its files must stop.
                        try! Data(body).write(to: file)
                        (delegate as? any URLSessionDownloadDelegate)?
                            .urlSession(session, downloadTask: task, didFinishDownloadingTo: file)
                        try? FileManager.default.removeItem(at: file)
                    } else if let task = task as? URLSessionDataTask {
                        delegate.urlSession(session, dataTask: task, didReceive: Data(body))
                    }
                    delegate.urlSession(session, task: task, didCompleteWithError: nil)
                }
            }
        }
    }
}

extension FakeExchange {
    /// The configuration of the session.
    public var sessionConfiguration: URLSessionConfiguration { task.session!.configuration }
}
