/// Lets identical reads that are in flight at the same time share one request.
///
/// Shared are GET, HEAD and QUERY, and POST whose answers are kept by time or until evicted; of equal service, environment, account,
/// endpoint, URL, header fields, body, cache directives and rules for further attempts, whose answers are wanted whole and whose
/// endpoint allows it (``Endpoint/coalesces``). The call that comes first carries the request, in a task of its own; calls that come
/// before its answer join it, unless what they ask for was changed or cleared since: they want to see what is there now. Each may
/// leave, at its deadline or because it was cancelled, without harm to the others, and only when the last leaves the request is
/// cancelled on the wire. Its attempts are in the record of the call that carries it, also where that call leaves first; the others
/// name it. An answer that may be kept by time or until evicted is given to those who ask until the first call has kept or refused it;
/// what may be kept by the rules of HTTP is kept before anyone is told of it. So nobody who comes as a read ends sends the request
/// again, unless a stage of the app's own stands between the cache and this one. What a refresh of an access token reads is not shared,
/// since what it would join may wait for that token. Bodies pass untouched, streams are never shared.
struct CoalescingStage: RequestStage {
    let reads: SharedWork<ReadKey, Response>
    let admission: AdmissionControl

    init(_ reads: SharedWork<ReadKey, Response>, _ admission: AdmissionControl) {
        self.reads = reads
        self.admission = admission
    }

    var step: FlightStep { .stage(.coalescing) }
    /// What is not shared waits for nothing but `next`; what is shared ends in time whatever is below.
    var endsInTime: Bool { true }

    func detaches(_ request: Request, in flight: Flight) -> Bool { ReadKey.isSharable(request, in: flight) }

    func answerImmediately(_ draft: inout RequestDraft, in flight: Flight) throws(NetworkError) -> ImmediateAnswer {
        .pass
    }

    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        guard let key = ReadKey(request, in: flight) else { return try await next.send(request, in: flight) }
        return try await share(key, request, in: flight, next, isJoinable: flight.renewing.isEmpty)
    }

    /// Waits for the answer to a request that others may share.
    private func share(
        _ key: ReadKey, _ request: Request, in flight: Flight, _ next: RequestPipeline.Rest, isJoinable: Bool
    ) async throws(NetworkError) -> Response {
        let isKept = key.isKeptByTime
        var read: UInt64?
        // A call that was over before the answer came has nothing to put it away at later.
        defer { if isKept, flight.isOver { flight.passRead() } }
        do throws(NetworkError) {
            let response = try await reads.value(
                of: key, for: flight, isJoinable: isJoinable, endsInTime: next.endsInTime(request, in: flight)
            ) { response in
                isKept && response.source == .network && response.verdict == .fine
            } joined: { beginner, number in
                flight.note(Coalescing.joined(beginner.id))
                beginner.note(Coalescing.shared(with: flight.id))
                // A call that matters more must not wait in line as if it did not.
                admission.raise(beginner.id, to: flight.priority)
                if isKept { flight.awaitRead(number) }
            } found: {
                flight.note(Coalescing.joined($0.id))
            } begins: {
                read = $0
                flight.beginCarrying($0)
                if isKept { flight.awaitRead($0) }
            } _: { _ async throws(NetworkError) in
                // Another call may have kept the answer since this one looked for it.
                if let kept = answerKept(to: request, in: flight, byTime: isKept) { return kept }
                do throws(NetworkError) {
                    var sent = request
                    sent.fetch = nil
                    let response = try await next.send(sent, in: flight)
                    request.fetch?.settle(response)
                    return response
                } catch {
                    // Those who joined have no request of their own by which the error could be placed.
                    throw flight.locate(error)
                }
            }
            if read != nil || response.source == .network { return response }
            // The call that carries the read found it kept. What that call may be given, this one may perhaps not.
            if let kept = answerKept(to: request, in: flight, byTime: isKept) { return kept }
            return try await share(key, request, in: flight, next, isJoinable: false)
        } catch {
            let others = read.map { reads.flights(waitingFor: $0).count } ?? 0
            if others > 0 { flight.note(Coalescing.left(others: others)) }
            throw error
        }
    }

    /// The answer that another call has kept since this one looked; `nil` where there is none that this one may be given.
    private func answerKept(to request: Request, in flight: Flight, byTime isKeptByTime: Bool) -> Response? {
        guard isKeptByTime else { return request.fetch?.answerKept }
        let caching = TimeToLiveCaching(policy: flight.cachePolicy)
        return request.keptUnder.flatMap { caching.answerKept($0, in: flight) }
    }
}
