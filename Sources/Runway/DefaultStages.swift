// The first file to read: the stages that every request passes, from the caller down to the wire.

extension RequestPipeline {
    /// Creates the stage of a place from the parts of a layer that it needs.
    typealias MakeStage = @Sendable (LayerParts) -> any RequestStage

    /// The places of the pipeline from the caller down, and the stage at each.
    ///
    /// A place without a stage passes every request on; an app's own stage can stand there.
    static let defaultStages: [(place: FlightStep, make: MakeStage?)] = [
        // Outermost: bounds the whole call, whatever the stages below do with the time.
        (.deadline, { _ in DeadlineStage() }),
        // First below the deadline: a cached response needs neither a network nor a slot. Above all that sends: calls that
        // share a request share its attempts, too.
        (.reading, { ReadingStage($0.cache, $0.admission) }),
        // Above all stages that send and authenticate: the stored requests have no token and no signature.
        (.offlineQueue, { QueueingStage($0.offlineQueue, $0.changeReports) }),
        // Below the cache, whose responses it must not delay.
        (.admission, { AdmissionStage($0.admission, $0.connectivity) }),
        // Above address and signature: each attempt has a new route and nonce.
        (.retrying, { RetryingStage($0.retries, $0.admission) }),
        // Below retrying: another attempt uses the newest token.
        (.authorizing, { AuthorizingStage($0.tokens, $0.admission) }),
        // A request that failed in an envelope is sent again by itself.
        (.merging, { MergingStage($0.merger) }),
        // Every hop is routed and signed anew.
        (.redirecting, { _ in RedirectingStage() }),
        // Below redirecting: no hop may leave TLS either.
        (.securing, { SecuringStage($0.strictTransport) }),
        // Every hop has cookies of its own.
        (.cookies, { CookieStage($0.cookieJars) }),
        // Above signing, which covers the bytes that are sent.
        (.compressing, { _ in CompressingStage() }),
        // Each of its two attempts has a route and a nonce of its own.
        (.hedging, { HedgingStage($0.hedges, $0.deadlines, $0.admission, $0.connectivity) }),
        (.routing, nil),
        // Last on the way out, because it covers the whole request as it is sent.
        (.signing, nil),
        // First on the way back: a response with status 200 may contain "token expired".
        (.judging, { _ in JudgingStage() }),
    ]
}
