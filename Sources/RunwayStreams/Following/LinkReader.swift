import HTTPTypes
import Runway
import RunwayFormats
import Synchronization

/// Opens one connection of a stream (a link), which is one response of the server, reads it, and passes its events to
/// the stream's reader.
struct LinkReader: Sendable {
    let number: Int
    let source: any LinkSource
    let buffer: StreamBuffer
    let clock: LayerClock
    let limits: EventLimits
    let monitor: LinkMonitor
    /// The topics of the stream. A change of the topics may end the connection.
    let topics: StreamTopics
    /// The topics that the connection requests; `nil` lets the server choose.
    let asked: Set<String>?
    let opened: @Sendable (LinkFacts) -> Void
    /// Called when the server has reported how the connection continues the previous one.
    let continued: @Sendable () -> Void
    /// Called when bytes have arrived after a probe, which asks the server for a heartbeat.
    let probeConfirmed: @Sendable () -> Void

    /// Reads the connection, and returns how it ended. The result is meaningless if the task was cancelled.
    func follow(_ intake: inout EventIntake, heartbeat: Duration) async -> LinkFailure {
        let session = source.account.makeSessionFlight()
        let response: StreamedResponse
        do throws(NetworkError) {
            response = try await source.open(after: intake.lastEventID, topics: asked, heartbeat: heartbeat)
        } catch {
            // If the account has not signed out, the system ended the call at the end of the background time.
            let isSignedOut = session.isSignedOut || !source.account.isPresent
            return error.kind == .cancelled && !isSignedOut ? .suspended : LinkFailure(error)
        }
        let flight = response.flight
        let head = response.response
        if head.status == .noContent { return .final(nil) }
        if let reason = NoStream(head) { return refusal(of: response, because: reason) }
        flight.note(StreamDecision.opened(resumedFrom: intake.lastEventID))
        var facts = LinkFacts(head.headerFields)
        facts.tokenRenewalWindow = response.tokenRenewalWindow
        opened(facts)
        monitor.begin(at: clock.now)
        var counts = StreamCounts()
        let end = await read(response, &intake, &counts)
        flight.note(StreamDecision.closed(Task.isCancelled ? monitor.end : end.reason, counts))
        // The end of the body ended the call, so its record may have been reported already.
        flight.amend()
        return end.failure
    }

    /// Ends the call of a response that is not a stream.
    private func refusal(of response: StreamedResponse, because reason: NoStream) -> LinkFailure {
        response.flight.note(StreamDecision.notOpened(reason))
        let error = response.discard(
            failing: NetworkError(
                .invalidResponse, in: .checking, "The response is no stream of events: \(reason).",
                status: response.response.status))
        return response.response.isPage ? .untrusted : .final(error)
    }

    private func read(
        _ response: StreamedResponse, _ intake: inout EventIntake, _ counts: inout StreamCounts
    ) async -> (failure: LinkFailure, reason: LinkEnd) {
        var parser = EventParser(lastEventID: intake.lastEventID, limits: limits)
        let name = response.response.headerFields[.runwayStream]
        let formerDuplicateCount = intake.duplicateCount
        defer { counts.duplicates = intake.duplicateCount - formerDuplicateCount }
        let hasReturnedTopics = name == nil && topics.opened(on: number, asked: asked)
        await pass(intake.begin(name), of: intake.stream, &counts, hasReturnedTopics: hasReturnedTopics)
        if let end = topics.end(of: number) { return (end, .topics) }
        do {
            var parts = response.body.makeAsyncIterator()
            while let part = try await parts.next() {
                let isProof = monitor.noteBytes(at: clock.now)
                counts.bytes += part.count
                parser.add(part)
                // Items that were read and counted have to reach the buffer, since the next connection starts after
                // them.
                while !Task.isCancelled, topics.end(of: number) == nil, let item = try parser.next() {
                    await pass(intake.read(item), of: intake.stream, &counts)
                }
                if isProof { probeConfirmed() }
                if let end = topics.end(of: number) { return (end, .topics) }
            }
            return (.transient(retryAfter: nil), .closed)
        } catch let error as EventLimitExceeded {
            let invalid = NetworkError(.invalidResponse, in: .checking, error.description, underlying: error)
            return (.final(invalid), .failed(invalid.detail))
        } catch {
            let error = error as? NetworkError ?? NetworkError(.noNetwork, in: .transporting, "The stream broke.")
            if error.kind == .cancelled {
                return (response.flight.isSignedOut ? .final(error) : .suspended, .failed(error.detail))
            }
            // The next connection would receive the same undecodable bytes, unless some events of this connection were
            // readable.
            if error.isUndecodable, counts.events == 0 { return (.final(error), .failed(error.detail)) }
            monitor.noteCut()
            return (.transient(retryAfter: error.retryAfter), .failed(error.detail))
        }
    }

