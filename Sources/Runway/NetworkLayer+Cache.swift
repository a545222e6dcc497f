extension NetworkLayer {
    /// Fetches a response ahead, so that a later call finds it. Nothing lands, and no manager is notified of a failure;
    /// only the record contains it.
    ///
    /// A response that is fresh already is not fetched, nor a response that another prefetch or a revalidation is
    /// fetching. For an endpoint whose policy stores nothing, the record says
    /// ``NetworkError/Kind/invalidConfiguration``. At most 64 such flights run at a time; a further one fails as
    /// ``NetworkError/Kind/overloaded``. The priority is ``CallPriority/low`` unless the options name another; a call
    /// that shares the request raises it to its own. If the layer has interceptors for the endpoint, the prefetch
    /// starts after this method returned.
    ///
    /// ```swift
    /// for row in visibleRows { network.prefetch(RentalDetails(id: row.id)) }
    /// ```
    ///
    /// - Returns: The number of the call, by which ``cancelPrefetch(_:)`` cancels it.
    @discardableResult
    public func prefetch<E: Endpoint>(_ endpoint: E, options: CallOptions = .standard) -> FlightID {
        let flight = makeFlight(E.self, options.forBackgroundFlight)
        flight.note(CacheDecision.prefetching)
        flight.forgoProvisional()
        do throws(NetworkError) {
            guard flight.cachePolicy.rule != .none else {
                throw NetworkError(
                    .invalidConfiguration, in: .reading,
                    "\(E.name) stores no responses: there is nothing to prefetch.")
            }
            let hooks = CallHooks(interceptors, of: flight)
            // With hooks it is prepared between them, later. Until then it is identified by its own completed parameters.
            let known = hooks == nil ? try prepared(endpoint) : completed(endpoint)
            var draft = try draft(known, in: flight)
            if hooks == nil, let cached = try acceptedImmediately(&draft, for: known, in: flight),
                !cached.isProvisional
            {
                flight.finish(.succeeded)
                return flight.id
            }
            let request = try draft.request(in: flight)
            guard let key = CacheKey(request, in: flight) else {
                throw NetworkError(
                    .invalidConfiguration, in: .reading,
                    "Responses to \(E.method) requests of this kind are not stored.")
            }
            let start = cache.background.start(key, flight: flight.id) { [self] in
                if let hooks { return await prefetch(endpoint, hooks, in: flight) }
                await fetch(request, for: known, in: flight)
            }
            switch start {
            case .started: break
            case .running(let running): flight.finish(.ignored(running: running))
            case .refused:
                throw NetworkError(.overloaded, in: .reading, "Too many responses are being prefetched.")
            }
        } catch {
            _ = flight.finish(failing: error)
        }
        return flight.id
    }

    /// Returns the endpoint with its parameters completed; unchanged if that fails, for which its flight fails later.
    private func completed<E: Endpoint>(_ endpoint: E) -> E {
        var completed = endpoint
        do { try completed.complete() } catch { return endpoint }
        return completed
    }

    /// Cancels the flights that no caller waits for: prefetches, and revalidations of stale responses.
    ///
    /// Such a flight retains the layer until it has ended, at its deadline at the latest. Call this before releasing a
    /// layer that has to be deallocated at once. The record of each says that it was cancelled.
    public func endBackgroundFlights() { cache.background.cancel { _ in true } }

    /// Cancels a prefetch whose response is no longer needed. Its record says ``FlightOutcome/cancelled``.
    ///
    /// A call that shares the request of the prefetch continues, and the request with it. Nothing happens if the
    /// prefetch has ended, or if its record says that another prefetch was fetching the same response: the other one is
    /// cancelled by its own number.
    public func cancelPrefetch(_ flight: FlightID) { cache.background.cancel(flight) }

    /// Removes the stored response of one call. The call is identified as it would be made now: in the service's
    /// present environment, for its present account.
    ///
    /// Under ``CachePolicy/http(onDisk:)``, all responses of the target are removed. Responses to calls that started
    /// before are never stored, and later calls share no request that was sent before.
    ///
    /// - Throws: ``NetworkError/Kind/invalidParameters`` or ``NetworkError/Kind/invalidConfiguration`` if no request
    ///   can be made for the endpoint.
    public func clearCache<E: Endpoint>(of endpoint: E) throws(NetworkError) {
        let (key, target) = try context.cacheKey(
            of: prepared(endpoint), with: services.configuration(of: E.Service.self), retainedLayer: self)
        cache.remove(key, of: target)
    }
}

