import HTTPTypes
import RunwayFormats
import Synchronization

/// Sends a file, and the rest of it after each interruption, as defined by the IETF draft on resumable uploads.
struct ResumableUpload: Sendable {
    let request: Request
    let flight: Flight
    let byteCount: Int
    let file: BodyStream.FilePart
    let policy: UploadResumption
    let network: NetworkLayer
    let progress: UploadProgress
    let plan: UploadState
    let record: UploadRecordFile?
    let source: String

    /// Returns `nil` if the request can't be resumed, because its body is not a file or the policy is off.
    init?(
        _ request: Request, _ policy: UploadResumption, in flight: Flight, _ report: ProgressReporter.Receiver?,
        over network: NetworkLayer
    ) {
        guard policy.isOn, case .stream(let stream, let byteCount?, _) = request.body, let file = stream.filePart,
            !(flight.configuration.settings.compression?.compressesStreams ?? false)
        else { return nil }
        var request = request
        request.isRetriedBySender = true
        // All attempts of the call must have the same `Idempotency-Key`.
        request.addIdempotencyKey(for: flight.endpoint)
        self.request = request
        self.flight = flight
        self.byteCount = byteCount
        self.file = file
        self.policy = policy
        self.network = network
        progress = UploadProgress(ProgressReporter(report, flight.clock), byteCount: byteCount)
        plan = UploadState(
            UploadPlan(
                byteCount: byteCount,
                isRepeatable: flight.retryPolicy.allows(request, after: .noNetwork(.sent))))
        record = policy.outlivesCall ? UploadRecordFile(beside: file.path, network.fileClaims) : nil
        source = flight.sourceName(of: request)
    }

    /// Sends the file, and returns the response that `check` accepts. Before it starts, it waits for the end of a
    /// cancelled call for the same file.
    @concurrent func run(
        _ check: @Sendable (Response) throws(NetworkError) -> RawData
    ) async throws(NetworkError) -> RawData {
        try await record?.waitForCancelled(in: flight)
        let result: Result<RawData, NetworkError> = await withTaskCancellationHandler {
            var sending = SendState.notSent
            let end: Result<RawData, NetworkError>
            do throws(NetworkError) { end = .success(try await send(check, &sending)) } catch {
                var error = error
                error.sending = sending.and(error.sending)
                end = .failure(error)
            }
            await record?.close()
            return end
        } onCancel: {
            record?.cancel()
        }
        if case .failure = result, plan.location != nil, record?.isStored == true { flight.setContinuedByNext() }
        return try result.get()
    }