    private func pass(
        _ outputs: [EventIntake.Output], of stream: String, _ counts: inout StreamCounts,
        hasReturnedTopics: Bool = false
    ) async {
        func entry(_ element: StreamElement?, _ id: String, byteCount: Int) -> StreamBuffer.Entry {
            let cursor = StreamCursor(
                stream: stream, lastEventID: id, topics: topics.followed, refusedTopics: topics.refused)
            return StreamBuffer.Entry(element: element, cursor: cursor, byteCount: byteCount, link: number)
        }
        var hasReturnedTopics = hasReturnedTopics
        for output in outputs {
            switch output {
            case .retry(let time): monitor.retry(after: time)
            case .connection(let connection, let refused):
                hasReturnedTopics = topics.opened(connection, on: number, asked: asked, refused: refused)
            case .position(let id): await add(entry(nil, id, byteCount: 0))
            case .continuity(let reported, let id):
                let continuity = hasReturnedTopics ? reported.withReturnedTopics : reported
                counts.continuity = continuity
                continued()
                await add(entry(.continuity(continuity), id, byteCount: 64))
            case .caughtUp(let id): await add(entry(.caughtUp, id, byteCount: 64))
            case .event(let event, let id):
                if let topic = event.topic, !topics.wants(topic) {
                    await add(entry(nil, id, byteCount: 0))
                    continue
                }
                counts.events += 1
                await add(
                    entry(
                        .event(StreamEvent(event, of: source.endpoint)), id,
                        byteCount: event.data.utf8.count + event.type.utf8.count + id.utf8.count + 64))
            }
        }
    }

    private func add(_ entry: StreamBuffer.Entry) async {
        guard buffer.add(entry) else { return }
        monitor.hold()
        await buffer.waitForRoom()
        monitor.release(at: clock.now)
    }
}

/// The times at which bytes arrived on one connection. The connection's reader writes them, and the timer reads them.
final class LinkMonitor: Sendable {
    private struct State {
        var activity = StreamMachine.Activity(last: .zero)
        var end = LinkEnd.stopped
        var retry: Duration?
        var isCut = false
        /// The time of the last probe, which asks the server for a heartbeat; `nil` if there was none, or if bytes have
        /// arrived since.
        var probeTime: Duration?
    }

    /// Guards the times, the reconnection time that the server asked for, and the reason why the connection is closed.
    private let state = Mutex(State())

    func begin(at now: Duration) { state.withLock { $0.activity = StreamMachine.Activity(last: now) } }

    func noteProbe(at now: Duration) { state.withLock { $0.probeTime = now } }

    /// Records received bytes. Returns whether they are the first ones after the server was asked for a heartbeat (a
    /// probe).
    func noteBytes(at now: Duration) -> Bool {
        state.withLock { state in
            state.activity.longestSilence = max(state.activity.longestSilence, now - state.activity.last)
            state.activity.last = now
            guard let probeTime = state.probeTime, now > probeTime else { return false }
            state.probeTime = nil
            return true
        }
    }

