/// Decides about the loads of a paged manager. Only one load is in flight at a time. The type is a pure state machine:
/// it makes no request and notifies no delegate.
///
/// The requests of a load are calls of an ``APIManager``. That manager's own machine decides which of their results are
/// delivered.
struct PagedLoadMachine<E: PagedEndpoint> {
    /// A load whose result was not delivered yet.
    struct Load {
        let number: Int
        let direction: PageDirection
        let endpoint: E
        var options: CallOptions
        /// Decides which pages to request, and how they change the list.
        var pages: any PageLoad
        /// The number of the load, which is the number of its first request; `nil` until that request is made.
        var id: FlightID?
        /// The identity of the load, which is compared with the first request of a later load; `nil` if no load may
        /// join this one.
        var identity: CallIdentity?
    }

    private enum State {
        case idle
        /// A request is being made. Interceptors' hooks may end or replace the load during this time.
        case requesting(Load)
        case waiting(Load, request: FlightID)
        /// A response is being read off the main actor.
        case reading(Load)
    }

    /// The next step of a paged manager when a request has ended with a response or an error.
    enum Landing {
        /// Ignore the result: the request does not belong to the load.
        case ignore
        /// Fail a load that could not start.
        case refuse
        /// Read the response, or fail the load with the error.
        case read(Load)
    }

    private var state = State.idle
    private var loadCount = 0
    /// The requests of loads that could not start. They fail in a later turn of the main actor.
    private var refused: Set<FlightID> = []

    /// The load that has started but not ended; `nil` if there is none.
    var load: Load? {
        switch state {
        case .idle: nil
        case .requesting(let load), .waiting(let load, _), .reading(let load): load
        }
    }

    /// The request that the load waits for; `nil` if the load is not waiting.
    var request: FlightID? { if case .waiting(_, let request) = state { request } else { nil } }

    /// Returns whether a load has not ended yet.
    func isPending(_ id: FlightID) -> Bool { load?.id == id || isRefused(id) }

    /// Returns whether a load could not start and has not failed yet.
    func isRefused(_ id: FlightID) -> Bool { refused.contains(id) }

    /// Creates a load, whose first request must be made next. A load in flight continues until
    /// ``begin(_:as:_:under:)``, because interceptors' hooks may veto the new one.
    mutating func start(
        _ direction: PageDirection, _ endpoint: E, _ options: CallOptions, _ pages: any PageLoad
    ) -> Load {
        loadCount += 1
        let load = Load(number: loadCount, direction: direction, endpoint: endpoint, options: options, pages: pages)
        if case .idle = state { state = .requesting(load) }
        return load
    }

    /// Records that no hook vetoed the first request of a load.
    ///
    /// - Parameters:
    ///   - request: The number of the request.
    ///   - identity: The identity of the load; `nil` if the load must not join another.
    /// - Returns: The treatment of the load: it starts and replaces a load in flight, it joins the load in flight, or
    ///   it is ignored because of the load in flight.
    mutating func begin(
        _ load: Load, as request: FlightID, _ identity: CallIdentity?, under policy: OverlapPolicy
    ) -> LandingMachine.Overlap {
        if let running = self.load, running.number != load.number, let id = running.id {
            // A hook of this load started a newer load.
            if running.number > load.number || policy == .ignoreNew { return .ignore(id) }
            let other = running.direction == load.direction ? running.identity : nil
            if policy == .joinOrReplace, let identity, let other, identity.isServed(by: other) {
                if load.options.bypassesCircuit { bypassCircuits() }
                return .join(id)
            }
        }
        var load = load
        (load.id, load.identity) = (request, identity)
        state = .waiting(load, request: request)
        return .start
    }

    /// Makes the later requests of the load in flight bypass open circuits.
    private mutating func bypassCircuits() {
        guard var load else { return }
        load.options.bypassesCircuit = true
        state =
            switch state {
            case .idle: .idle
            case .requesting: .requesting(load)
            case .waiting(_, let request): .waiting(load, request: request)
            case .reading: .reading(load)
            }
    }

    /// Records that a load can't start. Its request will fail.
    mutating func refuse(_ request: FlightID) { refused.insert(request) }

    /// Records that a request of a load was made.
    ///
    /// - Returns: Whether the load waits for the request; `false` if the load was ended or replaced while the request
    ///   was made.
    mutating func requested(_ request: FlightID, for number: Int) -> Bool {
        switch state {
        case .requesting(var load) where load.number == number:
            load.id = load.id ?? request
            state = .waiting(load, request: request)
            return true
        case .waiting(let load, request): return load.number == number
        case .idle, .requesting, .waiting, .reading: return false
        }
    }

    /// Records that the result of a request was delivered, and returns the next step.
    mutating func landed(_ request: FlightID) -> Landing {
        if refused.remove(request) != nil { return .refuse }
        guard case .waiting(let load, request) = state else { return .ignore }
        state = .reading(load)
        return .read(load)
    }

    /// Records that a request ended without a delivered result, which also ends its load. For example, an interceptor
    /// vetoed the request, or the service absorbed its error.
    ///
    /// - Returns: The number of the load, or `nil` if the request does not belong to a load in flight.
    mutating func ended(_ request: FlightID) -> FlightID? {
        if refused.remove(request) != nil { return request }
        guard case .waiting(let load, request) = state else { return nil }
        state = .idle
        return load.id
    }

    /// Records that the response was read and that the load makes another request next.
    ///
    /// - Returns: The load, or `nil` if it was ended or replaced while the response was read.
    mutating func continueLoad(_ number: Int, _ pages: any PageLoad) -> Load? {
        guard case .reading(var load) = state, load.number == number else { return nil }
        load.pages = pages
        state = .requesting(load)
        return load
    }

    /// Records that a load ends, with or without a delivered result.
    ///
    /// - Returns: Whether the load was still in flight; `false` if it was already ended or replaced.
    @discardableResult
    mutating func finish(_ number: Int) -> Bool {
        guard load?.number == number else { return false }
        state = .idle
        return true
    }

    mutating func cancel() {
        state = .idle
    }
}
