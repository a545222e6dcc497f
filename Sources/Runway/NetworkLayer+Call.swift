public import RunwayJSON
import Synchronization

extension NetworkLayer {
    /// Makes one call and returns its response. Use it in code whose next step depends on the response: chains of
    /// calls, scripts, servers, tests.
    ///
    /// Write groups and chains of calls with Swift's structured concurrency:
    ///
    /// ```swift
    /// async let rentals = network.call(RentalList(city: city))
    /// async let homes = network.call(NewHomesList(city: city))
    /// let both = try await (rentals, homes)
    /// ```
    ///
    /// A cached response is returned without leaving the caller's actor. If the layer has interceptors for the call,
    /// their hooks run on the main actor before and after the call.
    ///
    /// - Throws: The error of the call; ``NetworkError/Kind/cancelled`` as soon as the task is cancelled.
    public func call<E: Endpoint>(
        _ endpoint: E, options: CallOptions = .standard
    ) async throws(NetworkError) -> RawData {
        try await rawData(of: endpoint, in: makeFlight(E.self, options))
    }

    /// Makes one call and decodes its response off the caller's actor.
    ///
    /// ```swift
    /// let rentals = try await network.call(RentalList(city: city), as: [Rental].self, at: "result.items")
    /// ```
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint with the parameters of the call.
    ///   - type: The type of the model.
    ///   - path: The member names that lead from the root of the body to the model, separated by dots. The default is
    ///     the root. Use ``DecodableReformer`` for names that contain dots.
    ///   - decoder: Decodes keys and dates. The default leaves keys unchanged and reads dates as seconds since
    ///     2001-01-01.
    ///   - options: Settings of this call that override those of its endpoint.
    /// - Throws: The error of the call; ``NetworkError/Kind/invalidResponse`` if the body is not JSON, has no value at
    ///   the path, or has a value of another type there. The record of the call shows that error as a decision.
    public func call<E: Endpoint, Value: Decodable & Sendable>(
        _ endpoint: E, as type: Value.Type, at path: String = "", decoder: JSONDocumentDecoder = JSONDocumentDecoder(),
        options: CallOptions = .standard
    ) async throws(NetworkError) -> Value {
        let flight = makeFlight(E.self, options)
        let rawData = try await rawData(of: endpoint, in: flight)
        let names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let reformer = DecodableReformer(type, at: path.isEmpty ? [] : names, decoder: decoder)
        return try await flight.reform(rawData, of: endpoint, with: reformer)
    }

    /// Makes one call as ``call(_:options:)`` does, and returns its flight, too. A caller that learns more about the
    /// response later adds it to the record with `note` and ``Flight/amend()``.
    package func callWithFlight<E: Endpoint>(
        _ endpoint: E, options: CallOptions = .standard
    ) async throws(NetworkError) -> (rawData: RawData, flight: Flight) {
        let flight = makeFlight(E.self, options)
        return (try await rawData(of: endpoint, in: flight), flight)
    }

    /// Makes a call and returns the response after the service and the endpoint have accepted it.
    @inline(__always)
    private func rawData<E: Endpoint>(of endpoint: E, in flight: Flight) async throws(NetworkError) -> RawData {
        flight.recorder.setEndpoint(endpoint)
        do throws(NetworkError) {
            let rawData = try await intercepted(endpoint, in: flight) {
                $0
            } perform: { (endpoint) async throws(NetworkError) in
                try await fetch(endpoint, in: flight)
            }
            flight.finish(.succeeded)
            return rawData
        } catch {
            throw flight.finish(failing: error)
        }
    }

    /// Returns the response for a checked endpoint, and stores it if the endpoint's policy requires that.
    @inline(__always)
    private func fetch<E: Endpoint>(_ endpoint: E, in flight: Flight) async throws(NetworkError) -> RawData {
        var draft = try draft(endpoint, in: flight)
        let accepted: AcceptedResponse =
            if let response = try acceptedImmediately(&draft, for: endpoint, in: flight) { response } else {
                try await accept(draft.request(in: flight), for: endpoint, in: flight)
            }
        flight.storeProposal()
        if accepted.isProvisional, let key = try draft.key(in: flight) { revalidate(endpoint, key, after: flight) }
        return accepted.rawData
    }

