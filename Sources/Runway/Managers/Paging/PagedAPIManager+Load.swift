extension PagedAPIManager {
    /// Loads the first page of a list.
    ///
    /// The rows in memory stay until the new ones arrive. ``Endpoint/overlap`` decides about a load in flight: by
    /// default an identical load joins it, and a different load replaces it. A load that an interceptor vetoes changes
    /// nothing.
    ///
    /// - Returns: The number of the load. If the load joins a load in flight, or is ignored because of a load in
    ///   flight, the result is the number of the load in flight.
    @discardableResult
    public func load(_ endpoint: E, options: CallOptions = .standard) -> FlightID {
        start(.first, endpoint, options)
    }

    /// Loads the first page of the list that ``parameterSource`` supplies. Without a source, loads the current list
    /// again.
    ///
    /// - Returns: The number of the load. If the load joins a load in flight, or is ignored because of a load in
    ///   flight, the result is the number of the load in flight.
    @discardableResult
    public func load(options: CallOptions) -> FlightID {
        start(.first, parameterSource == nil ? endpoint : nil, options)
    }

    /// Loads the first page of the current list again from the server, like ``load(_:options:)``. If the user pulls to
    /// refresh repeatedly, all pulls wait for one load.
    ///
    /// - Parameter options: The options of the load. The default suits a pull to refresh: no cached response is used,
    ///   and the load is sent even if a circuit is open (``CallOptions/bypassesCircuit``).
    /// - Returns: The number of the load. If the load joins a load in flight, or is ignored because of a load in
    ///   flight, the result is the number of the load in flight.
    @discardableResult
    public func reload(
        options: CallOptions = CallOptions(cacheUse: .refresh, bypassesCircuit: true)
    ) -> FlightID {
        start(.first, endpoint, options)
    }

    /// Loads the page after the last row in memory. Loads the first page if nothing was loaded yet, or if the rows
    /// belong to an account that is no longer signed in.
    ///
    /// - Returns: The number of the load. If a load is already in flight, no further load starts, and the result is the
    ///   number of the load in flight. `nil` at the end of the list, where nothing is loaded.
    @discardableResult
    public func loadNextPage(options: CallOptions = .standard) -> FlightID? {
        if let load = machine.load { return load.id }
        return list.next.map { start($0, endpoint, options) }
    }

    /// Loads the evicted page before the first row in memory. Loads the first page if the rows belong to an account
    /// that is no longer signed in.
    ///
    /// - Returns: The number of the load. If a load is already in flight, no further load starts, and the result is the
    ///   number of the load in flight. `nil` at the start of the list, where nothing is loaded.
    @discardableResult
    public func loadPreviousPage(options: CallOptions = .standard) -> FlightID? {
        if let load = machine.load { return load.id }
        return list.previous.map { start($0, endpoint, options) }
    }

    /// Cancels a load, which then delivers no result and changes nothing. Does nothing if the load has ended.
    ///
    /// - Parameter flight: The number of the load, or the number that interceptors receive for its current request.
    public func cancel(_ flight: FlightID) {
        if machine.isRefused(flight) {
            requests.cancel(flight)
        } else if machine.load?.id == flight || requests.isPending(flight) {
            cancelAll()
        }
    }

    /// Cancels the load in flight.
    public func cancelAll() {
        endLoad(as: .cancelled)
        requests.cancelAll()
    }

    /// Ends the load in flight, and prevents earlier loads from being resumed.
    private func endLoad(as outcome: FlightOutcome) {
        network.withdrawResumption(by: self)
        if let load = machine.load?.id { waiters.ended(load, as: outcome) }
        machine.cancel()
    }

    /// Waits until the result of a load was delivered and the delegate was notified. Returns all rows as one response;
    /// see ``APIManaging/landing(of:)``.
    public func landing(of flight: FlightID) async throws(NetworkError) -> RawData {
        if machine.isPending(flight) { return try await waiters.end(of: flight).get() }
        guard landedFlight == flight else {
            throw .notLanded(flight, "it has ended, and nothing shows its landing")
        }
        if let error { throw error }
        guard let rawData else { preconditionFailure("a load that landed has rows") }
        return rawData
    }

    /// Loads the first page of a list, waits until the delegate was notified of the result, and returns the rows. For
    /// scripts and tests.
    ///
    /// - Parameters:
    ///   - endpoint: The list to load.
    ///   - options: Settings of this call that override those of its endpoint.
    /// - Throws: The errors of ``landing(of:)``.
    @discardableResult
    public func landing(of endpoint: E, options: CallOptions = .standard) async throws(NetworkError) -> RawData {
        try await landing(of: load(endpoint, options: options))
    }

    /// Loads the page after the last row in memory, waits until the delegate was notified of the result, and returns
    /// all rows. For scripts and tests.
    ///
    /// ```swift
    /// rentals.load(RentalList(city: "上海"))
    /// while try await rentals.landingOfNextPage() != nil { print(rentals.newestItems.count) }
    /// ```
    ///
    /// If a load is in flight, for example of the first page, the function waits for that load.
    ///
    /// - Parameter options: Settings of this call that override those of its endpoint.
    /// - Returns: All rows; `nil` at the end of the list. Then nothing is loaded.
    /// - Throws: The errors of ``landing(of:)``.
    public func landingOfNextPage(options: CallOptions = .standard) async throws(NetworkError) -> RawData? {
        guard let load = loadNextPage(options: options) else { return nil }
        return try await landing(of: load)
    }

    /// Removes the rows and the error, and cancels the load in flight. ``endpoint`` does not change.
    public func clear() {
        cancelAll()
        requests.clear()
        list = PageList()
        error = nil
        lastRequest = nil
        landedEndpoint = nil
        landedFlight = nil
    }

    // MARK: Requests

    private func start(_ direction: PageDirection, _ endpoint: E?, _ options: CallOptions) -> FlightID {
        let supplied: (any Endpoint)? = endpoint ?? parameterSource?.endpoint(for: self)
        guard let endpoint = supplied as? E else {
            let id = requests.load(supplied, from: parameterSource, options)
            refuse(id)
            return id
        }
        if machine.load == nil { showParameters(endpoint) }
        var pages = E.pageLoad(direction, of: list.window, limits)
        let query = pages.start()
        return send(query, for: machine.start(direction, endpoint, options, pages))
    }

    /// Sets the parameters of a list whose rows are not loaded yet. A later load of the first page then uses them.
    private func showParameters(_ endpoint: E) {
        if list.window.rows.isEmpty { self.endpoint = endpoint }
    }

    /// Decides the treatment of a load after the hooks have run for its first request and none vetoed the request.
    private func begin(
        _ load: PagedLoadMachine<E>.Load, as request: FlightID, _ identity: CallIdentity?
    ) -> LandingMachine.Overlap {
        let running = machine.load
        let overlap = machine.begin(load, as: request, identity, under: E.overlap)
        if case .join = overlap, load.options.bypassesCircuit, let running = machine.request {
            // The load may have continued with a later request, so its first request is not necessarily the running
            // one.
            requests.state.machine.flight(running)?.bypassCircuits()
        }
        guard overlap == .start else { return overlap }
        network.withdrawResumption(by: self)
        if let running, running.number != load.number, let id = running.id { waiters.ended(id, as: .replaced) }
        showParameters(load.endpoint)
        return .start
    }

    /// Fails a load that could not start. Unless the policy ignores new loads, the failed load replaces the load in
    /// flight, so that no older rows appear under its error.
    private func refuse(_ request: FlightID) {
        if E.overlap != .ignoreNew { endLoad(as: .replaced) }
        machine.refuse(request)
    }

    /// Makes a request of a load. Returns its number, or the number of the load in flight that the load joined.
    @discardableResult
    private func send(_ query: PageQuery, for load: PagedLoadMachine<E>.Load) -> FlightID {
        var endpoint = load.endpoint
        endpoint.ask(for: query.page)
        var options = load.options
        options.landsOnce = true
        if query.isRefreshing { options.cacheUse = .refresh }
        var isMade = true
        let id = requests.load(endpoint, options: options) { identity, request in
            let overlap: LandingMachine.Overlap
            if load.id == nil {
                overlap = begin(load, as: request, identity)
            } else {
                // Interceptors' hooks may have replaced the load. Then its request must not replace the request of the
                // new load.
                let isWaitedFor = machine.requested(request, for: load.number)
                overlap = isWaitedFor ? .start : machine.load?.id.map { .ignore($0) } ?? .start
            }
            isMade = overlap == .start
            return overlap
        }
        if !isMade, machine.load?.id == id { return id }
        // Interceptors' hooks may have vetoed the request, or ended or replaced the load.
        guard let flight = requests.state.machine.flight(id) else {
            machine.finish(load.number)
            if let load = load.id { waiters.ended(load, as: .vetoed) }
            return id
        }
        if machine.requested(id, for: load.number) {
            flight.note(query.decision)
        } else if load.id == nil {
            refuse(id)
        } else {
            requests.cancel(id)
        }
        return id
    }

    /// Reads the response of a request that succeeded, or fails its load.
    func requestLanded(_ error: NetworkError?) {
        guard let request = requests.landedFlight else { preconditionFailure("a request that landed has a number") }
        switch machine.landed(request) {
        case .ignore: break
        case .refuse:
            guard let error else { preconditionFailure("a request without parameters fails") }
            fail(error, of: requests.state.last.landed?.endpoint as? E, request)
        case .read(let load):
            if let error { return fail(error, load) }
            guard let response = requests.state.last.response, let endpoint = response.endpoint as? E,
                let rawData = response.rawData
            else { preconditionFailure("a request that succeeded has a response of its endpoint") }
            read(rawData, of: endpoint, response.flight, for: load)
        }
    }

    /// Ends the load of a request that ended without a delivered result: for example, the request was vetoed or
    /// replaced, or the service absorbed its error.
    func requestEnded(_ request: FlightID, as outcome: FlightOutcome) {
        if let load = machine.ended(request) { waiters.ended(load, as: outcome) }
    }

    // MARK: Reading

    private func read(
        _ rawData: RawData, of endpoint: E, _ flight: Flight, for load: PagedLoadMachine<E>.Load
    ) {
        if flight.id == load.id { requestAccounts = [] }
        requestAccounts.insert(flight.account)
        Task { [weak self, items = list.items] in
            let reading = await PageReading<E>.reading(of: rawData, of: endpoint, flight, for: load.pages, after: items)
            // The load may have been cancelled or replaced while the response was read.
            guard let self, machine.load?.number == load.number else { return }
            guard flight.belongsToCurrentAccount else {
                machine.finish(load.number)
                if let id = load.id { waiters.ended(id, as: .cancelled) }
                flight.note(CallDecision.accountChanged)
                return flight.amend()
            }
            switch reading {
            case .query(let query, let pages):
                if let load = machine.continueLoad(load.number, pages) { send(query, for: load) }
            case .list(let list): land(list, load)
            case .unconnected(let failure):
                flight.note(PagingDecision.failed(failure))
                flight.amend()
                fail(NetworkError(.invalidResponse, in: .landing, "\(failure)", underlying: failure), load)
            case .failure(let error): fail(error, load)
            }
        }
    }

    // MARK: Landing

    private func land(_ list: PageList<E>, _ load: PagedLoadMachine<E>.Load) {
        machine.finish(load.number)
        self.list = list
        accounts = load.direction == .first ? requestAccounts : accounts.union(requestAccounts)
        endpoint = load.endpoint
        error = nil
        lastRequest = requests.state.last.landed
        landedEndpoint = load.endpoint
        landedFlight = load.id
        delegate?.apiManagerDidSucceed(self)
        if let id = load.id, let rawData = list.response?.rawData { waiters.landed(id, .success(rawData)) }
    }

    private func fail(_ error: NetworkError, _ load: PagedLoadMachine<E>.Load) {
        machine.finish(load.number)
        if isResumed(load, after: error) {
            if let id = load.id { waiters.ended(id, as: .replaced) }
            return
        }
        fail(error, of: load.endpoint, load.id)
    }

    /// If the app has already resumed a failed load, starts the load again instead of failing it, and returns `true`.
    /// Otherwise the app may resume the load later.
    private func isResumed(_ load: PagedLoadMachine<E>.Load, after error: NetworkError) -> Bool {
        guard let flight = requests.state.last.landed?.flight else { return false }
        let resume = network.offerResumption(of: flight, after: error, by: self, load.options) { [weak self] options in
            self?.start(load.direction, load.endpoint, options)
        }
        return resume?() != nil
    }

    private func fail(_ error: NetworkError, of endpoint: E?, _ id: FlightID?) {
        self.error = error
        lastRequest = requests.state.last.landed
        landedEndpoint = endpoint
        landedFlight = id
        delegate?.apiManager(self, didFailWith: error)
        if let id { waiters.landed(id, .failure(error)) }
    }
}
