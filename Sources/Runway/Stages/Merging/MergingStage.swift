/// Merges several requests of a service into one, if the service allows it; see ``MergePolicy``.
///
/// A request in an envelope has the same as a request that is sent by itself: its deadline, its cancellation, its
/// record, the service's judgement, redirects. The stage is below retrying and authorizing, so that a failed request is
/// retried by itself, and above redirecting and signing, so that the envelope is signed as it is sent. Only whole
/// bodies are merged, in both directions; streams pass unchanged.
struct MergingStage: RequestStage {
    private let merger: Merger

    init(_ merger: Merger) { self.merger = merger }

    var step: FlightStep { .merging }
    /// A waiting request is removed at its deadline and when its task is cancelled.
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

    /// Waits until the request may be sent by itself, has a response, or is cancelled.
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

    /// Processes a response from an envelope like the stages below process a response from the network.
    private func accept(_ received: Response, to item: MergeItem) async throws(NetworkError) -> Response {
        var response = received
        let flight = item.flight
        response.judge(as: item.request.verdict(of: response, by: flight.service), in: flight)
        // The redirecting stage, which is below, has not seen it. It is found by its step: if no stage below has that step, since the
        // app has removed or replaced it, no redirect is followed (`RequestStage.step`).
        guard response.verdict == .redirected, let next = item.next.below(.redirecting) else { return response }
        try await next.follow(&response, to: item.request, in: flight)
        return response
    }
}
