/// A decision of the admission stage that the call's record shows. A call that is admitted at once adds no decision.
package enum AdmissionDecision: StageDecision, Equatable {
    /// The call waited this long for a network.
    case waitedForNetwork(Duration)
    /// The call waited this long for a concurrency slot.
    case waitedForSlot(Duration, priority: CallPriority)
    /// The call is a probe: it tests whether a failing host or endpoint has recovered.
    case probing(host: String, endpoint: String)
    /// The call's failure opened the circuit of `endpoint` for this long, or the circuit of the whole host if
    /// `endpoint` is `nil`.
    case opened(host: String, endpoint: String?, for: Duration)
    case refused(AdmissionRefusal)

    package static var step: FlightStep { .admission }

    package var entry: DecisionRecord {
        switch self {
        case .waitedForNetwork(let wait): .init("waitedForNetwork", ["wait": wait], "waited \(wait.text) for a network")
        case .waitedForSlot(let wait, let priority):
            .init(
                "waitedForSlot", ["wait": wait, "priority": priority],
                "waited \(wait.text) for a concurrency slot, priority \(priority)")
        case .probing(let host, let endpoint):
            .init(
                "circuitProbing", ["host": host, "endpoint": endpoint],
                "testing whether \(endpoint) at \(host) has recovered")
        case .opened(let host, let endpoint, let time):
            .init(
                "circuitOpened", ["host": host, "endpoint": endpoint, "duration": time],
                "\(endpoint.map { "\($0) keeps failing at \(host)" } ?? "\(host) can't be reached"): "
                    + "nothing is sent for \(time.text)")
        case .refused(let refusal):
            .init(
                "refused", ["reason": refusal.name, "retryAfter": refusal.retryAfter], "refused: \(refusal.sentence)")
        }
    }
}

/// The reason why the admission stage refused a call. It is the ``NetworkError/underlying`` error of that call.
package enum AdmissionRefusal: Error, Equatable {
    case noNetwork
    /// The device has no network, and the maximum number of calls already waits for one.
    case tooManyWaitForNetwork(maximum: Int)
    /// Identical requests were sent too often, so this one was refused.
    case flood(maximum: Int, within: Duration, refusedFor: Duration)
    /// A circuit is open. The server keeps failing for `endpoint`; if `endpoint` is `nil`, the host can't be reached.
    case circuitOpen(host: String, endpoint: String?, for: Duration)
    /// Too many calls wait for a concurrency slot.
    case queueFull(maximum: Int)
}

extension AdmissionRefusal {
    /// The time after which the request may be made again; `nil` if the time is unknown.
    var retryAfter: Duration? {
        switch self {
        case .flood(_, _, let time), .circuitOpen(_, _, let time): time
        case .noNetwork, .tooManyWaitForNetwork, .queueFull: nil
        }
    }

    /// The name of this reason in the call's record. It does not change between releases.
    var name: String {
        switch self {
        case .noNetwork: "no network"
        case .tooManyWaitForNetwork: "too many wait for a network"
        case .flood: "flood"
        case .circuitOpen: "circuit open"
        case .queueFull: "queue full"
        }
    }

    /// One sentence that explains the refusal to the user and says what to do.
    var sentence: String {
        switch self {
        case .noNetwork: "The device has no network."
        case .tooManyWaitForNetwork(let maximum):
            "The device has no network, and \(maximum) calls already wait for one."
        case .flood(let maximum, let window, let time):
            "The same request was made more than \(maximum) times within \(window.text), as by a loop that has no end; "
                + "it is refused for \(time.text)."
        case .circuitOpen(let host, let endpoint?, let time):
            "\(endpoint) keeps failing at \(host); the next call can be sent in \(time.text)."
        case .circuitOpen(let host, nil, let time):
            "\(host) can't be reached; the next call can be sent in \(time.text)."
        case .queueFull(let maximum): "\(maximum) calls already wait for a concurrency slot."
        }
    }

    var error: NetworkError {
        var error = NetworkError(kind, in: AdmissionDecision.step, sentence, sending: .notSent, underlying: self)
        if case .circuitOpen(let host, _, _) = self { error.host = host }
        error.retryAfter = retryAfter
        return error
    }

    private var kind: NetworkError.Kind {
        switch self {
        case .noNetwork, .tooManyWaitForNetwork, .circuitOpen(_, nil, _): .noNetwork
        case .circuitOpen: .unavailable
        case .flood, .queueFull: .overloaded
        }
    }
}