    func hold() { state.withLock { $0.activity.isHeld = true } }

    func release(at now: Duration) {
        state.withLock { state in
            state.activity.isHeld = false
            state.activity.last = now
        }
    }

    /// Returns the times at which bytes arrived, and starts to measure silences again.
    func take() -> StreamMachine.Activity {
        state.withLock { state in
            defer { state.activity.longestSilence = .zero }
            return state.activity
        }
    }

    /// Stores the reconnection time that the server asks for. The latest one counts.
    func retry(after time: Duration) { state.withLock { $0.retry = time } }

    /// Returns the reconnection time that the server has asked for since the last call; `nil` if it has not.
    func takeRetry() -> Duration? { state.withLock { $0.retry.take() } }

    /// Records that the connection broke before the end of the response.
    func noteCut() { state.withLock { $0.isCut = true } }

    /// If the connection broke, returns the times at which bytes arrived; otherwise returns `nil`.
    func takeIfCut() -> StreamMachine.Activity? { state.withLock { $0.isCut ? $0.activity : nil } }

    /// The reason why the client closes the connection.
    var end: LinkEnd {
        get { state.withLock { $0.end } }
        set { state.withLock { $0.end = newValue } }
    }
}

extension LinkFacts {
    /// Reads the properties of a connection from the header fields of its response.
    init(_ fields: HTTPFields) {
        func seconds(_ name: HTTPField.Name) -> Duration? {
            fields[name].flatMap { Int32($0) }.flatMap { $0 > 0 ? .seconds($0) : nil }
        }
        heartbeat = seconds(.runwayHeartbeat)
        heartbeatLimit = seconds(.runwayHeartbeatLimit)
        lifetime = seconds(.runwayLifetime)
        statesContinuity = fields.contains(.runwayStream)
    }
}

extension StreamContinuity {
    /// The continuity for a connection that includes a topic whose earlier events the stream has skipped. It is not
    /// ``StreamContinuity/resumed``.
    fileprivate var withReturnedTopics: StreamContinuity {
        if case .reset = self { return self }
        return .reset(.topics)
    }
}

/// The reason why a successful response is not an event stream (WHATWG HTML §9.2.3).
struct NoStream: Sendable, Equatable, CustomStringConvertible {
    let status: HTTPResponse.Status
    let type: String?
    let coding: String?

    /// Checks the head of a response. Returns `nil` if it is an event stream. Links are requested without a content
    /// coding, and the transport has decoded the codings that it knows. A charset is ignored, since event streams are
    /// in UTF-8 (WHATWG HTML §9.2.5).
    init?(_ head: HTTPResponse) {
        (status, type, coding) = (head.status, head.mediaType, head.remainingCoding)
        if status == .ok, type == "text/event-stream", coding == nil { return nil }
    }

    var description: String {
        if status != .ok { return "its status is \(status.code)" }
        if type != "text/event-stream" { return "its type is \(type ?? "unknown")" }
        return "its content coding \(coding ?? "") can't be undone"
    }
}

extension HTTPResponse {
    /// The media type without its parameters; `nil` if the response has no `Content-Type`.
    fileprivate var mediaType: String? {
        headerFields[.contentType]?.split(separator: ";").first?.lowercased().filter { $0 != " " }
    }

    /// Whether the response is a web page instead of a stream, as the login portal of a public Wi-Fi sends.
    fileprivate var isPage: Bool { status == .ok && mediaType == "text/html" }
}

extension LinkFailure {
    /// Decides from the error of a call that opened a connection whether to try again.
    init(_ error: NetworkError) {
        switch error.outlook.obstacle {
        case .unreadable where error.rawData?.response.isPage == true: self = .untrusted
        case .untrusted: self = .untrusted
        case .connection, .unavailable, .fault: self = .transient(retryAfter: error.retryAfter)
        case .login, .unreadable, .conflict, .executed, .refused, .app, .device, .ended: self = .final(error)
        }
    }
}
