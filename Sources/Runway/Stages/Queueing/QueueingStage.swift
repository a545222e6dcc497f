import HTTPTypes
import RunwayFormats
import Synchronization

import struct Foundation.UUID

/// While there is no network or the server is down, stores calls that change data: see ``OfflinePolicy``.
///
/// A call is also stored before it is sent, so that it is not lost if the process ends during its first attempt.
///
/// The stage comes after the cache and before all stages that send, so that stored calls contain no token, cookie or
/// signature. A call with an offline policy is passed on with an `Idempotency-Key`. Every other call is passed on
/// unchanged. A streamed body is not stored.
struct QueueingStage: RequestStage {
    private let queue: (any ChangeQueue)?
    private let reports: ChangeReports
    private let inFlight = ChangesInFlight()
    private let stored = StoredCalls()

    init(_ queue: (any ChangeQueue)?, _ reports: ChangeReports) {
        self.queue = queue
        self.reports = reports
    }

    var step: FlightStep { .offlineQueue }
    /// `true`: a call that may be stored ends its wait for the later stages by itself (``detaches(_:in:)``). Storing
    /// the call takes as long as the disk needs.
    var endsInTime: Bool { true }

    func handles(_ request: Request, in flight: Flight) -> Bool { mayQueue(request, in: flight) }

    func detaches(_ request: Request, in flight: Flight) -> Bool { mayQueue(request, in: flight) }

