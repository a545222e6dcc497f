import Synchronization

/// What caching has to do with one call.
struct FlightCaching {
    /// What the cache's counter stood at when the call took off.
    let mark: UInt64
    /// What the call's answer is kept under, where that was known before its request was made.
    var key: CacheKey?
    /// The kept answer that the call was given.
    var given: KeptAnswer?
    /// The target whose answer, kept by the rules of HTTP, the call was given.
    var givenTarget: HTTPCacheURI?
    /// The answer that is kept once everybody has accepted it.
    var proposal: (answer: KeptAnswer, tiers: CacheTiers)?
    /// Whether what is proposed is what was given, of which the server said that it is still good.
    var isProposalRenewed = false
    /// Whether somebody refused what the call was given.
    var isGivenRefused = false
    /// What the call lands with where no fresh answer can be had.
    var fallback: Fallback?
    /// The state of the cookie jar when the call first asked for it.
    var cookieVersion: UInt64?
    /// Whether no stale answer may land before the fresh one, since one has, or nobody would see it.
    var forgoesProvisional = false
    /// Lands a stale answer while the call flies on; `nil` where the call has one landing only.
    var landProvisionally: (@Sendable (Response, Flight) -> Void)?

    /// A stale answer, and how long it may stand in for a fresh one.
    struct Fallback {
        var answer: KeptAnswer
        /// When it became stale, on the layer's clock.
        var staleSince: Duration
        var policy: CachePolicy
    }
}

extension Flight {
    /// What the cache's counter stood at when the call took off.
    var mark: UInt64 { caching.withLock { $0.mark } }

    /// What the call's answer is kept under, where that was known before its request was made.
    var key: CacheKey? { caching.withLock { $0.key } }

    func setKey(_ key: CacheKey?) { caching.withLock { $0.key = key } }

    /// The kept answer that the call is given, for when somebody refuses it.
    func setGiven(_ answer: KeptAnswer) { caching.withLock { $0.given = answer } }

    /// The kept answer that the call was given.
    var givenAnswer: KeptAnswer? { caching.withLock { $0.given } }

    /// Likewise, of one that is kept by the rules of HTTP.
    func setGiven(_ target: HTTPCacheURI) { caching.withLock { $0.givenTarget = target } }

    /// Lets go of the kept answer that the call was given, where that is the one that somebody refused. Gives whether it is.
    func letGoOfGiven(_ source: AnswerSource) -> Bool {
        if source == .network { return false }
        let (given, target) = caching.withLock { caching in
            defer { (caching.given, caching.givenTarget) = (nil, nil) }
            caching.isGivenRefused = true
            if caching.isProposalRenewed { caching.proposal = nil }
            return (caching.given, caching.givenTarget)
        }
        if given == nil, target == nil { return false }
        note(CacheDecision.refused)
        if let given { layer.cache.remove(given) }
        if let target { layer.cache.http.invalidate(target) }
        return true
    }

    /// What landed stale and is fetched anew by this call, unless somebody refused it meanwhile.
    func renewedAnswer(of key: CacheKey) -> KeptAnswer? {
        guard let answer = options.renewing, answer.key == key else { return nil }
        return caching.withLock { $0.isGivenRefused } ? nil : answer
    }

    /// Proposes an answer of the network to be kept, once the endpoint and the manager's validator have accepted it.
    ///
    /// - Parameter isRenewed: Whether it is what the call was given, of which the server said that it is still good.
    func propose(_ answer: KeptAnswer, in tiers: CacheTiers, isRenewed: Bool = false) {
        caching.withLock { caching in
            caching.proposal = (answer, tiers)
            caching.isProposalRenewed = isRenewed
        }
    }

    /// Keeps the answer that was proposed: everybody who was to see it has accepted it.
    func keepProposal() {
        let (mark, proposal) = caching.withLock { caching in
            defer { caching.proposal = nil }
            return (caching.mark, caching.proposal)
        }
        guard let proposal else { return }
        switch layer.cache.keep(proposal.answer, from: mark, in: proposal.tiers) {
        case .kept: note(CacheDecision.kept(byteCount: proposal.answer.byteCount))
        case .outdated: note(CacheDecision.outdated)
        case .tooLarge: note(CacheDecision.tooLarge(byteCount: proposal.answer.byteCount))
        }
    }

    func setFallback(_ fallback: FlightCaching.Fallback) { caching.withLock { $0.fallback = fallback } }

    /// The stale answer that the call may land with instead of failing, if there is one.
    func fallbackAnswer() -> Response? {
        guard !isCalledOff, let fallback = caching.withLock({ $0.fallback }) else { return nil }
        let excess = clock.now - fallback.staleSince
        guard fallback.policy.allowsOnError(staleBy: excess) else { return nil }
        note(CacheDecision.insteadOfFailing(staleBy: excess))
        return fallback.answer.response(from: .staleCache)
    }

    /// Whether a stale answer may land before the fresh one.
    var mayLandProvisionally: Bool { caching.withLock { !$0.forgoesProvisional } }

    /// No stale answer lands before the fresh one from now on.
    func forgoProvisional() { caching.withLock { $0.forgoesProvisional = true } }

    /// Says how a stale answer that is found off the caller's turn lands while the call flies on.
    func setProvisionalLanding(_ land: @escaping @Sendable (Response, Flight) -> Void) {
        caching.withLock { $0.landProvisionally = land }
    }

    /// Lands a stale answer before the fresh one, once. Gives `false` where the call has one landing only.
    func landProvisionally(_ response: Response) -> Bool {
        let land = caching.withLock { caching in
            if caching.landProvisionally != nil { caching.forgoesProvisional = true }
            return caching.landProvisionally
        }
        land?(response, self)
        return land != nil
    }
}
