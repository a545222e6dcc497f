import HTTPTypes
import ServiceContextModule

extension Merger {
    /// Sends several requests together in one envelope, and passes each call its response.
    func sendEnvelope(_ dispatch: MergeQueue.DispatchID, of key: MergeLane) async {
        // A call that was cancelled or timed out in the meantime is not part of the envelope.
        let items = takeItems(dispatch, of: key)
        guard let first = items.first else { return }
        await ServiceContext.$current.withValue(first.flight.recorder.traceContext) {
            let flight = first.flight.makeEnvelopeFlight(for: items.map(\.flight))
            guard setEnvelopeFlight(flight, of: dispatch, in: key) else { return }
            flight.note(MergeDecision.carries(items.map(\.flight.id)))
            for (index, item) in items.enumerated() {
                item.flight.note(MergeDecision.carried(position: index + 1, count: items.count, by: flight.id))
            }
            let result = await EnvelopeResult(of: items, in: flight)
            // The end of the envelope must be recorded before its calls continue, so that their next requests arrive in
            // the settling time after it.
            complete(dispatch, of: key, over: flight.recorder.httpVersion(ofAttempt: 0), taken: !result.routeIsMissing)
            for (item, outcome) in zip(items, result.outcomes) { item.settle(outcome) }
        }
    }
}

private struct EnvelopeResult {
    /// The outcome of each call, in the order of the requests.
    let outcomes: [MergeItem.Outcome]
    /// Whether the server has no route for merged requests.
    var routeIsMissing = false

    /// Sends the merged request, the envelope, and closes its record.
    init(of items: [MergeItem], in flight: Flight) async {
        let envelope = MergeEnvelope(of: items, commonHeaders: flight.configuration.settings.commonHeaders)
        do throws(NetworkError) {
            let response = try await items[0].next.send(envelope.request, in: flight)
            let status = response.head.status
            if let isMissing = status.refusesEnvelope, !response.hasChangedMethodOrOrigin(since: envelope.request) {
                routeIsMissing = isMissing
                outcomes = items.map { _ in .alone(nil, .notAccepted(status: status.code)) }
                let refusal = NetworkError(
                    .refused, in: .merging,
                    "The server did not accept the merged requests; they are sent one by one.",
                    status: status)
                _ = flight.finish(failing: refusal)
                return
            }
            outcomes = try Self.outcomes(of: response, to: envelope.request, for: items, in: flight)
        } catch {
            outcomes = items.map { _ in .failed(error) }
            _ = flight.finish(failing: error)
        }
    }

    private static func outcomes(
        of response: Response, to envelope: Request, for items: [MergeItem], in flight: Flight
    ) throws(NetworkError) -> [MergeItem.Outcome] {
        if let refusal = response.refusal {
            let shared = try response.shared(refusing: envelope, by: refusal)
            _ = flight.finish(failing: refusal)
            return items.map { _ in .refused(shared) }
        }
        let rawData = try response.wholeBody(in: .merging)
        let merged: MergeResponse
        do throws(NetworkError) {
            merged = try MergeResponse(
                rawData.bytes, head: response.head, within: items.map(\.maximumResponseByteCount))
        } catch {
            // The server may have sent an ordinary response instead, such as a demand to log in.
            var refused = response
            refused.verdict = envelope.verdict(of: response, by: flight.service)
            guard let refusal = refused.refusal, refusal.kind != .invalidResponse else { throw error }
            let shared = try refused.shared(refusing: envelope, by: refusal)
            _ = flight.finish(failing: refusal)
            return items.map { _ in .refused(shared) }
        }
        if merged.unknownCount > 0 { flight.note(MergeDecision.unknownItems(merged.unknownCount)) }
        flight.finish(.succeeded)
        return merged.results.map { result in
            switch result {
            case .success(var item):
                // The item has the age of the response that contained it.
                item.attempt = response.attempt
                item.cookieVersion = response.cookieVersion
                return .responded(item)
            case .failure(let error): return .failed(error)
            }
        }
    }
}

extension Response {
    /// Converts this response, which refuses a merged request, into the response to each of the requests in it. No
    /// cache may store the converted responses.
    ///
    /// - Throws: The refusal, if it concerns the request after a redirect instead of the merged request. The refusal
    ///   then says nothing about the requests that were merged, which may have had their effect.
    fileprivate func shared(
        refusing envelope: Request, by refusal: NetworkError
    ) throws(NetworkError) -> Response {
        if hasChangedMethodOrOrigin(since: envelope), let following = hops.last?.following {
            throw refusal.afterRedirect(to: following)
        }
        var shared = self
        shared.hops = []
        shared.head.headerFields[.cacheControl] = "no-store"
        return shared
    }
}

extension HTTPResponse.Status {
    /// `true` if the status means that the server has no route for merged requests; `false` if the server refuses only
    /// this merged request. In both cases the requests in it may be sent separately. `nil` if the server may have
    /// executed the requests.
    fileprivate var refusesEnvelope: Bool? {
        switch code {
        case 404, 405, 501: true
        case 400, 413, 415: false
        default: nil
        }
    }
}