    func respondImmediately(_ draft: inout RequestDraft, in flight: Flight) throws(NetworkError) -> ImmediateResponse {
        .pass
    }

    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        guard let queue else { return try await next.send(request, in: flight) }
        guard queue.accepts(flight.endpoint) else {
            throw NetworkError(
                .invalidConfiguration, in: step,
                "\(flight.endpoint.name) is to be stored while there is no network, and the offline queue does not know the "
                    + "endpoint: pass it to the queue's initialiser.")
        }
        // A stage of the app may repeat a request whose call is already stored. The change must not be executed twice.
        if flight.recorder.hasEnded { throw stored.error(of: flight.id) ?? .cancelled(in: step) }
        var change: UnsentChange
        do throws(Unstorable) {
            change = try UnsentChange(request, in: flight)
        } catch {
            flight.note(QueueingDecision.unstorable(error.reason))
            return try await next.send(request, in: flight)
        }
        var request = request
        request.head.headerFields[.idempotencyKey] = change.keyField
        try await waitForTurn(change, flight)
        defer { inFlight.leave(flight.id) }
        if try await hasToWait(change, queue) { throw await store(change, .others, queue, flight) }
        // From now on the server may receive the change, even if the process ends before the response.
        change.mayHaveBeenSent = true
        change.id = await writeAhead(change, queue, flight)
        let response: Response
        do throws(NetworkError) {
            response = try await next.sendDetached(request, in: flight) {
                .failure(
                    flight.timeout("There was no response within \(flight.lifetime.text).", in: .offlineQueue))
            }
        } catch {
            guard error.mayPass || error.leavesEffectUnknown || flight.mayHaveTakenEffect(before: error) else {
                queue.removeWritten(change)
                throw error
            }
            change.mayHaveBeenSent = error.sending != .notSent
            change.retryAfter = error.retryAfter
            throw await store(change, .failed(error.kind), after: error, queue, flight)
        }
        guard response.mayPass || response.leavesEffectUnknown else {
            queue.removeWritten(change)
            return response
        }
        change.retryAfter = response.retryAfter(now: flight.clock.date)
        throw await store(
            change, .status(response.head.status.code), after: response.refusal, queue, flight)
    }

    /// Stores a change before it is sent.
    ///
    /// - Returns: The identifier of the stored change; `nil` if the change can't be stored. The change is sent in both
    ///   cases.
    private func writeAhead(_ change: UnsentChange, _ queue: any ChangeQueue, _ flight: Flight) async -> UUID? {
        do {
            return try await queue.writeAhead(change)
        } catch {
            flight.note(QueueingDecision.unwritten(error.redactedDescription))
            return nil
        }
    }

    /// Returns whether earlier changes of the account wait.
    ///
    /// - Throws: ``NetworkError/Kind/storage`` if that is unknown and the call names the objects that it changes: an
    ///   earlier change of one of these objects may wait, and would undo this change if it were sent later. A call that
    ///   names no objects is sent.
    private func hasToWait(_ change: UnsentChange, _ queue: any ChangeQueue) async throws(NetworkError) -> Bool {
        do {
            return try await queue.hasToWait(change)
        } catch {
            if change.subjects.isEmpty { return false }
            throw NetworkError(
                .storage, in: step,
                "The offline queue can't be read, so that earlier changes of the same may wait: \(error.redactedDescription)",
                sending: .notSent, underlying: error)
        }
    }

    /// Returns whether the call is stored if it can't be sent.
    private func mayQueue(_ request: Request, in flight: Flight) -> Bool {
        guard queue != nil, flight.endpoint.offline.isQueued, flight.options.replayedChange == nil,
            !request.head.method.isSafe, case .whole = request.delivery
        else { return false }
        if case .stream = request.body { return false }
        return true
    }

    private func waitForTurn(_ change: UnsentChange, _ flight: Flight) async throws(NetworkError) {
        let subjects = Set(
            change.subjects.map {
                ChangesInFlight.Subject(service: ObjectIdentifier(flight.service), account: flight.account, name: $0)
            })
        let start = flight.clock.now
        let end = await inFlight.enter(flight, subjects)
        let wait = flight.clock.now - start
        if wait > .zero { flight.note(QueueingDecision.waited(wait)) }
        switch end {
        case .granted: return
        case .timedOut:
            throw flight.timeout(
                "An earlier change of the same did not end before the deadline.", in: step, sending: .notSent)
        case .cancelled: throw .cancelled(in: step)
        case .refused: preconditionFailure("any number of changes may wait")
        }
    }

    /// Stores a change, and ends its call as queued.
    ///
    /// - Returns: The error for the caller.
    private func store(
        _ change: UnsentChange, _ cause: QueueingDecision.Cause, after error: NetworkError? = nil,
        _ queue: any ChangeQueue, _ flight: Flight
    ) async -> NetworkError {
        // If the account has signed out, its call is not stored, because it must not be sent in the account's name
        // later.
        if Task.isCancelled || flight.session.isOver {
            queue.removeWritten(change)
            return Task.isCancelled ? .cancelled(in: step) : error ?? .cancelled(in: step)
        }
        let stored: QueuedChange
        do {
            stored = try await queue.store(change)
        } catch let problem {
            queue.removeWritten(change)
            flight.note(QueueingDecision.failed(cause: cause))
            return NetworkError(
                .storage, in: step,
                "The call can't be sent now (\(cause)), and could not be stored: \(problem.redactedDescription)",
                sending: change.mayHaveBeenSent ? .unknown : .notSent, underlying: problem)
        }
        flight.note(QueueingDecision.stored(change: stored.id, cause: cause))
        if flight.manager != nil { reports.expect(stored.id) }
        // The call is ended here. So a call that was cancelled or replaced in the meantime is not sent later.
        let isQueued = !Task.isCancelled && !flight.session.isOver && flight.finish(.queued(as: stored.id))
        if !isQueued { reports.forget(stored.id) }
        await queue.settle(stored.id, isQueued: isQueued)
        if !isQueued { return .cancelled(in: step) }
        var queued = NetworkError(
            .queued, in: step, "The call is stored, and sent when that is possible: \(cause).",
            sending: change.mayHaveBeenSent ? .unknown : .notSent, underlying: ChangeIsQueued(change: stored))
        queued.retryAfter = error?.retryAfter
        self.stored.add(flight.id, queued)
        return queued
    }
}

/// The errors of the calls that were stored last. They are needed if an earlier stage repeats the request of such a
/// call.
private final class StoredCalls: Sendable {
    private static let maximumCount = 64

    /// Guards the errors, in the order in which the calls were stored.
    private let errors = Mutex<[(flight: FlightID, error: NetworkError)]>([])

    func add(_ flight: FlightID, _ error: NetworkError) {
        errors.withLock { errors in
            errors.append((flight, error))
            if errors.count > Self.maximumCount { errors.removeFirst() }
        }
    }

    func error(of flight: FlightID) -> NetworkError? { errors.withLock { $0.last { $0.flight == flight }?.error } }
}

/// The reason why a call can't be stored.
struct Unstorable: Error {
    let reason: String
}

