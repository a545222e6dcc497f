import HTTPTypes
import ServiceContextModule

extension Merger {
    /// Carries the requests of one departure in an envelope, and hands every call its answer.
    func carry(_ departure: MergeQueue.Departure, of key: MergeLane) async {
        // Whoever gave up until now is not in the envelope.
        let items = board(departure, of: key)
        guard let first = items.first else { return }
        await ServiceContext.$current.withValue(first.flight.recorder.traceContext) {
            let carrier = first.flight.makeCarrier(for: items.map(\.flight))
            guard setCarrier(carrier, of: departure, in: key) else { return }
            carrier.note(Merge.carries(items.map(\.flight.id)))
            for (index, item) in items.enumerated() {
                item.flight.note(Merge.carried(position: index + 1, count: items.count, by: carrier.id))
            }
            let landing = await MergeLanding(of: items, in: carrier)
            // The departure lands before its calls go on: what they ask for next finds it landing, not in the air.
            land(departure, of: key, over: carrier.recorder.httpVersion(ofAttempt: 0), taken: !landing.routeIsMissing)
            for (item, outcome) in zip(items, landing.outcomes) { item.settle(outcome) }
        }
    }
}

/// What became of an envelope, and with it of every request in it.
private struct MergeLanding {
    /// What every call gets, in the order of the envelope.
    let outcomes: [MergeItem.Outcome]
    /// Whether the server has no such route.
    var routeIsMissing = false

    /// Sends the envelope, and closes its record.
    init(of items: [MergeItem], in carrier: Flight) async {
        let envelope = MergeEnvelope(of: items, commonHeaders: carrier.configuration.settings.commonHeaders)
        do throws(NetworkError) {
            let response = try await items[0].next.send(envelope.request, in: carrier)
            let status = response.head.status
            if let isMissing = status.refusesEnvelope, !response.isElsewhere(than: envelope.request) {
                routeIsMissing = isMissing
                outcomes = items.map { _ in .alone(nil, .notTaken(status: status.code)) }
                let refusal = NetworkError(
                    .refused, in: .stage(.merging), "The server did not take the merged requests; they fly alone.",
                    status: status)
                _ = carrier.finish(failing: refusal)
                return
            }
            outcomes = try Self.outcomes(of: response, to: envelope.request, for: items, in: carrier)
        } catch {
            outcomes = items.map { _ in .failed(error) }
            _ = carrier.finish(failing: error)
        }
    }

    private static func outcomes(
        of response: Response, to envelope: Request, for items: [MergeItem], in carrier: Flight
    ) throws(NetworkError) -> [MergeItem.Outcome] {
        if let refusal = response.refusal {
            let shared = try response.shared(refusing: envelope, by: refusal)
            _ = carrier.finish(failing: refusal)
            return items.map { _ in .refused(shared) }
        }
        guard case .whole(let rawData) = response.body else {
            throw NetworkError(
                .invalidResponse, in: .stage(.merging), "A whole answer was asked for, and a stream came.")
        }
        let answer: MergeAnswer
        do throws(NetworkError) {
            answer = try MergeAnswer(
                rawData.bytes, head: response.head, within: items.map(\.maximumResponseByteCount))
        } catch {
            // What is no envelope may be what the service says of any request: that its user has to log in, for instance.
            var refused = response
            refused.verdict = carrier.service.judge(response.head, rawData: rawData)
            guard let refusal = refused.refusal, refusal.kind != .invalidResponse else { throw error }
            let shared = try refused.shared(refusing: envelope, by: refusal)
            _ = carrier.finish(failing: refusal)
            return items.map { _ in .refused(shared) }
        }
        if answer.unknownCount > 0 { carrier.note(Merge.unknownAnswers(answer.unknownCount)) }
        carrier.finish(.succeeded)
        return answer.results.map { result in
            switch result {
            case .success(var item):
                // It is as old, and as new, as the request that it came with.
                item.attempt = response.attempt
                item.cookieVersion = response.cookieVersion
                return .answered(item)
            case .failure(let error): return .failed(error)
            }
        }
    }
}

extension Response {
    /// This response, which refuses an envelope, as the response to every request in it. No cache may store it as theirs.
    ///
    /// - Throws: The refusal, if it is that of another request than the envelope. It says nothing about the requests in the envelope,
    ///   which may have had their effect.
    fileprivate func shared(
        refusing envelope: Request, by refusal: NetworkError
    ) throws(NetworkError) -> Response {
        if isElsewhere(than: envelope), let following = hops.last?.following {
            throw refusal.afterRedirect(to: following)
        }
        var shared = self
        shared.hops = []
        shared.head.headerFields[.cacheControl] = "no-store"
        return shared
    }
}

extension HTTPResponse.Status {
    /// Whether an envelope that was answered so was not read, so that its requests may fly alone; and if so, whether the server has no
    /// route for envelopes at all.
    fileprivate var refusesEnvelope: Bool? {
        switch code {
        case 404, 405, 501: true
        case 400, 413, 415: false
        default: nil
        }
    }
}
