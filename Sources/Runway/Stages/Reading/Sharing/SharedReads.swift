/// The response to a shared read, and the response that the first of the sharing calls, the leader, receives instead,
/// if any.
struct ReadOutcome: Sendable {
    let response: Response
    /// The response that the first of the sharing calls, the leader, receives instead of `response`; `nil` if it
    /// receives `response`.
    var leaders: Response?
}

/// Sends the requests that no stored response can serve. All identical reads in flight at the same time share one
/// request.
///
/// Two reads are identical if service, environment, account, endpoint, URL, header fields, body, cache directives and
/// retry policies are equal. Reads are GET, HEAD and QUERY, and POST under a time to live or until evicted. Some reads
/// are never shared:
///
/// - reads with streamed responses,
/// - reads of endpoints that forbid it (``Endpoint/coalesces``),
/// - reads made by a renewal of an access token, because the shared request might wait for that token.
///
/// The first read is the *leader*: its request runs in a task of its own, so that it outlives the leader's
/// cancellation. Later reads are *followers*, unless their target was changed or cleared since; they need the current
/// state then. Each waiter leaves at its own deadline or cancellation; the request is cancelled when the last one
/// leaves. Attempts are recorded on the leader's flight, even if the leader's call ends first. A follower's record
/// names the leader.
///
/// Under the rules of HTTP, the response is stored before any waiter is notified. Under a time to live or until
/// evicted, the response is retained for later reads until the first of the sharing calls has stored or rejected it.
struct SharedReads {
    let cache: ResponseCache
    let admission: AdmissionControl
    let flight: Flight
    let next: RequestPipeline.Rest

    struct Lookup: Sendable {
        var snapshot = ResponseCache.Snapshot.none
        /// The decision that is added to the call's record when the request is sent or shared.
        var decision: (any StageDecision)?
        /// The use of the cache that the report counts when the request is sent or shared; `nil` if the call was
        /// already counted.
        var use: CacheUsage.Use?

        fileprivate func record(in flight: Flight) {
            if let decision { flight.note(decision) }
            if let use { flight.count(use) }
        }
    }

    /// Sends a request, or waits for the request of an identical read.
    ///
    /// - Parameters:
    ///   - lookup: The result of the lookup.
    ///   - store: Stores the response for this call. Returns the response that this call receives instead, or `nil` if
    ///     the call receives the response unchanged. Called once: for the leader before the read ends, for followers
    ///     when they receive the response.
    /// - Returns: The response and the result of `store`, or `nil` if the cache has changed since the lookup.
    func send(
        _ request: Request, after lookup: Lookup, store: @escaping @Sendable (Response) -> Response? = { _ in nil }
    ) async throws(NetworkError) -> (response: Response, own: Response?)? {
        guard let key = ReadKey(request, in: flight) else {
            guard cache.isCurrent(lookup.snapshot) else { return nil }
            lookup.record(in: flight)
            let response = try await next.send(request, in: flight)
            return (response, store(response))
        }
        let role = try cache.enter(
            key, for: flight, after: lookup.snapshot, isJoinable: flight.renewing.isEmpty,
            endsInTime: next.endsInTime(request, in: flight))
        if role != nil { lookup.record(in: flight) }
        switch role {
        case nil: return nil
        case .finished(let outcome, let leader):
            flight.note(SharingDecision.joined(leader.id))
            let response = try outcome.get().response
            return (response, store(response))
        case .follower(let lease, let leader):
            leader.note(SharingDecision.shared(with: flight.id))
            // The shared request gets the highest priority of all calls that wait for it.
            admission.raise(leader.id, to: flight.priority)
            // The decision is recorded last, so that a call with this decision in its record has completely joined the
            // other call.
            flight.note(SharingDecision.joined(leader.id))
            let outcome = try await retaining(lease, for: key) { () async throws(NetworkError) in
                try await cache.reads.follow(lease)
            }
            return (outcome.response, store(outcome.response))
        case .leader(let lease):
            let outcome = try await lead(lease, key, request, store)
            return (outcome.response, outcome.leaders)
        }
    }

    /// Sends a request that depends on no lookup, or waits for the request of an identical read.
    func send(_ request: Request) async throws(NetworkError) -> Response {
        guard let (response, _) = try await send(request, after: Lookup()) else {
            preconditionFailure("a request without a lookup does not depend on the cache")
        }
        return response
    }

    private func lead(
        _ lease: SharedWork<ReadKey, ReadOutcome>.Lease, _ key: ReadKey, _ request: Request,
        _ store: @escaping @Sendable (Response) -> Response?
    ) async throws(NetworkError) -> ReadOutcome {
        do throws(NetworkError) {
            return try await retaining(lease, for: key) { () async throws(NetworkError) in
                try await cache.reads.lead(lease) { () async throws(NetworkError) in
                    do throws(NetworkError) {
                        let response = try await next.send(request, in: flight)
                        return SharedWork.Completion(
                            value: ReadOutcome(response: response, leaders: store(response)),
                            isRetained: key.isRetained && response.source == .network && response.verdict == .fine)
                    } catch {
                        // Calls that joined another call have no request of their own. The request of the call that
                        // they joined is therefore added to the error here.
                        throw flight.locate(error)
                    }
                }
            }
        } catch {
            let others = cache.reads.flights(waitingFor: lease.work).count
            if others > 0 { flight.note(SharingDecision.left(others: others)) }
            throw error
        }
    }

    /// Retains the outcome of the read until the call ends.
    private func retaining(
        _ lease: SharedWork<ReadKey, ReadOutcome>.Lease, for key: ReadKey,
        _ wait: () async throws(NetworkError) -> ReadOutcome
    ) async throws(NetworkError) -> ReadOutcome {
        guard key.isRetained else { return try await wait() }
        flight.awaitRead(lease.work)
        // If the call ended before the response arrived, nothing else releases the retained outcome of the read.
        defer { if flight.recorder.hasEnded { flight.releaseRead() } }
        return try await wait()
    }
}

/// A decision about sharing a request with other calls, for the call's record.
package enum SharingDecision: StageDecision, Equatable {
    /// The call waits for the request of another call, whose record contains the attempts.
    case joined(FlightID)
    case shared(with: FlightID)
    /// The call has ended, but its request continues for this many other calls.
    case left(others: Int)

    package static var step: FlightStep { .reading }

    package var entry: DecisionRecord {
        switch self {
        case .joined(let flight): .init("joined", ["flight": flight], "joined \(flight)")
        case .shared(let flight): .init("shared", ["flight": flight], "shared with \(flight)")
        case .left(let others):
            .init("leaderLeft", ["others": others], "left; the request continues for \(others) others")
        }
    }
}
