import HTTPTypes

/// Sends a slow read a second time, and returns the response that begins first. The ``HedgingPolicy`` of the endpoint
/// and the budget of the host must allow it.
///
/// The stage comes after all stages that repeat requests, so that each attempt is hedged separately. It comes before
/// routing and signing, so that the second attempt has its own route and nonce. Hedged attempts run in separate tasks,
/// which are abandoned at the deadline and when the call is cancelled.
///
/// Bodies pass unchanged. A request with a streamed body is never hedged. A streamed response counts as received when
/// its header fields arrive.
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

    var step: FlightStep { .hedging }
    /// `true`: a request that is not hedged waits only for `next`, and one that may be hedged is abandoned in time.
    var endsInTime: Bool { true }

    func handles(_ request: Request, in flight: Flight) -> Bool { Self.mayHedge(request, in: flight) }

    func detaches(_ request: Request, in flight: Flight) -> Bool { Self.mayHedge(request, in: flight) }

    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        let subject = HedgeControl.Subject(origin: Origin(request.head), endpoint: ObjectIdentifier(flight.endpoint))
        guard let delay = hedges.begin(subject, flight.endpoint.hedging) else {
            return try await next.send(request, in: flight)
        }
        return try await HedgedRequest(request, subject, after: delay, in: flight, next, of: self).response()
    }

    /// Returns whether a request may be hedged: it is a read that can be sent twice, and its endpoint allows hedging.
    private static func mayHedge(_ request: Request, in flight: Flight) -> Bool {
        guard flight.endpoint.hedging != .off, request.head.method == .get || request.head.method == .head else {
            return false
        }
        if case .stream = request.body { return false }
        // If two WebSockets were opened, one would have to be closed after the server has begun to use it.
        return request.webSocket == nil
    }
}