extension UnsentChange {
    /// Creates the change from a request that no stage has authenticated.
    ///
    /// - Throws: ``Unstorable`` if the request contains a secret or is not for its service's base URL.
    init(_ request: Request, in flight: Flight) throws(Unstorable) {
        guard let baseURL = try? flight.configuration.baseURL.get(), baseURL.contains(request.head),
            let path = request.head.path
        else { throw Unstorable(reason: "the request is not for the service's base URL") }
        let redaction = flight.context.redaction
        let target = String(path.dropFirst(baseURL.pathPrefix.count))
        guard redaction.redacted(url: target) == target else {
            throw Unstorable(reason: "the query has a secret")
        }
        let common = flight.configuration.settings.commonHeaders
        var fields = HTTPFields()
        for field in request.head.headerFields where field.name != .idempotencyKey {
            if common.contains(where: { $0.key.lowercased() == field.name.canonicalName && $0.value == field.value }) {
                continue
            }
            guard !flight.isAuthenticating(field.name), redaction.redacted(HTTPFields([field])) == HTTPFields([field])
            else {
                throw Unstorable(reason: "the header field \(field.name) may be a secret")
            }
            fields.append(field)
        }
        var body: [UInt8] = []
        if case .bytes(let bytes) = request.body { body = bytes }
        self.init(
            endpoint: flight.endpoint, environment: flight.environment, account: flight.account, flight: flight.id,
            method: request.head.method, target: target, headerFields: fields, body: body,
            parameters: flight.recorder.content?.parameters ?? [:],
            call: flight.recorder.queued.map { StoredCall.bytes(of: $0.endpoint) } ?? [],
            authorization: flight.options.authorization, subjects: flight.recorder.queued?.subjects ?? [],
            invalidates: flight.reading.invalidations.map(\.scope), key: UUID(), mayHaveBeenSent: false)
    }

    var keyField: String { key.idempotencyKey }
}

extension NetworkError {
    /// Whether the same call may succeed later, because the host was not reached or is down. If the layer refuses a
    /// call because there are too many, the call is not stored: a loop would fill the queue.
    fileprivate var mayPass: Bool { outlook.isServerUnavailable && kind != .overloaded }

    /// Whether the server responded, but the response can't be read. The server may then have executed the change. An
    /// error of a token renewal does not count, because a renewal sends no change.
    fileprivate var leavesEffectUnknown: Bool {
        kind.obstacle == .unreadable && step != .authorizing && outlook.mayHaveTakenEffect
    }
}

extension ChangeQueue {
    /// Removes a change that was stored before its call was sent. The call has ended, and the change is not queued.
    fileprivate func removeWritten(_ change: UnsentChange) { if let id = change.id { removeWritten(id) } }
}

extension Flight {
    /// Returns whether an attempt before the failed one may have taken effect. For a refusal, see
    /// ``Response/leavesEffectUnknown``.
    fileprivate func mayHaveTakenEffect(before error: NetworkError) -> Bool {
        if error.kind == .cancelled || error.sending == .notSent { return false }
        // A further attempt lacked a token. This error says nothing about the last attempt that was sent.
        return error.followsProcessedRequest
            || recorder.hasUnclearAttempt(includingLast: error.step == .authorizing)
    }
}

extension Response {
    /// Whether the response leaves it unknown if the server executed the change. There are three cases:
    ///
    /// - The server failed, or sent a response that can't be read.
    /// - An earlier attempt of the call may have taken effect.
    /// - The refusal concerns only the target of a redirect.
    ///
    /// If the caller repeated the call under another key, the change might be executed twice. The queue sends it again
    /// under the same key instead.
    fileprivate var leavesEffectUnknown: Bool {
        guard let outlook = refusal?.outlook else { return false }
        if followsProcessedRequest { return true }
        // Only the app can correct a redirect that can't be followed, or a pipeline without a judging stage.
        let isUnclear = outlook.mayHaveTakenEffect && verdict != nil && verdict != .redirected
        return outlook.keyEnd == nil && (followsSentAttempt || isUnclear)
    }

    /// Whether the server is down or overloaded, so that the same call may succeed later.
    fileprivate var mayPass: Bool { refusal?.outlook.obstacle == .unavailable }
}
