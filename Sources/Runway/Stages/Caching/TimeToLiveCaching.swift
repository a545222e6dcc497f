import HTTPTypes

import struct Foundation.Date

/// Caching by the client's own time, ``CachePolicy/Rule/timeToLive``, or by room alone, ``CachePolicy/Rule/untilEvicted``.
struct TimeToLiveCaching {
    let policy: CachePolicy

    /// - Parameter key: What the answer is kept under; `nil` where it is not.
    func answerImmediately(_ key: CacheKey?, in flight: Flight) throws(NetworkError) -> ImmediateAnswer {
        let use = flight.options.cacheUse
        let looksBelow =
            policy.tiers.contains(.disk) && flight.layer.cache.tier != nil && key?.outlivesLaunch ?? true
        guard use != .refresh, let key else {
            if use == .onlyIfCached { throw .notCached }
            return .pass
        }
        guard policy.tiers.contains(.memory), let kept = flight.layer.cache.find(key) else {
            if looksBelow { return .wait }
            if use == .onlyIfCached { throw .notCached }
            return .pass
        }
        let now = flight.clock.now
        switch policy.freshness(of: kept, at: now) {
        case .fresh(let age):
            flight.note(CacheDecision.hit(age: age), at: now)
            return .answer(kept.given(to: flight, as: .cache))
        case .stale where looksBelow:
            return .wait
        case .stale(let excess) where use == .onlyIfCached:
            flight.note(CacheDecision.staleByWish(by: excess))
            return .answer(kept.given(to: flight, as: .staleCache))
        case .stale(let excess):
            guard policy.allowsWhileRevalidating(staleBy: excess), flight.mayLandProvisionally else { return .pass }
            flight.note(CacheDecision.revalidating(staleBy: excess))
            flight.forgoProvisional()
            return .provisional(kept.given(to: flight, as: .staleCache))
        }
    }

    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        let use = flight.options.cacheUse
        guard let key = CacheKey(request, in: flight) else {
            if use == .onlyIfCached { throw .notCached }
            return try request.accepting(await next.send(request, in: flight))
        }
        if use == .refresh {
            flight.note(CacheDecision.refreshing)
            let renewed = flight.renewedAnswer(of: key)
            return try await fetch(request, key, validating: renewed?.validation(of: request), in: flight, next)
        }
        guard let (kept, freshness, isBelow) = await look(for: key, in: flight) else {
            if use == .onlyIfCached { throw .notCached }
            flight.note(CacheDecision.miss)
            return try await fetch(request, key, validating: nil, in: flight, next)
        }
        switch freshness {
        case .fresh(let age):
            flight.note(isBelow ? CacheDecision.hitBelow(age: age) : .hit(age: age))
            return kept.given(to: flight, as: .cache)
        case .stale(let excess) where use == .onlyIfCached:
            flight.note(CacheDecision.staleByWish(by: excess))
            return kept.given(to: flight, as: .staleCache)
        case .stale(let excess):
            flight.setFallback(
                FlightCaching.Fallback(answer: kept, staleSince: flight.clock.now - excess, policy: policy))
            if policy.allowsWhileRevalidating(staleBy: excess), flight.mayLandProvisionally {
                flight.note(CacheDecision.revalidating(staleBy: excess))
                var provisional = kept.given(to: flight, as: .staleCache)
                provisional.isProvisional = true
                if !flight.landProvisionally(provisional) { return provisional }
                return try await fetch(request, key, validating: kept.validation(of: request), in: flight, next)
            }
            let validation = kept.validation(of: request)
            if flight.mayLandProvisionally {
                flight.note(validation == nil ? CacheDecision.expired(by: excess) : .validating(staleBy: excess))
            }
            return try await fetch(request, key, validating: validation, in: flight, next)
        }
    }

    /// The fresh answer in memory, for a call that looked before and found none.
    func answerKept(_ key: CacheKey, in flight: Flight) -> Response? {
        guard policy.tiers.contains(.memory), let kept = flight.layer.cache.find(key),
            case .fresh(let age) = policy.freshness(of: kept, at: flight.clock.now)
        else { return nil }
        flight.note(CacheDecision.hit(age: age))
        return kept.given(to: flight, as: .cache)
    }

    /// Sends the request, with the validators of what is kept. Where it fails in a way that a stale answer may stand in for, the one that
    /// was found does.
    func fetch(
        _ request: Request, _ key: CacheKey, validating validation: KeptAnswer.Validation?, in flight: Flight,
        _ next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        // For an answer that no transport gave, such as one out of a merged answer.
        let order = flight.layer.cache.drawOrder()
        do {
            var sent = validation?.request ?? request
            // Where a stage stands in between, what is kept has passed it already.
            if next.links.first?.stage is CoalescingStage { sent.keptUnder = key }
            let response = try sent.accepting(await next.send(sent, in: flight))
            if let error = response.refusal {
                return error.allowsStaleAnswer ? flight.fallbackAnswer() ?? response : response
            }
            if response.head.status == .notModified, let kept = validation?.kept {
                if response.hops.isEmpty, flight.isSender(of: response), kept.isMeant(by: response.head.headerFields) {
                    return renew(kept, by: response, order: response.order ?? order, in: flight)
                }
                flight.note(CacheDecision.unknownNotModified)
                return try await fetch(request, key, validating: nil, in: flight, next)
            }
            propose(response, key, order: response.order ?? order, in: flight)
            return response
        } catch {
            guard error.allowsStaleAnswer, let fallback = flight.fallbackAnswer() else { throw error }
            return fallback
        }
    }

    /// Gives what is kept, of which the server said that it is still good, and proposes it to be kept as if it had come anew.
    private func renew(_ kept: KeptAnswer, by response: Response, order: UInt64, in flight: Flight) -> Response {
        flight.note(CacheDecision.notModified)
        let renewed = kept.renewed(by: response.head, order: order, at: flight.clock.now, date: flight.clock.date)
        if !policy.tiers.isEmpty { flight.propose(renewed, in: policy.tiers, isRenewed: true) }
        var answer = kept.given(to: flight, as: .cache)
        answer.head = renewed.rawData.response
        answer.body = .whole(renewed.rawData)
        return answer
    }

    private func propose(_ response: Response, _ key: CacheKey, order: UInt64, in flight: Flight) {
        // A 304 answers a condition that the endpoint itself set; it is no answer to anybody else.
        guard case .whole(let rawData) = response.body, response.source == .network,
            response.head.status != .notModified, !policy.tiers.isEmpty, flight.isSender(of: response)
        else { return }
        let now = flight.clock.now
        let answer = KeptAnswer(
            rawData.with(response: response.head), for: key, order: order, fetched: now, entered: now,
            date: flight.clock.date, isRedirected: !response.hops.isEmpty)
        flight.propose(answer, in: policy.tiers)
    }
}