    /// - Parameter sending: Set to whether any request may have sent bytes.
    private func send(
        _ check: @Sendable (Response) throws(NetworkError) -> RawData, _ sending: inout SendState
    ) async throws(NetworkError) -> RawData {
        if let stored = await record?.load(), stored.matches(source, file, byteCount: byteCount),
            request.forUpload(at: stored.location, policy) != nil
        {
            plan.resume(stored)
        } else if flight.options.resumption?.mustContinue == true {
            throw .notContinued
        }
        var attempt = 1
        while true {
            let step = plan.step
            let sent = SentCount()
            // If the server has all bytes, this empty request completes the upload.
            if case .append(let rest) = step, rest.isEmpty { await pass(upTo: rest.upperBound) }
            let message = message(step, counting: sent)
            // The number of network changes is read before the request, so that a change of the network before the wait
            // for the circuit is noticed.
            let generation = network.admission.networkGeneration
            let response: Response
            do throws(NetworkError) {
                response = try await network.send(message, in: flight)
                sending = .sent
            } catch {
                sending = sending.and(error.sending)
                // The IETF draft asks clients to stop an upload that is too large at once, and to cancel it.
                if let reason = plan.refusalOfSize, !Task.isCancelled { throw await contradicted(reason) }
                await saveRecord()
                guard mayContinue(after: error) else { throw error }
                if let openTime = circuitTime(of: error) {
                    // No byte was sent, so the server's offset has not changed.
                    try await waitForCircuit(openTime, since: generation, attempt, failing: error)
                    continue
                }
                let hasAdvanced = plan.update { plan in
                    plan.takeFailure()
                    return plan.hasAdvanced()
                }
                if hasAdvanced { attempt = 1 }
                if plan.location == nil { progress.restart(at: 0) }
                let cause = RetryCause(interruption: error) ?? .noNetwork(error.sending)
                try await wait(&attempt, after: cause, sent, failing: error)
                continue
            }
            let fields = UploadFields(response: response.head.headerFields)
            let location = location(in: response.head, of: request.head)
            let (action, hasAdvanced) = plan.update { plan in
                let action = plan.take(response.head.status, fields, location: location, to: step)
                return (action, plan.hasAdvanced())
            }
            await saveRecord()
            if hasAdvanced { attempt = 1 }
            switch action {
            case .proceed:
                flight.extendDeadline()
                let offset = plan.offset
                progress.restart(at: offset)
                if step == .retrieve { flight.note(UploadDecision.resuming(at: offset)) }
            case .wait:
                let cause = RetryCause.status(response.head.status.code)
                try await wait(&attempt, after: cause, sent, failing: response.uploadError, response.delay(in: flight))
            case .startOver:
                flight.note(UploadDecision.startedOver)
                await record?.remove()
                progress.restart(at: 0)
                try await wait(&attempt, after: .status(response.head.status.code), sent, failing: response.uploadError)
            case .land where plan.location == nil && response.verdict != .fine:
                // The server did not create the upload. As without resumption, the whole request is repeated if the
                // policy allows it.
                guard let cause = flight.retryPolicy.cause(of: response) else { return try check(response) }
                try await wait(&attempt, after: cause, sent, failing: response.uploadError, response.delay(in: flight))
                progress.restart(at: 0)
            case .land:
                let landed = Result { () throws(NetworkError) in try check(response) }
                await end(after: landed, response)
                return try landed.get()
            case .landWithoutResponse:
                flight.note(UploadDecision.responseLost)
                await record?.remove()
                progress.end()
                var response = response
                response.body = .whole(RawData([], response: response.head))
                response.verdict = .fine
                return try check(response)
            case .fail:
                if response.head.status.kind == .clientError, !response.head.status.concernsAccount {
                    await record?.remove()
                }
                throw response.uploadError
            case .contradict(let reason): throw await contradicted(reason, response.head.status)
            }
        }
    }

    private func end(after landed: Result<RawData, NetworkError>, _ response: Response) async {
        // A refused upload that the server has not completely received may be allowed later, after a sign-in. The
        // record with which a later call continues the upload therefore stays.
        if case .failure = landed, UploadFields(response: response.head.headerFields).isComplete != true { return }
        await record?.remove()
        if case .success = landed { progress.end() }
    }

    /// Stores the state at which a later call continues the upload, if that state is known. Returns after all earlier
    /// states are stored, including states that were saved while the body was read.
    private func saveRecord() async {
        guard let record else { return }
        let (plan, source, byteCount, file) = (plan, source, byteCount, file)
        // The state is read when it is written, so that no earlier state replaces a later one.
        await record.save {
            plan.takeUnsaved().map { location, passed in
                UploadRecord(source: source, location: location, byteCount: byteCount, passed: passed, file: file)
            }
        }
    }

    /// Called before the bytes of the file up to `offset` are passed to the transport. Stores the state that a later
    /// call needs.
    private func pass(upTo offset: Int) async {
        plan.update { $0.pass(upTo: offset) }
        // Most parts of a file change nothing in the state that a later call needs.
        if plan.isUnsaved { await saveRecord() }
    }

    private func mayContinue(after error: NetworkError) -> Bool {
        let isPassing = error.isInterruption || circuitTime(of: error) != nil
        return error.step != .authorizing && isPassing && !Task.isCancelled && flight.clock.now < flight.ownDeadline
    }

