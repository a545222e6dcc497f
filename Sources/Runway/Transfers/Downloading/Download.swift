import Foundation
import HTTPTypes
import Synchronization

/// Downloads one file: requests the missing part until the file is complete.
struct Download: Sendable {
    let request: Request
    let flight: Flight
    let partial: PartialFile
    /// Identifies the request and its account.
    let source: String
    let progress: ProgressReporter?

    let network: NetworkLayer

    /// Downloads the file and moves it to its target.
    @concurrent func run(upTo maximumByteCount: Int) async throws(NetworkError) -> DownloadedFile {
        let remains = try await onDisk { () throws(FileError) in try await partial.remains(of: source) }
        var plan = DownloadPlan(
            upTo: maximumByteCount, mayResume: request.head.method == .get, remains?.representation,
            byteCount: remains?.byteCount ?? 0)
        if let range = plan.range { flight.note(TransferDecision.resuming(at: range.start)) }
        var attempt = 1
        while true {
            var response = try await network.send(plan.request(request), in: flight)
            if let error = response.refusal, plan.range == nil || response.head.status != .rangeNotSatisfiable {
                throw error
            }
            // A download requests no content coding, because the coded bytes would be stored under the file's name. A
            // coded part is not an error here, because the download then requests the whole file.
            if response.head.status != .partialContent { try response.checkCoding(ofResponseTo: request.head.method) }
            flight.recorder.setSource(response.source)
            let head = response.head
            let hadRange = plan.range != nil
            switch plan.take(head, isDecoded: response.isDecoded, now: HTTPDate(flight.clock.date)) {
            case .append: break
            case .replace:
                if hadRange { flight.note(TransferDecision.startedOver(.whole)) }
                if let representation = plan.representation {
                    try await onDisk { () throws(FileError) in
                        try await partial.begin(representation, of: source)
                    }
                }
            case .reject(let rejection):
                try handle(rejection)
                continue
            }
            progress?.report(plan.byteCount, of: plan.representation?.byteCount, isUrgent: true)
            let start = plan.byteCount
            let body = response.takeBody()
            let ending: DownloadBody.Ending
            (plan, ending) = await receive(body, plan)
            let error = error(of: ending)
            flight.recorder.endStream(nil, byteCount: max(0, plan.byteCount - start), failing: error)
            switch ending {
            case .ended(let end):
                let rejection = try await check(
                    response.contentDigest, from: start, isComplete: end == .complete, &plan)
                if let rejection {
                    try handle(rejection)
                } else if end == .complete {
                    return try await save(plan, head, resumed: start)
                } else {
                    try await waitBeforeRetry(&plan, &attempt, after: error)
                }
            case .surplus(let rejection): try handle(rejection)
            case .broken: try await waitBeforeRetry(&plan, &attempt, after: error)
            case .failed(let error): throw NetworkError(error, in: .saving)
            }
        }
    }

    /// Reads a body until it ends, the server is silent for the call's deadline, or the task is cancelled.
    private func receive(
        _ body: BodyStream, _ plan: DownloadPlan
    ) async -> (plan: DownloadPlan, ending: DownloadBody.Ending) {
        let sink = DownloadBody(partial: partial, source: source, flight: flight, progress: progress)
        let work = Task { @concurrent in await sink.receive(body, plan) }
        let silence = Silence()
        let (received, ending) = await flight.withDeadlineHandler {
            await withTaskCancellationHandler {
                await work.value
            } onCancel: {
                work.cancel()
            }
        } onDeadline: {
            silence.isTooLong.store(true, ordering: .relaxed)
            work.cancel()
        }
        // Bytes may have extended the deadline at the last moment, but the work was already cancelled.
        guard case .broken = ending, silence.isTooLong.load(ordering: .relaxed), !Task.isCancelled else {
            return (received, ending)
        }
        return (received, .broken(flight.timeout("No byte was received for \(flight.lifetime.text).", in: .saving)))
    }

    /// Records whether the server was silent for the call's deadline.
    private final class Silence: Sendable {
        let isTooLong = Atomic(false)
    }

    /// Returns the error that follows from the end of a body, or `nil` if the body is complete.
    private func error(of ending: DownloadBody.Ending) -> NetworkError? {
        switch ending {
        case .ended(.complete), .ended(.partial), .surplus: return nil
        case .ended(.short):
            return NetworkError(
                .noNetwork, in: .transporting, "The response ended before all of its content was received.")
        case .failed(let error): return NetworkError(error, in: .saving)
        case .broken(let error):
            if Task.isCancelled { return .cancelled(in: .saving) }
            if flight.clock.now >= flight.ownDeadline {
                return flight.timeout("No byte was received for \(flight.lifetime.text).", in: .saving)
            }
            return error as? NetworkError
                ?? .unreadableBody(error)
        }
    }

