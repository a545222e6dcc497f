/// Decides what becomes of the load of a paged manager, of which there is one at a time. Pure: it makes no request and notifies
/// nobody.
///
/// The requests of a load are calls of an ``APIManager``, whose own machine decides which of them land.
struct PagedLoadMachine<E: PagedEndpoint> {
    /// A load that has not landed.
    struct Load {
        /// Distinguishes the load from those before and after it.
        let number: Int
        let endpoint: E
        let options: CallOptions
        /// Decides which pages are requested, and what they make of the list.
        var pages: any PageLoad
        /// The number of its first request, which is the number of the load; `nil` until that request was made.
        var id: FlightID?
    }

    private enum State {
        case idle
        /// No parameters were supplied; the request of this number fails for it.
        case refused(FlightID)
        /// A request is being made; hooks of interceptors may end or replace the load meanwhile.
        case requesting(Load)
        case waiting(Load, request: FlightID)
        /// A response is being read, off the main actor.
        case reading(Load)
    }

    /// What a paged manager does when a request has landed.
    enum Landing {
        /// Nothing: it is not a request of the load.
        case ignore
        /// Fails the load, for which no parameters were supplied.
        case refuse
        /// Reads the response, or fails the load with the error.
        case read(Load)
    }

    private var state = State.idle
    private var loadCount = 0

    /// The load that has not landed; `nil` if there is none, or no parameters were supplied for it.
    var load: Load? {
        switch state {
        case .idle, .refused: nil
        case .requesting(let load), .waiting(let load, _), .reading(let load): load
        }
    }

    /// The number of the load that has not landed; `nil` without such a load, or while its first request is being made.
    var pending: FlightID? { if case .refused(let request) = state { request } else { load?.id } }

    /// A load starts, whose first request is made next.
    mutating func start(_ endpoint: E, _ options: CallOptions, _ pages: any PageLoad) -> Load {
        guard case .idle = state else { preconditionFailure("the load before this one was cancelled") }
        loadCount += 1
        let load = Load(number: loadCount, endpoint: endpoint, options: options, pages: pages)
        state = .requesting(load)
        return load
    }

    /// A load starts for which no parameters were supplied, and whose request will therefore fail.
    mutating func refuse(_ request: FlightID) {
        guard case .idle = state else { preconditionFailure("the load before this one was cancelled") }
        state = .refused(request)
    }

    /// A request of a load was made.
    ///
    /// - Returns: Whether the load waits for it; `false` if the load was ended or replaced while the request was made.
    mutating func requested(_ request: FlightID, for number: Int) -> Bool {
        guard case .requesting(var load) = state, load.number == number else { return false }
        load.id = load.id ?? request
        state = .waiting(load, request: request)
        return true
    }

    /// A request landed.
    mutating func landed(_ request: FlightID) -> Landing {
        switch state {
        case .refused(request):
            state = .idle
            return .refuse
        case .waiting(let load, request):
            state = .reading(load)
            return .read(load)
        case .idle, .refused, .requesting, .waiting, .reading: return .ignore
        }
    }

    /// A request ended without landing, and its load with it: an interceptor vetoed it, or the service absorbed its error.
    mutating func ended(_ request: FlightID) {
        switch state {
        case .refused(request), .waiting(_, request): state = .idle
        case .idle, .refused, .requesting, .waiting, .reading: break
        }
    }

    /// The response was read, and the load makes another request next.
    ///
    /// - Returns: The load; `nil` if it was ended or replaced while the response was read.
    mutating func goOn(_ number: Int, _ pages: any PageLoad) -> Load? {
        guard case .reading(var load) = state, load.number == number else { return nil }
        load.pages = pages
        state = .requesting(load)
        return load
    }

    /// A load lands, or ends without landing.
    ///
    /// - Returns: Whether it lands; `false` if it was ended or replaced before.
    @discardableResult
    mutating func finish(_ number: Int) -> Bool {
        guard load?.number == number else { return false }
        state = .idle
        return true
    }

    /// The load is cancelled, if there is one.
    mutating func cancel() {
        state = .idle
    }
}