    /// Returns the time for which an open circuit refuses the requests of the upload. Returns `nil` if the error has
    /// another cause, or if the server does not know the upload.
    private func circuitTime(of error: NetworkError) -> Duration? {
        guard error.step == .admission, [.unavailable, .noNetwork].contains(error.kind), plan.location != nil else {
            return nil
        }
        return error.retryAfter
    }

    /// Waits until the circuit may let the next request pass, or the device has joined another network. The call's
    /// policy must allow another attempt, and the deadline must allow the wait. The wait does not count as an attempt
    /// and does not use the host's budget, because no request was sent.
    ///
    /// - Throws: `error` if no request follows.
    private func waitForCircuit(
        _ openTime: Duration, since generation: UInt64, _ attempt: Int, failing error: NetworkError
    ) async throws(NetworkError) {
        let policy = flight.retryPolicy
        // Jitter is added because several uploads may have been interrupted at once, and only one may pass first.
        let wait = openTime + network.retries.backoff(after: attempt, policy)
        guard policy.maximumAttempts > 1, flight.clock.now + wait < flight.deadline else { throw error }
        flight.note(UploadDecision.heldByCircuit(at: plan.offset, wait: wait))
        let end = await network.admission.waitForCircuit(
            since: generation, until: flight.clock.now + wait, on: flight.clock)
        if end == .cancelled { throw .cancelled(in: .transporting) }
    }

    /// Waits before the next request, if the call's policy, the host's budget and the deadline allow it.
    ///
    /// - Throws: `error` if no request follows.
    private func wait(
        _ attempt: inout Int, after cause: RetryCause, _ sent: SentCount, failing error: NetworkError,
        _ retryAfter: Duration? = nil
    ) async throws(NetworkError) {
        // If the server knows the upload, the next request only asks for its state.
        var probe = request
        if plan.location != nil { probe.head.method = .head }
        let hasAdvanced = plan.location != nil && sent.value >= UploadPlan.stepByteCount
        try await network.retries.waitAfterInterruption(
            probe, after: attempt, cause, retryAfter: retryAfter, paidBy: hasAdvanced ? nil : Origin(request.head),
            in: flight, failing: error
        ) { wait in UploadDecision.interrupted(at: plan.offset, wait: wait, cause: cause) }
        attempt += 1
    }

    /// Removes the upload of an earlier call from the server, and its record.
    @concurrent func discard() async throws(NetworkError) {
        guard let record, let stored = await record.load() else { return }
        await record.remove()
        guard stored.source == source, let deletion = request.deletingUpload(at: stored.location, policy) else {
            return
        }
        let response = try await network.send(deletion, in: flight)
        // An upload that the server no longer has need not be removed.
        if ![.notFound, .gone].contains(response.head.status), response.head.status.code >= 400 {
            throw response.uploadError
        }
    }

    /// Ends an upload that can't be continued, and returns its error.
    private func contradicted(_ reason: String, _ status: HTTPResponse.Status? = nil) async -> NetworkError {
        await cancel()
        await record?.remove()
        return NetworkError(.invalidResponse, in: .checking, reason, status: status)
    }

    /// Cancels the upload on the server, if possible.
    private func cancel() async {
        guard let location = plan.location, let deletion = request.deletingUpload(at: location, policy) else { return }
        _ = try? await network.send(deletion, in: flight)
    }
}