    /// Verifies the received bytes against the server's digests. Returns `nil` if they match.
    private func check(
        _ contentDigest: String?, from start: Int, isComplete: Bool, _ plan: inout DownloadPlan
    ) async throws(NetworkError) -> DownloadPlan.Rejection? {
        do {
            let isContentMet = try await partial.meets(contentDigest, in: start..<max(start, plan.byteCount))
            let digest = isComplete ? plan.representation?.digest : nil
            let isWholeMet = try await partial.meets(digest, in: 0..<plan.byteCount)
            return isContentMet && isWholeMet ? nil : plan.restart(.digest)
        } catch {
            if let error = error as? FileError { throw NetworkError(error, in: .saving) }
            throw .cancelled(in: .saving)
        }
    }

    private func handle(_ rejection: DownloadPlan.Rejection) throws(NetworkError) {
        switch rejection {
        case .fail(let reason): throw NetworkError(.invalidResponse, in: .saving, reason + ".")
        case .requestAgain(let mismatch): flight.note(TransferDecision.startedOver(mismatch))
        }
    }

    /// Waits before the rest of the file is requested, if the call's policy, the host's budget and the deadline allow
    /// it.
    ///
    /// - Throws: The error that interrupted the body, if the rest is not requested.
    private func waitBeforeRetry(
        _ plan: inout DownloadPlan, _ attempt: inout Int, after error: NetworkError?
    ) async throws(NetworkError) {
        let broken =
            error
            ?? NetworkError(.invalidResponse, in: .saving, "The server sends the file in parts that are too small.")
        guard error == nil || broken.isInterruption, !Task.isCancelled, flight.clock.now < flight.ownDeadline else {
            throw broken
        }
        let cause: RetryCause = broken.kind == .timedOut ? .timedOut(.sent) : .noNetwork(.sent)
        let hasAdvanced = plan.hasAdvanced()
        if hasAdvanced {
            attempt = 1
            // Without an error, the server sends the file in parts on purpose. So no wait is needed.
            if error == nil { return }
        }
        let offset = plan.range?.start ?? 0
        try await network.retries.waitAfterInterruption(
            request, after: attempt, cause, paidBy: hasAdvanced ? nil : Origin(request.head), in: flight,
            failing: broken
        ) { wait in TransferDecision.interrupted(at: offset, wait: wait, cause: cause) }
        if !hasAdvanced { attempt += 1 }
    }

    private func save(
        _ plan: DownloadPlan, _ head: HTTPResponse, resumed: Int
    ) async throws(NetworkError) -> DownloadedFile {
        let byteCount = plan.byteCount
        try await onDisk { () throws(FileError) in try await partial.commit(byteCount: byteCount) }
        let url = URL(fileURLWithPath: partial.target)
        flight.note(TransferDecision.saved(name: url.lastPathComponent, byteCount: byteCount, resumed: resumed))
        progress?.report(byteCount, of: byteCount, isUrgent: true)
        return DownloadedFile(url: url, byteCount: byteCount, resumedByteCount: resumed, response: head)
    }

    private func onDisk<Value>(_ operation: () async throws(FileError) -> Value) async throws(NetworkError) -> Value {
        do throws(FileError) { return try await operation() } catch { throw NetworkError(error, in: .saving) }
    }
}

extension DownloadPlan {
    /// Returns a request for the missing bytes.
    fileprivate func request(_ whole: Request) -> Request {
        var request = whole
        guard let range else { return request }
        request.head.headerFields[.range] = "bytes=\(range.start)-"
        request.head.headerFields[.ifRange] = range.validator
        return request
    }
}

extension Response {
    /// The digest of the body as received; `nil` if a content coding was removed, so that the digest does not apply.
    fileprivate var contentDigest: String? {
        isDecoded ? nil : HTTPField.Name.contentDigest.flatMap { head.headerFields[$0] }
    }

    /// Returns the body as a stream and removes it from the response. When the stream is released, unread bytes are
    /// released, too.
    fileprivate mutating func takeBody() -> BodyStream {
        defer { body = .whole(RawData([], response: head)) }
        return switch body {
        case .whole(let rawData): BodyStream(rawData.bytes)
        case .stream(let stream): stream
        }
    }
}
