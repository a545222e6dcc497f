import HTTPTypes

/// Sends a read that is slow a second time beside the first, where the ``HedgingPolicy`` of its endpoint and the budget of the host
/// allow it, and takes the answer that begins first.
///
/// It stands below all that sends again, so that each attempt is hedged by itself, and above address and signature, so that the second
/// one has a route and a nonce of its own. What is hedged runs in tasks of its own and is left at the deadline and when the call is
/// cancelled. Bodies pass untouched; a request whose body is a stream is never hedged, and of an answer that is a stream the head counts.
struct HedgingStage: RequestStage {
    let hedges: HedgeControl
    let deadlines: DeadlineTimer
    let admission: AdmissionControl
    let connectivity: NetworkStatusMonitor

    init(
        _ hedges: HedgeControl, _ deadlines: DeadlineTimer, _ admission: AdmissionControl,
        _ connectivity: NetworkStatusMonitor
    ) {
        self.hedges = hedges
        self.deadlines = deadlines
        self.admission = admission
        self.connectivity = connectivity
    }

    var step: FlightStep { .stage(.hedging) }
    /// What is not hedged waits for nothing but `next`; what may be is left in time whatever is below.
    var endsInTime: Bool { true }

    func detaches(_ request: Request, in flight: Flight) -> Bool { Self.mayHedge(request, in: flight) }

    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        guard Self.mayHedge(request, in: flight) else { return try await next.send(request, in: flight) }
        let subject = HedgeControl.Subject(origin: Origin(request.head), endpoint: ObjectIdentifier(flight.endpoint))
        guard let delay = hedges.begin(subject, flight.endpoint.hedging) else {
            return try await next.send(request, in: flight)
        }
        return try await HedgedRequest(request, subject, after: delay, in: flight, next, of: self).answer()
    }

    /// Whether a request reads, can be sent twice at a time, and its endpoint wants that.
    private static func mayHedge(_ request: Request, in flight: Flight) -> Bool {
        guard flight.endpoint.hedging != .off, request.head.method == .get || request.head.method == .head else {
            return false
        }
        if case .stream = request.body { return false }
        return true
    }
}