extension NetworkLayer {
    /// Revalidates, in a flight that no caller waits for, the stale response of a call.
    func revalidate<E: Endpoint>(_ endpoint: E, _ key: CacheKey, after stale: Flight) {
        var options = stale.options.forBackgroundFlight
        options.cacheUse = .refresh
        stale.startRevalidation(of: key) {
            makeFlight(E.self, options)
        } work: { [self] flight in
            do throws(NetworkError) {
                // Assembled again: the settings of the service may have changed since the stale call.
                var draft = try draft(endpoint, in: flight)
                let request = try draft.request(in: flight)
                await fetch(request, for: endpoint, in: flight)
            } catch {
                _ = flight.finish(failing: error)
            }
        }
    }

    /// Revalidates, in a flight that no caller waits for, the stale response of an exchange.
    func revalidate<Service: APIService>(_ request: Request, with service: Service.Type, after stale: Flight) {
        guard let key = CacheKey(request, in: stale) else { return }
        var options = stale.options.forBackgroundFlight
        options.cacheUse = .refresh
        stale.startRevalidation(of: key) {
            makeExchange(with: service, options)
        } work: { [self] flight in
            _ = try? await exchange(request, with: service, in: flight)
        }
    }

    /// Makes a prefetch with the hooks of interceptors around it, to its end.
    private func prefetch<E: Endpoint>(_ endpoint: E, _ hooks: CallHooks, in flight: Flight) async {
        do throws(NetworkError) {
            _ = try await hooks.around(endpoint, hasLanding: false, rawData: { $0 }) {
                (endpoint) async throws(NetworkError) in
                var draft = try draft(endpoint, in: flight)
                let accepted = try await accept(draft.request(in: flight), for: endpoint, in: flight)
                flight.storeProposal()
                return accepted.rawData
            }
            flight.finish(.succeeded)
        } catch {
            _ = flight.finish(failing: error)
        }
    }

    /// Carries a flight of the layer's own to its end, at its deadline at the latest.
    private func fetch<E: Endpoint>(_ request: Request, for endpoint: E, in flight: Flight) async {
        do throws(NetworkError) {
            _ = try await accept(request, for: endpoint, in: flight)
            flight.storeProposal()
            flight.finish(.succeeded)
        } catch {
            _ = flight.finish(failing: error)
        }
    }
}

extension NetworkLayer {
    /// The reads in flight that calls can share.
    var reads: SharedWork<ReadKey, ReadOutcome> { cache.reads }
}

extension NetworkLayer {
    /// Counts how the calls of this layer have used stored responses since the layer was made, or since
    /// ``resetCacheReport()``.
    public var cacheReport: CacheReport { cache.usage.report }

    /// Begins a new ``cacheReport``, for example after a change of a lifetime. The stored responses stay as they are.
    public func resetCacheReport() { cache.usage.reset() }
}

extension FlightContext {
    /// Returns the key of the response to a checked call, and its target.
    ///
    /// - Throws: ``NetworkError/Kind/invalidParameters`` or ``NetworkError/Kind/invalidConfiguration`` if no request
    ///   can be made for the endpoint.
    func cacheKey<E: Endpoint>(
        of endpoint: E, with configuration: ServiceConfiguration, retainedLayer: any AnyObject & Sendable
    ) throws(NetworkError) -> (key: CacheKey?, target: HTTPCacheURI) {
        // A call may have a policy of its own, but a response that is stored by a time to live has the same key under
        // every such policy.
        let flight = Flight(
            id: makeID(), endpoint: E.self, configuration: configuration, options: CallOptions(cache: .untilEvicted()),
            lifetime: .zero, context: self, retainedLayer: retainedLayer)
        let content = try CallContent(of: endpoint, in: flight)
        flight.setKey(CacheKey(content, of: E.self, in: flight))
        var draft = RequestDraft(content, of: endpoint)
        let request = try draft.request(in: flight)
        return (CacheKey(request, in: flight), HTTPCacheURI(request.head))
    }
}