extension ResumableUpload {
    private func message(_ step: UploadPlan.Step, counting sent: SentCount) -> Request {
        var message = request
        if case .create = step {
        } else if let location = plan.location {
            message = request.forUpload(at: location, policy) ?? request
        }
        switch step {
        case .create(let end):
            message.body = body(0..<end, counting: sent)
            message.head.headerFields[.uploadDraftInteropVersion] = String(policy.interopVersion)
            message.head.headerFields.setComplete(end == byteCount, nil)
            message.head.headerFields[.uploadLength] = String(byteCount)
            if message.head.headerFields[.contentLength] != nil {
                message.head.headerFields[.contentLength] = String(end)
            }
        case .retrieve:
            message.head.method = .head
            // A streamed response is never shared with other calls.
            message.delivery = .streamed
        case .append(let bytes):
            message.head.method = .patch
            message.body = bytes.isEmpty ? .none : body(bytes, counting: sent)
            message.head.headerFields[.contentType] = UploadFields.partType
            message.head.headerFields[.uploadOffset] = String(bytes.lowerBound)
            message.head.headerFields.setComplete(bytes.upperBound == byteCount, nil)
        }
        if step != .retrieve {
            message.onInterim = { head, sentHead in take(interim: head, to: sentHead) }
            // The loss of a request is not harmless if its whole body was sent: the server received it and did not
            // respond.
            message.isLossHarmless = { [plan] in
                plan.location != nil && sent.value >= UploadPlan.stepByteCount && sent.value < step.bytes.count
            }
        }
        return message
    }

    /// Returns a part of the file as a body. Its bytes extend the deadline and are reported when the transport takes
    /// them.
    private func body(_ part: Range<Int>, counting sent: SentCount) -> RequestBody {
        let (file, flight, progress, plan) = (file, flight, progress, plan)
        var counted = BodyStream {
            var parts = file.stream(part).makeAsyncIterator()
            var taken = 0
            return {
                // A consumer that asks for the next part has consumed all earlier parts.
                progress.report(sent: part.lowerBound + taken)
                if taken > 0 { flight.extendDeadline() }
                if let reason = plan.refusalOfSize { throw NetworkError(.invalidResponse, in: .transporting, reason) }
                let next = try await parts.next()
                taken += next?.count ?? 0
                await pass(upTo: part.lowerBound + taken)
                sent.set(taken)
                return next
            }
        }
        counted.original = { .stream(file.stream(part), byteCount: part.count, isReplayable: true) }
        return .stream(counted, byteCount: part.count, isReplayable: true)
    }

    private func take(interim head: HTTPResponse, to sent: HTTPRequest) {
        let fields = head.headerFields
        // The IETF draft requires clients to ignore an interim response of another version.
        guard head.status.code == 104, fields[.uploadDraftInteropVersion] == String(policy.interopVersion) else {
            return
        }
        let state = UploadFields(response: fields)
        plan.take(interim: state, location: location(in: head, of: sent))
        if let offset = state.offset, offset <= byteCount {
            progress.report(stored: offset)
            flight.extendDeadline()
        }
    }

    /// Returns the URL in a response if the URL has the origin of the call, because credentials must not be sent to
    /// another origin.
    private func location(in response: HTTPResponse, of head: HTTPRequest) -> String? {
        guard let text = response.headerFields[.location], text.utf8.count <= UploadRecord.maximumLocationByteCount,
            let target = try? HTTPTarget(URIReference(text.utf8), from: head)
        else { return nil }
        var found = request.head
        found.point(to: target)
        return Origin(found) == Origin(request.head) ? found.urlText : nil
    }
}

/// Whether the next call for the same file continues an upload.
private enum IsContinuedByNext: StageValueKey {
    static var defaultValue: Bool? { nil }
}

extension Flight {
    /// Whether a later call with the same request would continue this upload.
    var isContinuedByNext: Bool { remembered(IsContinuedByNext.self, or: false) }
    fileprivate func setContinuedByNext() { _ = remembered(IsContinuedByNext.self, or: true) }
}

extension UploadRecord {
    /// Returns whether the record belongs to this unchanged file, and to the same request of the same account.
    func matches(_ source: String, _ file: BodyStream.FilePart, byteCount: Int) -> Bool {
        self.source == source && self.byteCount == byteCount && modified == file.modified && number == file.number
    }
}

extension Response {
    /// Returns the wait that the server requests, or `nil` if it requests none.
    fileprivate func delay(in flight: Flight) -> Duration? { retryAfter(now: flight.clock.date) }

    /// The error of an upload that ends with this response.
    fileprivate var uploadError: NetworkError {
        refusal
            ?? NetworkError(
                .invalidResponse, in: .checking, "The server did not continue the upload.", status: head.status)
    }
}