    /// Makes one call and returns the body of its response in parts, as they arrive.
    ///
    /// The service judges only the status and header fields, not the body. The call's deadline covers only the time
    /// until the header fields arrive. After that, the transport's own limit on silence applies, and also
    /// ``CallOptions/wholeDeadline`` if it is set. The record of the call is closed when the body is read to its end,
    /// fails, or is discarded. To stop the transfer, discard the body or cancel the task that reads it.
    ///
    /// - Throws: The error of the call. If reading the body fails later, the body throws a ``NetworkError``.
    public func stream<E: Endpoint>(
        _ endpoint: E, options: CallOptions = .standard
    ) async throws(NetworkError) -> StreamedResponse {
        let flight = makeFlight(E.self, options)
        flight.recorder.setEndpoint(endpoint)
        do throws(NetworkError) {
            return try await intercepted(endpoint, in: flight) {
                RawData([], response: $0.response)
            } perform: { (endpoint) async throws(NetworkError) in
                try await openStream(endpoint, in: flight)
            }
        } catch {
            throw flight.finish(failing: error)
        }
    }

    /// Returns the response for a checked endpoint as soon as its header fields have arrived.
    private func openStream<E: Endpoint>(
        _ endpoint: E, in flight: Flight
    ) async throws(NetworkError) -> StreamedResponse {
        let request = try assemble(endpoint, delivery: .streamed, in: flight)
        let response = try await send(request, in: flight)
        // Background time is meant for calls that end soon, so a long-lived call does not use it.
        if flight.options.isLongLived { context.grace?.end(flight.id) }
        try flight.checkSession(in: .checking)
        try response.checkCoding(of: endpoint, in: flight)
        if let error = response.refusal { throw error }
        flight.recorder.setSource(response.source)
        let body: BodyStream =
            switch response.body {
            case .whole(let rawData): BodyStream(rawData.bytes)
            case .stream(let body): body
            }
        return StreamedResponse(
            response: response.head, body: body.bounded(in: flight).recorded(in: flight, at: response.attempt?.index),
            flight: flight, tokenRenewalWindow: response.tokenRenewalWindow)
    }

    /// Prepares an endpoint and performs its call, with the hooks of the endpoint and of the interceptors, if any.
    ///
    /// The asynchronous functions of a call are inlined: each one allocates when it is called, and a call that finds
    /// its response in memory does not wait in any of them.
    @inline(__always)
    func intercepted<E: Endpoint, Value: Sendable>(
        _ endpoint: E, in flight: Flight, rawData: (Value) -> RawData,
        perform: (E) async throws(NetworkError) -> Value
    ) async throws(NetworkError) -> Value {
        if let hooks = CallHooks(interceptors, of: flight) {
            return try await hooks.around(endpoint, rawData: rawData, perform: perform)
        }
        var endpoint = endpoint
        let value: Value
        do throws(NetworkError) {
            endpoint = try prepared(endpoint)
            value = try await perform(endpoint)
        } catch {
            let error = flight.locate(error)
            let mayBeVetoed = error.kind != .cancelled && error.kind != .queued && !error.isAbsorbed
            if mayBeVetoed, !endpoint.allows(.failure(error)) { throw flight.veto(.failure(error), by: .endpoint) }
            throw error
        }
        let result = Result<RawData, NetworkError>.success(rawData(value))
        if !endpoint.allows(result) { throw flight.veto(result, by: .endpoint) }
        return value
    }
}

// The steps of one call, in order. Calls with and without a manager, transfers and prefetches all take them.

extension NetworkLayer {
    /// Creates the flight of a call, the object that represents the call while it runs.
    ///
    /// - Parameter manager: The manager that makes the call. It is referenced weakly. The default is `nil`.
    func makeFlight<E: Endpoint>(
        _ endpoint: E.Type, _ options: CallOptions, for manager: (any APIManaging)? = nil
    ) -> Flight {
        context.makeFlight(endpoint, options, for: manager, retainedLayer: self)
    }

    /// Completes and checks the parameters of an endpoint.
    func prepared<E: Endpoint>(_ endpoint: E) throws(NetworkError) -> E {
        var endpoint = endpoint
        _ = try endpoint.prepare { _ in
            true
        } validator: { _ in
        }
        return endpoint
    }

