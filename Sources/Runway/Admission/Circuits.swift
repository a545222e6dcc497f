import HTTPTypes

/// The host and the endpoint of a call. A circuit breaker exists for each of them.
struct CircuitTarget {
    /// Identifies an endpoint at one origin.
    struct EndpointKey: Hashable {
        fileprivate let endpoint: ObjectIdentifier
        fileprivate let origin: Origin
        fileprivate let path: Substring?
    }

    let head: HTTPRequest
    let endpoint: any Endpoint.Type

    init(_ head: HTTPRequest, of endpoint: any Endpoint.Type) {
        self.head = head
        self.endpoint = endpoint
    }

    var origin: Origin { Origin(head) }

    fileprivate func key(at origin: Origin) -> EndpointKey {
        // Creates the key of the endpoint's circuit breaker only here: while nothing has failed, no call needs a key.
        let countsByPath = endpoint is any EndpointOfManyPaths.Type
        return EndpointKey(
            endpoint: ObjectIdentifier(endpoint), origin: origin,
            path: countsByPath ? (head.path ?? "").prefix { $0 != "?" } : nil)
    }
}

/// The circuit breakers of the hosts and endpoints that failed recently.
///
/// A host's circuit counts failures to reach the host. An endpoint's circuit counts error responses and timeouts of the
/// server. A call passes if both circuits are closed.
struct Circuits {
    /// The way in which the circuits of the host and the endpoint admitted a call.
    struct Permit: Equatable {
        var host = CircuitBreaker.Permit.ordinary
        var endpoint = CircuitBreaker.Permit.ordinary

        var isProbe: Bool { host.isProbe || endpoint.isProbe }
    }

    enum Outcome: Equatable {
        /// The server responded without a failure.
        case success
        /// The server responded with a failure. `retryAfter` is the wait that the server asked for, or `nil` if it
        /// asked for none.
        case refusal(retryAfter: Duration?)
        /// The server did not respond, although it received the request or may have received it.
        case silence
        /// The host could not be reached.
        case unreachable
        /// The outcome says nothing about the health of the host or the endpoint.
        case unknown

        fileprivate var ofHost: CircuitBreaker.Outcome {
            switch self {
            case .success, .refusal: .success
            case .unreachable: .failure(retryAfter: nil)
            case .silence, .unknown: .unknown
            }
        }

        fileprivate var ofEndpoint: CircuitBreaker.Outcome {
            switch self {
            case .success: .success
            case .refusal(let retryAfter): .failure(retryAfter: retryAfter)
            case .silence: .failure(retryAfter: nil)
            case .unreachable, .unknown: .unknown
            }
        }
    }

    /// An open circuit, and the time for which it stays open.
    struct Opening: Equatable {
        /// Whether the open circuit belongs to the whole host; otherwise it belongs to one endpoint.
        let isHostWide: Bool
        /// The time for which the circuit stays open.
        let time: Duration
    }

    private var hosts: BreakerTable<Origin>
    private var endpoints: BreakerTable<CircuitTarget.EndpointKey>
    private var count: UInt64 = 0

    init(_ limits: CircuitLimits?) {
        hosts = BreakerTable(limits, maximumCount: limits?.maximumHosts ?? 0)
        endpoints = BreakerTable(limits, maximumCount: limits?.maximumEndpoints ?? 0)
    }

    /// Whether no host or endpoint has failed recently. If so, no circuit breaker has to be looked up.
    var isEmpty: Bool { hosts.isEmpty && endpoints.isEmpty }

    /// Returns the open circuit that refuses a call, or `nil` if the call may pass.
    func refusal(of target: CircuitTarget, at now: Duration) -> Opening? {
        let origin = target.origin
        if let time = hosts[origin]?.refusal(at: now) { return Opening(isHostWide: true, time: time) }
        return endpoints[target.key(at: origin)]?.refusal(at: now).map { Opening(isHostWide: false, time: $0) }
    }

    /// Returns whether the circuits of both the host and the endpoint are closed. If they are, calls pass as ordinary
    /// calls, not as probes.
    func isClosed(to target: CircuitTarget) -> Bool {
        let origin = target.origin
        return (hosts[origin]?.state ?? .closed) == .closed
            && (endpoints[target.key(at: origin)]?.state ?? .closed) == .closed
    }

    /// Admits a call. The caller must first check that ``refusal(of:at:)`` returns `nil`, unless the call bypasses open
    /// circuits.
    mutating func admit(to target: CircuitTarget, at now: Duration, isBypassing: Bool = false) -> Permit {
        count += 1
        let origin = target.origin
        return Permit(
            host: hosts.admit(origin, at: now, number: count, isBypassing: isBypassing),
            endpoint: endpoints.admit(target.key(at: origin), at: now, number: count, isBypassing: isBypassing))
    }

    /// Records the outcome of a call. Returns the circuit that opened, or `nil` if none opened.
    mutating func record(
        _ outcome: Outcome, of permit: Permit, to target: CircuitTarget, at now: Duration
    ) -> Opening? {
        let origin = target.origin
        let ofHost = hosts.record(outcome.ofHost, of: permit.host, origin, at: now)
        let ofEndpoint = endpoints.record(outcome.ofEndpoint, of: permit.endpoint, target.key(at: origin), at: now)
        // An outcome never counts as a failure of both the host and the endpoint, so at most one circuit opened.
        return ofHost.map { Opening(isHostWide: true, time: $0) }
            ?? ofEndpoint.map { Opening(isHostWide: false, time: $0) }
    }

    mutating func removeAll() {
        hosts.removeAll()
        endpoints.removeAll()
    }
}

/// Circuit breakers by key. The table evicts the least recently used ones.
private struct BreakerTable<Key: Hashable & Sendable> {
    private let limits: CircuitLimits?
    private var breakers: LeastRecentlyUsed<Key, CircuitBreaker>

    init(_ limits: CircuitLimits?, maximumCount: Int) {
        self.limits = limits
        breakers = LeastRecentlyUsed(maximumCount: maximumCount, maximumByteCount: .max)
    }

    var isEmpty: Bool { breakers.count == 0 }

    subscript(key: Key) -> CircuitBreaker? { breakers.peek(key) }

    mutating func admit(_ key: Key, at now: Duration, number: UInt64, isBypassing: Bool) -> CircuitBreaker.Permit {
        guard var breaker = breakers.value(for: key), breaker.state != .closed else { return .ordinary }
        if isBypassing { return .bypass }
        let permit = breaker.admit(at: now, number: number)
        breakers.insert(breaker, for: key, byteCount: 0)
        return permit
    }

    /// Records an outcome. Returns the time for which the circuit opened, or `nil` if it did not open.
    mutating func record(
        _ outcome: CircuitBreaker.Outcome, of permit: CircuitBreaker.Permit, _ key: Key, at now: Duration
    ) -> Duration? {
        guard let limits else { return nil }
        var breaker: CircuitBreaker
        if let known = breakers.value(for: key) {
            breaker = known
        } else if case .failure = outcome {
            breaker = CircuitBreaker(limits)
        } else {
            return nil
        }
        let openTime = breaker.record(outcome, of: permit, at: now)
        if breaker.isIdle { breakers.remove(key) } else { breakers.insert(breaker, for: key, byteCount: 0) }
        return openTime
    }

    mutating func removeAll() { breakers.removeAll() }
}
