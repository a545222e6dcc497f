import HTTPTypes

/// Puts several requests of a service into one, where the service says so; see ``MergePolicy``.
///
/// Every request in an envelope keeps what it has when it flies alone: its deadline, its cancellation, its record, the service's
/// judgement, redirects. It stands below retrying and authorizing, so that one that failed is tried again by itself, and above
/// redirecting and signing, so that the envelope is signed as it is sent. Only whole bodies are merged, both ways; streams pass.
struct MergingStage: RequestStage {
    private let merger: Merger

    init(_ merger: Merger) { self.merger = merger }

    var step: FlightStep { .stage(.merging) }
    /// A request that waits is let go at its deadline and when its task is cancelled.
    var endsInTime: Bool { true }

    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        guard let policy = flight.mergePolicy else { return try await next.send(request, in: flight) }
        let item =
            flight.endpoint.isMergeable
            ? MergeItem(request, merger.makeTicket(), in: flight, under: policy, next: next) : nil
        guard let item else {
            flight.note(Merge.apart(flight.endpoint.isMergeable ? .unsuited : .endpoint))
            return try await next.send(request, in: flight)
        }
        switch await outcome(of: item) {
        case .alone(let departure, let decision):
            flight.note(decision)
            return try await flyAlone(item, as: departure)
        case .answered(let response): return try await accept(response, to: item)
        case .refused(let response):
            if let verdict = response.verdict {
                flight.note(Judgement(status: response.head.status.code, verdict: verdict))
            }
            return response
        case .failed(let error): throw error
        }
    }

    /// Waits until the request may fly, has an answer, or is given up.
    private func outcome(of item: MergeItem) async -> MergeItem.Outcome {
        merger.arrive(item)
        if let outcome = item.settledOutcome { return outcome }
        return await item.flight.withDeadlineHandler {
            await withTaskCancellationHandler {
                await item.outcome()
            } onCancel: {
                merger.leave(item, failing: .cancelled(in: .stage(.merging)))
            }
        } onDeadline: {
            merger.leave(
                item,
                failing: item.flight.timeout(
                    "The deadline passed before the response to the merged requests arrived.", in: .stage(.merging)))
        }
    }

    private func flyAlone(
        _ item: MergeItem, as departure: MergeQueue.Departure?
    ) async throws(NetworkError) -> Response {
        defer { merger.land(departure, of: item.lane, over: item.httpVersion) }
        return try await item.next.send(item.request, in: item.flight)
    }

    /// Does for an answer out of an envelope what the stages below do for one from the wire.
    private func accept(_ answer: Response, to item: MergeItem) async throws(NetworkError) -> Response {
        var response = answer
        let flight = item.flight
        response.judge(as: item.request.verdict(of: response, by: flight.service), in: flight)
        guard let following = try item.request.following(response, in: flight) else { return response }
        let received = flight.clock.now
        let hop = RedirectHop(
            request: item.request, response: response, following: following.head,
            requested: response.attempt?.start ?? received, received: received)
        do throws(NetworkError) {
            response = try await item.next.send(following, in: flight)
        } catch {
            throw error.afterRedirect(to: following.head)
        }
        response.hops.insert(hop, at: 0)
        return response
    }
}
