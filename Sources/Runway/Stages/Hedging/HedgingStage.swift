import HTTPTypes

/// Sends a slow read a second time, if the ``HedgingPolicy`` of its endpoint and the budget of the host allow it, and
/// returns the response that begins first.
///
/// The stage is below all stages that send again, so that each attempt is hedged by itself, and above address and
/// signature, so that the second attempt has a route and a nonce of its own. Hedged attempts run in tasks of their own
/// and are abandoned at the deadline and when the call is cancelled. Bodies pass unchanged; a request whose body is a
/// stream is never hedged, and a streamed response counts as received with its head.
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
    /// `true`: a request that is not hedged only waits for `next`; one that may be hedged is abandoned in time,
    /// whatever stage is below.
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

    /// Whether a request is a read that can be sent twice, and its endpoint allows that.
    private static func mayHedge(_ request: Request, in flight: Flight) -> Bool {
        guard flight.endpoint.hedging != .off, request.head.method == .get || request.head.method == .head else {
            return false
        }
        if case .stream = request.body { return false }
        // Of two open WebSockets one would have to be closed, after the server has begun to use it.
        return request.webSocket == nil
    }
}
