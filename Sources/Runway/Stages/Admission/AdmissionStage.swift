import HTTPTypes

/// Refuses calls that can't succeed now, and limits the number of requests in flight: see ``AdmissionLimits``.
///
/// The stage comes after the cache, so cached responses and calls that share a request never reach it. Bodies pass
/// unchanged. A streamed response holds its concurrency slot until it ends or is discarded, unless it is long-lived.
struct AdmissionStage: RequestStage {
    private let control: AdmissionControl
    private let connectivity: NetworkStatusMonitor

    init(_ control: AdmissionControl, _ connectivity: NetworkStatusMonitor) {
        self.control = control
        self.connectivity = connectivity
    }

    var step: FlightStep { .admission }
    /// `true`: its waits end at the deadline and when the task is cancelled.
    var endsInTime: Bool { true }

    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        if !connectivity.current.isReachable { try await waitForNetwork(flight) }
        let identity = control.limits.maximumIdenticalRequests == nil ? nil : request.identity(in: flight)
        let target = CircuitTarget(request.head, of: flight.endpoint)
        var entry = control.enter(
            identity, to: target, flight.priority, isBypassing: flight.options.bypassesCircuit, at: flight.clock.now)
        // The other calls that wait for the request are looked up only if they can change the result.
        if case .refused(.circuitOpen) = entry, flight.bypassesCircuit {
            entry = control.enter(nil, to: target, flight.priority, isBypassing: true, at: flight.clock.now)
        }
        let permit =
            switch entry {
            case .admitted(let permit): permit
            case .refused(let refusal): throw refused(refusal, in: flight)
            case .hasToWait: try await waitForSlot(request, in: flight)
            }
        flight.holdSlot()
        if permit.isProbe {
            flight.note(AdmissionDecision.probing(host: target.origin.host, endpoint: target.endpoint.name))
        }
        do throws(NetworkError) {
            var response = try await next.send(request, in: flight)
            var holdsSlot = flight.takeSlot() != nil
            if case .stream(let body) = response.body, holdsSlot, !flight.options.isLongLived {
                response.body = .stream(body.holding(ConcurrencySlot(control)))
                holdsSlot = false
            }
            record(flight.outcome(of: response, to: request), of: permit, target, in: flight, releasingSlot: holdsSlot)
            return response
        } catch {
            let slotTime = flight.takeSlot()
            let outcome = flight.outcome(
                of: error, to: request, since: slotTime, isReachable: connectivity.current.isReachable)
            record(outcome, of: permit, target, in: flight, releasingSlot: slotTime != nil)
            throw error
        }
    }

    private func waitForNetwork(_ flight: Flight) async throws(NetworkError) {
        guard flight.options.waitsForNetwork else { throw refused(.noNetwork, in: flight) }
        let start = flight.clock.now
        let maximum = control.limits.maximumWaitingForNetwork
        let end = await connectivity.waitUntilReachable(flight, maximumCount: maximum)
        if end == .refused { throw refused(.tooManyWaitForNetwork(maximum: maximum), in: flight) }
        flight.note(AdmissionDecision.waitedForNetwork(flight.clock.now - start))
        try check(end, "There was no network before the deadline.")
    }

    private func waitForSlot(
        _ request: Request, in flight: Flight
    ) async throws(NetworkError) -> Circuits.Permit {
        let start = flight.clock.now
        let end = await control.waitForSlot(flight, flight.priority)
        if end == .refused { throw refused(.queueFull(maximum: control.limits.maximumWaiting), in: flight) }
        flight.note(AdmissionDecision.waitedForSlot(flight.clock.now - start, priority: flight.priority))
        try check(end, "Timed out waiting for a concurrency slot.")
        let entry = control.enterAfterWaiting(
            to: CircuitTarget(request.head, of: flight.endpoint), isBypassing: flight.bypassesCircuit,
            at: flight.clock.now)
        switch entry {
        case .success(let permit): return permit
        case .failure(let refusal): throw refused(refusal, in: flight)
        }
    }

    private func check(_ end: WaitEnd, _ detail: String) throws(NetworkError) {
        switch end {
        case .granted, .refused: return
        case .cancelled: throw .cancelled(in: step)
        case .timedOut: throw NetworkError(.timedOut, in: step, detail, sending: .notSent)
        }
    }

    private func refused(_ refusal: AdmissionRefusal, in flight: Flight) -> NetworkError {
        flight.note(AdmissionDecision.refused(refusal))
        return refusal.error
    }

    private func record(
        _ outcome: Circuits.Outcome, of permit: Circuits.Permit, _ target: CircuitTarget, in flight: Flight,
        releasingSlot: Bool
    ) {
        let opening = control.record(
            outcome, of: permit, to: target, at: flight.clock.now, releasingSlot: releasingSlot)
        guard let opening else { return }
        let endpoint = opening.isHostWide ? nil : target.endpoint.name
        flight.note(AdmissionDecision.opened(host: target.origin.host, endpoint: endpoint, for: opening.time))
    }
}

