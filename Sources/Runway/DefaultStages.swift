// Read this file first: it lists the stages that every request passes, from the caller to the transport.

extension RequestPipeline {
    /// Creates the stage of one place. It receives the parts of the layer.
    typealias MakeStage = @Sendable (LayerParts) -> any RequestStage

    /// The places of the pipeline, from the caller to the transport, with the stage at each place.
    ///
    /// A place without a stage passes every request on. An app can add a stage there.
    static let defaultStages: [(place: FlightStep, make: MakeStage?)] = [
        // The outermost stage bounds the whole call, including the time that every stage below takes.
        (.deadline, { _ in DeadlineStage() }),
        // A cached response needs neither a network nor a slot, so this stage comes before admission. Calls that share
        // a request also share its attempts, so it comes before retrying.
        (.reading, { ReadingStage($0.cache, $0.admission) }),
        // Before authorizing and signing, because stored requests must contain no token and no signature.
        (.offlineQueue, { QueueingStage($0.offlineQueue, $0.changeReports) }),
        // After the cache, because waiting for admission must not delay cached responses.
        (.admission, { AdmissionStage($0.admission, $0.connectivity) }),
        // Before routing and signing, because each attempt needs a new route and nonce.
        (.retrying, { RetryingStage($0.retries, $0.admission) }),
        // After retrying, so that a further attempt uses the newest token.
        (.authorizing, { AuthorizingStage($0.tokens, $0.admission) }),
        // After retrying, so that a request that failed inside a merged request is retried separately.
        (.merging, { MergingStage($0.merger) }),
        // Before routing and signing, because every hop is routed and signed separately.
        (.redirecting, { _ in RedirectingStage() }),
        // After redirecting, because no hop may leave TLS.
        (.securing, { SecuringStage($0.strictTransport) }),
        // After redirecting, because every hop has its own cookies.
        (.cookies, { CookieStage($0.cookieJars) }),
        // Before signing, because the signature covers the compressed bytes.
        (.compressing, { _ in CompressingStage() }),
        // Before routing and signing, because each of the two attempts has its own route and nonce.
        (.hedging, { HedgingStage($0.hedges, $0.deadlines, $0.admission, $0.connectivity) }),
        (.routing, nil),
        // Last before the transport's own stages, because the signature covers the whole request as sent.
        (.signing, nil),
        // First to see the response, because a response with status 200 may contain an error such as "token expired".
        (.judging, { _ in JudgingStage() }),
    ]
}
