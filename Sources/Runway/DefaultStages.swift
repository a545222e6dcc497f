// Read this file first: it lists the stages that every request passes, from the caller to the transport.

extension RequestPipeline {
    /// A function that creates the stage at one place of the pipeline, from the parts that the calls of a layer share.
    typealias MakeStage = @Sendable (LayerParts) -> any RequestStage

    /// The places of the pipeline, from the caller to the transport, with the stage at each place.
    ///
    /// A place without a stage passes every request on. An app can add a stage there.
    static let defaultStages: [(place: FlightStep, make: MakeStage?)] = [
        // The outermost stage limits the duration of the whole call, including the time that every stage below takes.
        (.deadline, { _ in DeadlineStage() }),
        // A cached response needs neither a network nor a concurrency slot, so this stage comes before admission. Calls
        // that share a request also share its attempts, so this stage comes before retrying.
        (.reading, { ReadingStage($0.cache, $0.admission) }),
        // Comes before authorizing and signing, because stored requests must contain no token and no signature.
        (.offlineQueue, { QueueingStage($0.offlineQueue, $0.changeReports) }),
        // Comes after the cache, because waiting for admission must not delay cached responses.
        (.admission, { AdmissionStage($0.admission, $0.connectivity) }),
        // Comes before routing and signing, because each attempt needs a new route and nonce.
        (.retrying, { RetryingStage($0.retries, $0.admission) }),
        // Comes after retrying, so that a further attempt uses the newest token.
        (.authorizing, { AuthorizingStage($0.tokens, $0.admission) }),
        // Comes after retrying, so that a request that failed inside a merged request is retried separately.
        (.merging, { MergingStage($0.merger) }),
        // Comes before routing and signing, because every hop is routed and signed separately.
        (.redirecting, { _ in RedirectingStage() }),
        // Comes after redirecting, because this stage must check every hop: no hop may leave TLS.
        (.securing, { SecuringStage($0.strictTransport) }),
        // Comes after redirecting, because every hop has its own cookies.
        (.cookies, { CookieStage($0.cookieJars) }),
        // Comes before signing, because the signature covers the compressed bytes.
        (.compressing, { _ in CompressingStage() }),
        // Comes before routing and signing, because a hedged request is sent twice, and each of the two attempts has
        // its own route and nonce.
        (.hedging, { HedgingStage($0.hedges, $0.deadlines, $0.admission, $0.connectivity) }),
        (.routing, nil),
        // Comes last before the transport's own stages, because the signature covers the whole request as sent.
        (.signing, nil),
        // Receives the response before all other stages, because a response with status 200 may contain an error such
        // as "token expired".
        (.judging, { _ in JudgingStage() }),
    ]
}

/// The parts of a layer that its calls share. Each stage receives the parts that it needs.
struct LayerParts: Sendable {
    let deadlines: DeadlineTimer
    let cache: ResponseCache
    let admission: AdmissionControl
    let connectivity: NetworkStatusMonitor
    let retries: RetryControl
    let hedges: HedgeControl
    let tokens: AccessTokens
    let merger: Merger
    let strictTransport: StrictTransport
    let cookieJars: CookieJars
    /// Stores calls that can't be sent now; `nil` if the layer has no offline queue.
    let offlineQueue: (any ChangeQueue)?
    let changeReports: ChangeReports
}
