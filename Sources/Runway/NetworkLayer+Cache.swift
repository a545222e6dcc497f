extension NetworkLayer {
    /// Fetches a response in advance, so that a later call finds it in the cache. No response is delivered, and no
    /// manager is notified of a failure; only the record contains it.
    ///
    /// Nothing is fetched if the stored response is fresh, or if another prefetch or a revalidation is already fetching
    /// it. If the endpoint's policy stores nothing, the prefetch fails as ``NetworkError/Kind/invalidConfiguration``.
    /// At most 64 prefetches and revalidations are in flight at a time. A further prefetch fails as
    /// ``NetworkError/Kind/overloaded``.
    ///
    /// The priority is ``CallPriority/low`` unless the options set another. A call that shares the request raises the
    /// priority to its own. If the layer has interceptors for the endpoint, the prefetch starts after this method has
    /// returned.
    ///
    /// ```swift
    /// for row in visibleRows { network.prefetch(RentalDetails(id: row.id)) }
    /// ```
    ///
    /// - Returns: The number of the prefetch. Pass it to ``cancelPrefetch(_:)`` to cancel the prefetch.
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
            // Hooks may change the endpoint before it is prepared. Until then, the completed parameters of the endpoint
            // as passed identify the call.
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

    /// Returns the endpoint with completed parameters. If completing them fails, returns the endpoint unchanged; its
    /// call will fail for the same reason.
    private func completed<E: Endpoint>(_ endpoint: E) -> E {
        var completed = endpoint
        do { try completed.complete() } catch { return endpoint }
        return completed
    }

    /// Cancels the background calls, which no caller waits for: prefetches, and revalidations of stale responses.
    ///
    /// Such a call retains the layer until it ends, at the latest at its deadline. Call this function before you
    /// release a layer that must be deallocated at once. The calls' records show that they were cancelled.
    public func endBackgroundFlights() { cache.background.cancel { _ in true } }

    /// Cancels a prefetch whose response is no longer needed. Its record shows ``FlightOutcome/cancelled``.
    ///
    /// If a call shares the request of the prefetch, the call and the request continue. Nothing happens if the prefetch
    /// has ended. If its record says that another prefetch was already fetching the response, cancel that prefetch by
    /// its number instead.
    public func cancelPrefetch(_ flight: FlightID) { cache.background.cancel(flight) }

    /// Removes the stored response of one call. The call is identified as if it were made now, in the service's current
    /// environment and for its current account.
    ///
    /// Under ``CachePolicy/http(onDisk:)``, all responses of the target are removed. Responses to earlier calls are
    /// never stored afterwards, and later calls do not share earlier requests.
    ///
    /// - Throws: ``NetworkError/Kind/invalidParameters`` or ``NetworkError/Kind/invalidConfiguration`` if no request
    ///   can be created for the endpoint.
    public func clearCache<E: Endpoint>(of endpoint: E) throws(NetworkError) {
        let (key, target) = try context.cacheKey(
            of: prepared(endpoint), with: services.configuration(of: E.Service.self), retainedLayer: self)
        cache.remove(key, of: target)
    }
}

extension NetworkLayer {
    /// Revalidates the stale response of a call. No caller waits for the revalidation.
    func revalidate<E: Endpoint>(_ endpoint: E, _ key: CacheKey, after stale: Flight) {
        var options = stale.options.forBackgroundFlight
        options.cacheUse = .refresh
        stale.startRevalidation(of: key) {
            makeFlight(E.self, options)
        } work: { [self] flight in
            do throws(NetworkError) {
                // The request is created again, because the settings of the service may have changed since the stale
                // call.
                var draft = try draft(endpoint, in: flight)
                let request = try draft.request(in: flight)
                await fetch(request, for: endpoint, in: flight)
            } catch {
                _ = flight.finish(failing: error)
            }
        }
    }

    /// Revalidates the stale response to a request that the caller passed to ``exchange(_:with:options:)``. No caller
    /// waits for the revalidation.
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

    /// Performs a prefetch with the hooks of interceptors around it.
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

    /// Performs a call that no caller waits for, until it ends, at the latest at its deadline.
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
    /// The read requests in flight that calls can share.
    var reads: SharedWork<ReadKey, ReadOutcome> { cache.reads }
}

extension NetworkLayer {
    /// Counts how the calls of this layer used stored responses since the layer was created or since
    /// ``resetCacheReport()``.
    public var cacheReport: CacheReport { cache.usage.report }

    /// Begins a new ``cacheReport``, for example after a lifetime was changed. Stored responses do not change.
    public func resetCacheReport() { cache.usage.reset() }
}

extension FlightContext {
    /// Returns the cache key and the target of a checked call.
    ///
    /// - Throws: ``NetworkError/Kind/invalidParameters`` or ``NetworkError/Kind/invalidConfiguration`` if no request
    ///   can be created for the endpoint.
    func cacheKey<E: Endpoint>(
        of endpoint: E, with configuration: ServiceConfiguration, retainedLayer: any AnyObject & Sendable
    ) throws(NetworkError) -> (key: CacheKey?, target: HTTPCacheURI) {
        // This call's policy may differ from its endpoint's. All time-to-live policies share one key for a response.
        let flight = Flight(
            id: makeID(), endpoint: E.self, configuration: configuration, options: CallOptions(cache: .untilEvicted()),
            lifetime: .zero, context: self, retainedLayer: retainedLayer)
        let content = try CallContent(of: endpoint, in: flight)
        var draft = RequestDraft(content, key: CacheKey(content, of: E.self, in: flight))
        let request = try draft.request(in: flight)
        return (CacheKey(request, in: flight), HTTPCacheURI(request.head))
    }
}
