/// Decides the loads of a paged manager, of which only one is in flight at a time. Pure: it makes no request and
/// notifies no delegate.
///
/// The requests of a load are calls of an ``APIManager``, whose own machine decides which of them land.
struct PagedLoadMachine<E: PagedEndpoint> {
    /// A load that has not landed.
    struct Load {
        /// Distinguishes the load from those before and after it.
        let number: Int
        let direction: PageDirection
        let endpoint: E
        var options: CallOptions
        /// Decides the pages to request, and the changes that they make to the list.
        var pages: any PageLoad
        /// The number of its first request, which is the number of the load; `nil` until that request was made.
        var id: FlightID?
        /// The identity that the first request of a later load is compared with; `nil` if no load may join this one.
        var identity: CallIdentity?
    }

    private enum State {
        case idle
        /// A request is being made; hooks of interceptors may end or replace the load meanwhile.
        case requesting(Load)
        case waiting(Load, request: FlightID)
        /// A response is being read, off the main actor.
        case reading(Load)
    }

    /// The treatment of a request's landing by a paged manager.
    enum Landing {
        /// Ignore the landing: the request does not belong to the load.
        case ignore
        /// Fails a load that could not start.
        case refuse
        /// Reads the response, or fails the load with the error.
        case read(Load)
    }

    private var state = State.idle
    private var loadCount = 0
    /// The requests of loads that could not start, which fail in a later turn of the main actor.
    private var refused: Set<FlightID> = []

    /// The load that has not landed; `nil` if there is none, or it could not start.
    var load: Load? {
        switch state {
        case .idle: nil
        case .requesting(let load), .waiting(let load, _), .reading(let load): load
        }
    }

    /// The request that the load waits for; `nil` if it waits for none.
    var request: FlightID? { if case .waiting(_, let request) = state { request } else { nil } }

    /// Whether a load has neither landed nor ended.
    func isPending(_ id: FlightID) -> Bool { load?.id == id || isRefused(id) }

    /// Whether a load could not start, and has yet to fail.
    func isRefused(_ id: FlightID) -> Bool { refused.contains(id) }

    /// Makes a load, whose first request is made next. A load in flight continues until ``begin(_:as:_:under:)``: hooks
    /// of interceptors may veto the new one.
    mutating func start(
        _ direction: PageDirection, _ endpoint: E, _ options: CallOptions, _ pages: any PageLoad
    ) -> Load {
        loadCount += 1
        let load = Load(number: loadCount, direction: direction, endpoint: endpoint, options: options, pages: pages)
        if case .idle = state { state = .requesting(load) }
        return load
    }

    /// Notes that the first request of a load has passed the hooks that may veto it.
    ///
    /// - Parameters:
    ///   - request: The number of the request.
    ///   - identity: The identity by which the load is compared; `nil` if it joins no other.
    /// - Returns: Whether the load starts, and replaces the load in flight if there is one; otherwise the load in
    ///   flight with which it lands, or because of which it is not made.
    mutating func begin(
        _ load: Load, as request: FlightID, _ identity: CallIdentity?, under policy: OverlapPolicy
    ) -> LandingMachine.Overlap {
        if let running = self.load, running.number != load.number, let id = running.id {
            // A hook of this load made a newer one.
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

    /// Has the requests that the load in flight has yet to make sent although a circuit is open.
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

    /// Notes that a load can't start: its request will fail.
    mutating func refuse(_ request: FlightID) { refused.insert(request) }

    /// Notes that a request of a load was made.
    ///
    /// - Returns: Whether the load waits for it; `false` if the load was ended or replaced while the request was made.
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

    /// Notes that a request landed, and returns the treatment of its landing.
    mutating func landed(_ request: FlightID) -> Landing {
        if refused.remove(request) != nil { return .refuse }
        guard case .waiting(let load, request) = state else { return .ignore }
        state = .reading(load)
        return .read(load)
    }

    /// Notes that a request ended without landing, and its load with it: an interceptor vetoed it, for instance, or the
    /// service absorbed its error.
    ///
    /// - Returns: The number of the load; `nil` if the request was none of a load in flight.
    mutating func ended(_ request: FlightID) -> FlightID? {
        if refused.remove(request) != nil { return request }
        guard case .waiting(let load, request) = state else { return nil }
        state = .idle
        return load.id
    }

    /// Notes that the response was read, and the load makes another request next.
    ///
    /// - Returns: The load; `nil` if it was ended or replaced while the response was read.
    mutating func continueLoad(_ number: Int, _ pages: any PageLoad) -> Load? {
        guard case .reading(var load) = state, load.number == number else { return nil }
        load.pages = pages
        state = .requesting(load)
        return load
    }

    /// A load lands, or ends without landing.
    ///
    /// - Returns: Whether the load lands; `false` if it was ended or replaced before.
    @discardableResult
    mutating func finish(_ number: Int) -> Bool {
        guard load?.number == number else { return false }
        state = .idle
        return true
    }

    /// Cancels or replaces the load in flight, if there is one.
    mutating func cancel() {
        state = .idle
    }
}