/// Defines which outcomes count as evidence for the health of a host and an endpoint.
///
/// A circuit counts only calls that it admitted, and only outcomes of its own host:
/// - A failure to connect counts against the host if the device has a network.
/// - A connection that was lost after any part of the request may have been sent counts against the endpoint, since the
///   host was reached. It does not count if ``Request/isLossHarmless`` returns `true`.
/// - A timeout of the transport counts against the host if no byte was sent, like the connect timeout. Otherwise it
///   counts against the endpoint.
/// - The deadline of the call counts like a timeout of the transport, if the host had at least half of the endpoint's
///   time (``Endpoint/deadline``, or the service's) and sent no byte. It does not count for a call with a shorter
///   ``CallOptions/wholeDeadline``, or for a call that first waited for a network, a slot or a token.
/// - A status of 500 or more, and a response that asks for fewer requests, count against the endpoint. For the host
///   they are a success, because it responded.
/// - A redirect to another host is a success, whatever happens there. The other host's circuits do not count the call.
/// - Any other outcome, such as a cancellation, is not counted.
extension Flight {
    fileprivate func outcome(of response: Response, to request: Request) -> Circuits.Outcome {
        if response.hasChangedOrigin(since: request) { return .success }
        return switch response.verdict?.value {
        case .overloaded: .refusal(retryAfter: response.retryAfter(now: clock.date))
        case .refused, .malformed:
            response.head.status.code >= 500 ? .refusal(retryAfter: response.retryAfter(now: clock.date)) : .success
        default: .success
        }
    }

    /// - Parameter slotTime: The instant from which the call could use the host. `nil` if the call failed while it
    ///   waited for something else, such as a token.
    fileprivate func outcome(
        of error: NetworkError, to request: Request, since slotTime: Duration?, isReachable: @autoclosure () -> Bool
    ) -> Circuits.Outcome {
        if let origin = error.redirectedOrigin, origin != Origin(request.head) { return .success }
        // A call that a sign-out ended counts as timed out, but its end says nothing about the host.
        guard let slotTime, error.step != .authorizing, !isEndedEarly else { return .unknown }
        let now = clock.now
        switch error.kind {
        case .timedOut where now < deadline: return error.sending == .notSent ? .unreachable : .silence
        // The error of a call that its caller abandoned after the deadline is `cancelled`.
        case .timedOut, .cancelled:
            guard now >= deadline, silence(since: slotTime, at: now) * 2 >= lifetime else { return .unknown }
            return error.sending == .notSent ? .unreachable : .silence
        default:
            guard error.outlook.obstacle == .connection, isReachable(), !(request.isLossHarmless?() ?? false) else {
                return .unknown
            }
            return error.sending == .notSent ? .unreachable : .silence
        }
    }
}

private struct LossCheck: StageValueKey {
    static var defaultValue: LossCheck? { nil }
    let isHarmless: @Sendable () -> Bool
}

extension Request {
    /// Returns whether a lost connection says nothing about the health of the endpoint. An example is an upload that
    /// the sender resumes at the server's offset. Called when the connection is lost. With the default, `nil`, a lost
    /// connection counts as a failure.
    var isLossHarmless: (@Sendable () -> Bool)? {
        get { values[LossCheck.self]?.isHarmless }
        set { values[LossCheck.self] = newValue.map(LossCheck.init) }
    }
}

extension Request {
    /// The maximum size of bodies that are compared, in bytes.
    private static let maximumComparedByteCount = 64 << 10

    /// Returns a hash that is equal for identical requests, or `nil` for a request that is not compared.
    fileprivate func identity(in flight: Flight) -> Int? {
        var hasher = Hasher()
        switch body {
        case .none: break
        case .bytes(let bytes) where bytes.count <= Self.maximumComparedByteCount: hasher.combine(bytes)
        case .bytes, .stream: return nil
        }
        hasher.combine(ObjectIdentifier(flight.endpoint))
        hasher.combine(flight.account)
        hasher.combine(head.method)
        hasher.combine(head.authority)
        hasher.combine(head.path)
        for field in head.headerFields where field.name == .range { hasher.combine(field.value) }
        return hasher.finalize()
    }
}
