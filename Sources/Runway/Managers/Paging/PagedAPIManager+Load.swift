extension PagedAPIManager {
    /// Loads the first page of a list. A load that is under way is cancelled.
    ///
    /// The rows in memory stay until the new ones land.
    ///
    /// - Returns: The number of the load.
    @discardableResult
    public func load(_ endpoint: E, options: CallOptions = .standard) -> FlightID {
        cancelAll()
        return start(.first, endpoint, options)
    }

    /// Loads the first page of the list that ``parameterSource`` gives; without a source, of the same list again.
    ///
    /// - Returns: The number of the load.
    @discardableResult
    public func load(options: CallOptions) -> FlightID {
        cancelAll()
        return start(.first, parameterSource == nil ? endpoint : nil, options)
    }

    /// Loads the first page of the same list again, past what is kept. A load that is under way is cancelled.
    ///
    /// - Parameter options: The default asks the server, whatever is kept.
    /// - Returns: The number of the load.
    @discardableResult
    public func reload(options: CallOptions = CallOptions(cacheUse: .refresh)) -> FlightID {
        cancelAll()
        return start(.first, endpoint, options)
    }

    /// Loads the page after the last row in memory, or the first page if nothing was loaded yet or the rows belong to an account
    /// that is no longer signed in.
    ///
    /// - Returns: The number of the load, or of the load that is under way already; `nil` at the end of the list, where nothing is done.
    @discardableResult
    public func loadNextPage(options: CallOptions = .standard) -> FlightID? {
        if let running { return running.id }
        guard isListOfCurrentAccount else { return start(.first, endpoint, options) }
        guard hasMore else { return nil }
        return start(list.window.rows.isEmpty ? .first : .next, endpoint, options)
    }

    /// Loads the page before the first row in memory, which was evicted, or the first page if the rows belong to an account that is
    /// no longer signed in.
    ///
    /// - Returns: The number of the load, or of the load that is under way already; `nil` at the start of the list, where nothing is done.
    @discardableResult
    public func loadPreviousPage(options: CallOptions = .standard) -> FlightID? {
        if let running { return running.id }
        guard isListOfCurrentAccount else { return start(.first, endpoint, options) }
        guard !isFirstPage else { return nil }
        return start(.previous, endpoint, options)
    }

    /// Cancels a load: it lands nowhere, and changes nothing. A load that has landed is left alone.
    public func cancel(_ flight: FlightID) {
        if running?.id == flight { cancelAll() }
    }

    /// Cancels the load that is under way.
    public func cancelAll() {
        running = nil
        withoutParameters = nil
        requests.cancelAll()
    }

    /// Forgets the rows and the error, and cancels the load that is under way. The parameters of the list stay.
    public func clear() {
        cancelAll()
        requests.clear()
        list = PageList()
        error = nil
        landedEndpoint = nil
        landedFlight = nil
    }

    /// Whether the rows were loaded for the account that is signed in, or for nobody.
    private var isListOfCurrentAccount: Bool { list.answer?.flight.isOfCurrentAccount ?? true }

    // MARK: Requests

    private func start(_ direction: PageDirection, _ endpoint: E?, _ options: CallOptions) -> FlightID {
        let given: (any Endpoint)? = endpoint ?? parameterSource?.endpoint(for: self)
        guard let endpoint = given as? E else {
            let id = requests.load(given: given, by: parameterSource, options)
            withoutParameters = id
            return id
        }
        // Another attempt at the first page, by whatever method, is for the same list.
        if list.window.rows.isEmpty { self.endpoint = endpoint }
        let size = max(1, E.pageSize)
        let load: any PageLoad
        if E.paging == .cursor {
            load = CursorLoad(direction, of: list.window, size: size, limits)
        } else {
            let overlaps = direction == .first || list.window.edgeID != nil
            load = PositionalLoad(
                direction, of: list.window, PageLayout(E.paging, size: size, overlaps: overlaps), limits)
        }
        loadCount += 1
        var new = Running(token: loadCount, endpoint: endpoint, options: options, load: load)
        let step = new.load.begin()
        running = new
        return take(step)
    }

    /// Does what a load wants next. Gives the number of the request, where it is one.
    ///
    /// - Parameter list: What the load makes of the list, where it has come to its end.
    @discardableResult
    private func take(_ step: PageStep, _ list: PageList<E>? = nil) -> FlightID {
        guard let running else { return landedFlight ?? FlightID(number: 0) }
        switch step {
        case .ask(let page, let isRefreshing, let decision):
            var endpoint = running.endpoint
            endpoint.ask(for: page)
            var options = running.options
            options.landsOnce = true
            if isRefreshing { options.cacheUse = .refresh }
            let id = requests.load(endpoint, options: options)
            // Hooks of an interceptor ran meanwhile, and may have ended or replaced this load.
            guard self.running?.token == running.token else {
                requests.cancel(id)
                return id
            }
            guard let flight = requests.state.flights[id]?.flight else {
                self.running = nil
                return id
            }
            flight.note(decision)
            self.running?.request = id
            if running.id == nil { self.running?.id = id }
            return id
        case .land: land(running, list)
        case .fail(let failure):
            let flight = requests.state.last.answer?.flight
            flight?.note(PagingDecision.failed(failure))
            flight?.amend()
            fail(NetworkError(.invalidResponse, in: .landing, "\(failure)", underlying: failure), running)
        }
        return running.id ?? FlightID(number: 0)
    }

    /// Takes what a request brought, where it is the one that is waited for.
    func requestLanded(_ error: NetworkError?) {
        if let withoutParameters, running == nil, let error {
            self.withoutParameters = nil
            return fail(error, nil, withoutParameters)
        }
        guard let running, let request = running.request, requests.landedFlight == request else { return }
        if let error { return fail(error, running) }
        guard let answer = requests.state.last.answer, let endpoint = answer.endpoint as? E,
            let rawData = answer.rawData
        else { return }
        self.running?.request = nil
        Task { [weak self, items] in
            let reading = await Self.read(rawData, of: endpoint, answer.flight, for: running.load, after: items)
            // The load may have been cancelled meanwhile, or replaced.
            guard let self, self.running?.token == running.token else { return }
            guard answer.flight.isOfCurrentAccount else {
                self.running = nil
                answer.flight.note(CallDecision.accountChanged)
                return answer.flight.amend()
            }
            switch reading {
            case .success(let reading):
                self.running?.load = reading.load
                take(reading.step, reading.list)
            case .failure(let error): fail(error, running)
            }
        }
    }

    /// What a load made of an answer.
    private struct Reading: Sendable {
        var load: any PageLoad
        var step: PageStep
        /// What it made of the list, where it has come to its end.
        var list: PageList<E>?
    }

    /// Off the main actor, since what is read and put together may be long.
    @concurrent
    private nonisolated static func read(
        _ rawData: RawData, of endpoint: E, _ flight: Flight, for load: any PageLoad, after items: [PageItem]
    ) async -> Result<Reading, NetworkError> {
        do {
            let page = PageList<E>.Page(rawData: rawData, content: try endpoint.read(rawData))
            var load = load
            let step = load.take(page.content, isKept: rawData.source != .network)
            guard case .land(let window) = step else { return .success(Reading(load: load, step: step)) }
            let list = PageList(window, after: items, by: flight, endpoint, page)
            return .success(Reading(load: load, step: step, list: list))
        } catch {
            return .failure(flight.locate(.invalidResponse(in: .checking, rawData, error)))
        }
    }

    /// Ends the load whose request was vetoed by an interceptor, or whose error the service absorbed.
    func requestEnded(_ flight: FlightID) {
        if let running, running.request == flight { self.running = nil }
    }

    // MARK: Landing

    private func land(_ load: Running, _ list: PageList<E>?) {
        running = nil
        if let list { self.list = list }
        endpoint = load.endpoint
        error = nil
        landedEndpoint = load.endpoint
        landedFlight = load.id
        delegate?.apiManagerDidSucceed(self)
    }

    /// - Parameters:
    ///   - load: The load that failed; `nil` for one that nobody gave parameters for.
    ///   - flight: The number of such a load.
    private func fail(_ error: NetworkError, _ load: Running?, _ flight: FlightID? = nil) {
        running = nil
        self.error = error
        landedEndpoint = load?.endpoint
        landedFlight = load?.id ?? flight
        delegate?.apiManager(self, didFailWith: error)
    }
}