extension TimeToLiveCaching {
    /// What memory or the tier below it has, the freshest of them; `nil` where nothing is kept.
    private func look(
        for key: CacheKey, in flight: Flight
    ) async -> (kept: KeptAnswer, freshness: Freshness, isBelow: Bool)? {
        let cache = flight.layer.cache
        var found: (kept: KeptAnswer, freshness: Freshness, isBelow: Bool)?
        if policy.tiers.contains(.memory), let kept = cache.find(key) {
            found = (kept, policy.freshness(of: kept, at: flight.clock.now), false)
            if case .fresh = found?.freshness { return found }
        }
        guard policy.tiers.contains(.disk) else { return found }
        switch await cache.findBelow(key, in: flight) {
        case .nothing: return found
        case .failed(let detail): flight.note(CacheDecision.tierFailed(detail))
        case .late: flight.note(CacheDecision.tierLate)
        case .waiting(let kept):
            return (kept, policy.freshness(onDisk: max(flight.clock.now - kept.fetched, .zero)), true)
        case .stored(let stored):
            let age = stored.date.age(at: flight.clock.date)
            let freshness = policy.freshness(onDisk: age)
            let kept = bringUp(stored, age: age ?? .zero, key, isFresh: freshness.isFresh, in: flight)
            // By their dates, which are the same for one answer in both; its age here comes out of a difference of dates.
            if let found, !freshness.isFresh, found.kept.date >= stored.date { return found }
            return (kept, freshness, true)
        }
        return found
    }

    /// Makes an answer from disk one of memory, and puts it there where it is fresh and the policy says so.
    private func bringUp(
        _ stored: StoredAnswer, age: Duration, _ key: CacheKey, isFresh: Bool, in flight: Flight
    ) -> KeptAnswer {
        let now = flight.clock.now
        let kept = KeptAnswer(
            RawData(stored.bytes, response: stored.head), for: key, order: 0, fetched: now - age, entered: now,
            date: stored.date)
        if isFresh, policy.tiers.contains(.memory) {
            flight.layer.cache.bringUp(kept, from: flight.mark)
        }
        return kept
    }
}

extension Freshness {
    fileprivate var isFresh: Bool { if case .fresh = self { true } else { false } }
}

extension KeptAnswer {
    /// The answer as a call is given it, which lets go of it should somebody refuse it.
    fileprivate func given(to flight: Flight, as source: AnswerSource) -> Response {
        flight.setGiven(self)
        return response(from: source)
    }
}
