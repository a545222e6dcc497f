extension NetworkLayer {
    /// Fetches a response ahead, so that a later call finds it. Nothing lands, and nobody is notified of a failure; the record has it.
    ///
    /// What is fresh already is not fetched, nor what another prefetch, or a revalidation, is fetching. An endpoint whose policy keeps
    /// nothing has nothing to prefetch: the record says ``NetworkError/Kind/invalidConfiguration``. At most 64 such flights are in the
    /// air; one more fails as ``NetworkError/Kind/overloaded``. Its priority is ``CallPriority/low`` unless the options say otherwise; a
    /// call that shares its request gives it its own. Interceptors, which belong to managers, do not see it.
    ///
    /// ```swift
    /// for row in visibleRows { network.prefetch(RentalDetails(id: row.id)) }
    /// ```
    ///
    /// - Returns: The number of the call, by which ``cancelPrefetch(_:)`` cancels it.
    @discardableResult
    public func prefetch<E: Endpoint>(_ endpoint: E, options: CallOptions = .standard) -> FlightID {
        let flight = makeFlight(E.self, options.ofTheLayer)
        flight.note(CacheDecision.prefetching)
        flight.forgoProvisional()
        do throws(NetworkError) {
            guard flight.cachePolicy.rule != .none else {
                throw NetworkError(
                    .invalidConfiguration, in: .stage(.reading),
                    "\(E.name) keeps no answers: there is nothing to prefetch.")
            }
            let endpoint = try prepared(endpoint)
            var draft = try draft(endpoint, in: flight)
            if let kept = try acceptedImmediately(&draft, for: endpoint, in: flight), !kept.isProvisional {
                flight.finish(.succeeded)
                return flight.id
            }
            let request = try draft.request(in: flight)
            guard let key = CacheKey(request, in: flight) else {
                throw NetworkError(
                    .invalidConfiguration, in: .stage(.reading),
                    "Answers to \(E.method) requests of this kind are not kept.")
            }
            let start = cache.background.start(key, flight: flight.id) { [self] in
                await fetch(request, for: endpoint, in: flight)
            }
            switch start {
            case .started: break
            case .running(let running): flight.finish(.ignored(running: running))
            case .refused:
                throw NetworkError(.overloaded, in: .stage(.reading), "Too many answers are being fetched ahead.")
            }
        } catch {
            _ = flight.finish(failing: error)
        }
        return flight.id
    }

    /// Cancels the flights that no caller waits for: prefetches, and revalidations of stale responses.
    ///
    /// Such a flight holds the layer until it has ended, at its deadline at the latest. Call this before letting a layer go that is to be
    /// gone at once. The record of each says that it was cancelled.
    public func endBackgroundFlights() { cache.background.cancel { _ in true } }

    /// Cancels a prefetch whose response nobody needs any more. Its record says ``FlightOutcome/cancelled``.
    ///
    /// A call that shares its request goes on, and the request with it. Nothing happens where the prefetch is over, or where its record
    /// says that another one was fetching the same already: that one is cancelled by its own number.
    public func cancelPrefetch(_ flight: FlightID) { cache.background.cancel(flight) }

    /// Removes the stored response of one call, as it would be made now: in the service's present environment, for its present account.
    ///
    /// Of what is kept by ``CachePolicy/Rule/http``, the whole target is let go. No answer of a call that took off before is kept after it,
    /// and a call after it shares no request of before it.
    ///
    /// - Throws: ``NetworkError/Kind/invalidParameters`` or ``NetworkError/Kind/invalidConfiguration`` where no request can be made of it.
    public func clearCache<E: Endpoint>(of endpoint: E) throws(NetworkError) {
        // A call may have a policy of its own: what is stored by a time to live is found by the same key, whichever it was.
        let flight = makeFlight(E.self, CallOptions(cache: .untilEvicted()))
        var draft = try draft(prepared(endpoint), in: flight)
        let request = try draft.request(in: flight)
        cache.clear(CacheKey(request, in: flight), of: HTTPCacheURI(request.head))
    }
}

extension NetworkLayer {
    /// Revalidates, in a flight that no caller waits for, the stale response of a call.
    func revalidate<E: Endpoint>(_ endpoint: E, _ key: CacheKey, after stale: Flight) {
        if cache.background.isFlying(key) { return stale.note(CacheDecision.revalidationSkipped) }
        var options = stale.options.ofTheLayer
        options.cacheUse = .refresh
        let flight = makeFlight(E.self, options)
        flight.setRevalidated(stale.cachedResponse)
        // The stale response belongs to another account if somebody signed in or out since then.
        guard flight.session == stale.session else { return }
        flight.note(CacheDecision.revalidatingFor(stale.id))
        let start = cache.background.start(key, flight: flight.id) { [self] in
            do throws(NetworkError) {
                // Assembled again: environment or account may differ from those of the stale response.
                var draft = try draft(endpoint, in: flight)
                let request = try draft.request(in: flight)
                await fetch(request, for: endpoint, in: flight)
            } catch {
                _ = flight.finish(failing: error)
            }
        }
        if start == .started { return }
        stale.note(CacheDecision.revalidationSkipped)
        flight.finish(.cancelled)
    }

    /// Revalidates, in a flight that no caller waits for, the stale response of an exchange.
    func revalidate<Service: APIService>(_ request: Request, with service: Service.Type, after stale: Flight) {
        guard let key = CacheKey(request, in: stale) else { return }
        var options = stale.options.ofTheLayer
        options.cacheUse = .refresh
        let flight = makeExchange(with: service, options)
        flight.setRevalidated(stale.cachedResponse)
        guard flight.session == stale.session else { return }
        let start = cache.background.start(key, flight: flight.id) { [self] in
            _ = try? await exchange(request, with: service, in: flight)
        }
        if start != .started { stale.note(CacheDecision.revalidationSkipped) }
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
