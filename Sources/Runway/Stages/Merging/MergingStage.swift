/// Merges several requests of a service into one, the envelope, if the service allows it; see ``MergePolicy``.
///
/// A merged request behaves like a separate one: it has its own deadline, cancellation, record, verdict and redirects.
/// The stage comes after retrying and authorizing, so that a failed request is retried separately. It comes before
/// redirecting and signing, so that the envelope is signed as sent. Only whole bodies are merged, in requests and
/// responses; streams pass unchanged.
struct MergingStage: RequestStage {
    private let merger: Merger

    init(_ merger: Merger) { self.merger = merger }

    var step: FlightStep { .merging }
    /// `true`: a waiting request is removed at its deadline and when its task is cancelled.
    var endsInTime: Bool { true }

    func handles(_ request: Request, in flight: Flight) -> Bool { flight.mergePolicy != nil }

    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        guard let policy = flight.mergePolicy else { return try await next.send(request, in: flight) }
        let item =
            flight.endpoint.isMergeable
            ? MergeItem(request, merger.makeID(), in: flight, under: policy, next: next) : nil
        guard let item else {
            flight.note(MergeDecision.notMerged(flight.endpoint.isMergeable ? .unsuited : .endpoint))
            return try await next.send(request, in: flight)
        }
        switch await outcome(of: item) {
        case .alone(let dispatch, let decision):
            flight.note(decision)
            return try await sendAlone(item, as: dispatch)
        case .responded(let response): return try await accept(response, to: item)
        case .refused(var response):
            if let verdict = response.verdict { response.judge(as: verdict, in: flight) }
            return response
        case .failed(let error): throw error
        }
    }

    /// Waits until the request may be sent separately, has a response, or is cancelled.
    private func outcome(of item: MergeItem) async -> MergeItem.Outcome {
        merger.arrive(item)
        if let outcome = item.settledOutcome { return outcome }
        return await item.flight.withDeadlineHandler {
            await withTaskCancellationHandler {
                await item.outcome()
            } onCancel: {
                merger.leave(item, failing: .cancelled(in: .merging))
            }
        } onDeadline: {
            merger.leave(
                item,
                failing: item.flight.timeout(
                    "The deadline passed before the response to the merged requests arrived.", in: .merging))
        }
    }

    private func sendAlone(
        _ item: MergeItem, as dispatch: MergeQueue.DispatchID?
    ) async throws(NetworkError) -> Response {
        defer { merger.complete(dispatch, of: item.lane, over: item.httpVersion) }
        return try await item.next.send(item.request, in: item.flight)
    }

    /// Processes a response from an envelope in the same way as later stages process a response of the transport.
    private func accept(_ received: Response, to item: MergeItem) async throws(NetworkError) -> Response {
        var response = received
        let flight = item.flight
        response.judge(as: item.request.verdict(of: response, by: flight.service), in: flight)
        // The redirecting stage comes later and has not seen this response, so the redirect is followed here. If the
        // app removed or replaced that stage, no later stage has its step, and the redirect is not followed
        // (`RequestStage.step`).
        guard response.verdict == .redirected, let next = item.next.below(.redirecting) else { return response }
        try await next.follow(&response, to: item.request, in: flight)
        return response
    }
}