    /// Returns the draft of the request of an endpoint whose parameters were checked. It contains the cache key if the
    /// key can be computed before the request exists.
    func draft<E: Endpoint>(_ endpoint: E, in flight: Flight) throws(NetworkError) -> RequestDraft {
        if case .failure(let error) = flight.configuration.baseURL { throw error }
        let content = try content(of: endpoint, in: flight)
        let key = flight.cachePolicy.isClientDefined ? CacheKey(content, of: E.self, in: flight) : nil
        return RequestDraft(content, key: key)
    }

    /// Returns the content of a checked endpoint's request. Records the sent parameters, and the responses that the
    /// call invalidates, in `flight`.
    private func content<E: Endpoint>(of endpoint: E, in flight: Flight) throws(NetworkError) -> CallContent {
        let content = try CallContent(of: endpoint, in: flight)
        flight.recorder.setContent(content, changing: E.offline.isQueued ? endpoint.offlineSubjects : nil)
        if !E.method.isSafe { flight.readInvalidations(of: endpoint) }
        return content
    }

    /// Returns a response that a stage can supply without waiting, or `nil` if the request must be sent.
    func respondImmediately(_ draft: inout RequestDraft, in flight: Flight) throws(NetworkError) -> Response? {
        guard let response = try chain.respondImmediately(&draft, in: flight) else { return nil }
        flight.recorder.noteImmediateDelivery()
        return response
    }

    /// Returns a response that a stage can supply without waiting and that the endpoint accepts, or `nil` if the
    /// request must be sent.
    ///
    /// A stored response that the endpoint rejects is removed.
    func acceptedImmediately<E: Endpoint>(
        _ draft: inout RequestDraft, for endpoint: E, in flight: Flight
    ) throws(NetworkError) -> AcceptedResponse? {
        guard let response = try respondImmediately(&draft, in: flight) else { return nil }
        do {
            return try checked(response, for: endpoint, in: flight)
        } catch {
            if flight.rejectCached(response.source) { return nil }
            throw error
        }
    }
}

extension NetworkLayer {
    /// Creates the request of an endpoint whose parameters were checked.
    func assemble<E: Endpoint>(
        _ endpoint: E, delivery: ResponseDelivery, in flight: Flight
    ) throws(NetworkError) -> Request {
        let baseURL = try flight.configuration.baseURL.get()
        let content = try content(of: endpoint, in: flight)
        return try flight.configuration.settings.assemble(
            endpoint, content, at: baseURL, delivery: delivery, in: flight)
    }

    /// Sends a request through the stages. Uses the service's transport, or the layer's if the service has none.
    func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
        context.grace?.begin(flight)
        return try await chain.send(request, in: flight, over: flight.configuration.transport ?? transport)
    }

    /// Sends a request and returns the response after the service and the endpoint have accepted it. The check runs off
    /// the caller's actor, which may be the main actor.
    ///
    /// If the endpoint rejects a stored response, the response is removed and the request is sent once more.
    @concurrent func accept<E: Endpoint>(
        _ request: Request, for endpoint: E, in flight: Flight
    ) async throws(NetworkError) -> AcceptedResponse {
        var response = try await send(request, in: flight)
        do {
            return try checked(response, for: endpoint, in: flight)
        } catch {
            guard flight.rejectCached(response.source) else { throw error }
        }
        response = try await send(request, in: flight)
        return try checked(response, for: endpoint, in: flight)
    }

    /// Returns a response if the service and the endpoint accept it; otherwise throws.
    func checked<E: Endpoint>(
        _ response: Response, for endpoint: E, in flight: Flight
    ) throws(NetworkError) -> AcceptedResponse {
        try flight.checkSession(in: .checking)
        if !response.isAccepted { try response.checkCoding(of: endpoint, in: flight) }
        if let error = response.refusal { throw error }
        var rawData = try response.wholeBody(in: .checking)
        rawData.source = response.source
        flight.recorder.setSource(response.source)
        do { try endpoint.validate(response: rawData) } catch { throw .invalidResponse(in: .checking, rawData, error) }
        return AcceptedResponse(rawData: rawData, isProvisional: response.isProvisional)
    }
}

/// A response that the service and the endpoint have accepted.
struct AcceptedResponse {
    var rawData: RawData
    /// Whether the response is stale, and a fresh response is fetched after it is delivered.
    var isProvisional: Bool
}

extension Endpoint {
    /// Completes the parameters, and checks them by the endpoint's own rules and then by the rules of `validator`.
    ///
    /// - Parameters:
    ///   - change: Lets interceptors change the completed parameters. Returns `false` if one vetoed the call, which is
    ///     then not checked.
    ///   - validator: Throws if the parameters are invalid. Neither closure has a default, because a default would
    ///     allocate an object for each call.
    /// - Returns: `false` if the call was vetoed.
    mutating func prepare(
        _ change: (inout Self) throws(NetworkError) -> Bool, validator: (Self) throws -> Void
    ) throws(NetworkError) -> Bool {
        do { try complete() } catch { throw .invalidParameters(in: .preparing, error) }
        guard try change(&self) else { return false }
        do {
            try validate()
            try validator(self)
        } catch {
            throw .invalidParameters(in: .validating, error)
        }
        return true
    }

    /// Returns whether the endpoint allows the delivery of the result of its call.
    func allows(_ result: Result<RawData, NetworkError>) -> Bool {
        switch result {
        case .success(let rawData): beforeSuccess(rawData)
        case .failure(let error): beforeFailure(error)
        }
    }
}

/// The parts of a network layer that all its calls share.
final class FlightContext: Sendable {
    let network: String
    let clock: LayerClock
    let deadlines: DeadlineTimer
    let randomness: LayerRandomness
    let cache: ResponseCache
    let cookieJars: CookieJars
    let services: ServiceConfigurations
    let redaction: Redaction
    let events: EventQueue
    /// Requests background time for calls that send a request; `nil` if the app provides none.
    let grace: GraceControl?
    private let flightCount = Atomic<UInt64>(0)

    init(
        network: String, clock: LayerClock, deadlines: DeadlineTimer, randomness: LayerRandomness,
        cache: ResponseCache, cookieJars: CookieJars,
        services: ServiceConfigurations, redaction: Redaction, events: EventQueue, grace: GraceControl?
    ) {
        self.network = network
        self.clock = clock
        self.deadlines = deadlines
        self.randomness = randomness
        self.cache = cache
        self.cookieJars = cookieJars
        self.services = services
        self.redaction = redaction
        self.events = events
        self.grace = grace
    }

    func makeID() -> FlightID { FlightID(number: flightCount.wrappingAdd(1, ordering: .relaxed).newValue) }

    /// Creates the flight of a call: the object that represents the call while it runs. The flight retains
    /// `retainedLayer` until the call ends.
    ///
    /// - Parameter manager: The manager that makes the call. It is referenced weakly. The default is `nil`.
    func makeFlight<E: Endpoint>(
        _ endpoint: E.Type, _ options: CallOptions, for manager: (any APIManaging)? = nil,
        retainedLayer: any AnyObject & Sendable
    ) -> Flight {
        let service = E.Service.self
        // The sequence number is read before the account's session. A sign-out between the two reads then has a later
        // number, so no response to this call is stored after the sign-out.
        let start = cache.lastSequenceNumber
        let renewals = RenewalScope.scopes(of: self)
        let configuration =
            renewals.last { $0.configuration.service == service }?.configuration ?? services.configuration(of: service)
        let lifetime = options.deadline ?? E.deadline ?? configuration.settings.deadline
        // A lifetime is limited to a year so that clocks do not overflow. A negative lifetime has already passed.
        let bounded = min(max(lifetime, .zero), .seconds(365 * 86_400))
        let flight = Flight(
            id: makeID(), endpoint: endpoint, configuration: configuration, options: options,
            lifetime: bounded, context: self, retainedLayer: retainedLayer,
            traits: renewals.isEmpty ? StageValues() : .renewing(renewals), manager: manager,
            start: configuration.session.isOver ? 0 : start)
        if options.landsOnce { flight.forgoProvisional() }
        FlightID.observer?.note(flight.id)
        return flight
    }
}
