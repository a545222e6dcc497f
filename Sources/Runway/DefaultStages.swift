// The first file to read: what every request passes, from the caller down to the wire.

extension RequestPipeline {
    /// Makes the stage of a place of the parts of a layer that it needs.
    typealias MakeStage = @Sendable (LayerParts) -> any RequestStage

    /// The places of the pipeline, from the caller down, and the stage that stands at each.
    ///
    /// A place without a stage passes everything; it is the seam at which a stage of the app's own may stand.
    static let defaultStages: [(place: StagePlace, make: MakeStage?)] = [
        // the whole call, whatever the stages below do with the time
        (.deadline, { _ in DeadlineStage() }),
        // first of all: a response in memory needs neither network nor permission; above all that sends: who shares a request shares its
        // attempts, too
        (.reading, { ReadingStage($0.cache, $0.admission) }),
        (.offlineQueue, nil),
        // below memory, which it must not stand in the way of
        (.admission, { AdmissionStage($0.admission, $0.connectivity) }),
        // above address and signature: each attempt has a fresh route and nonce
        (.retrying, { RetryingStage($0.retries, $0.admission) }),
        // below retrying: another attempt takes the token that is newest then
        (.authorizing, { AuthorizingStage($0.tokens, $0.admission) }),
        // a request that failed in an envelope is sent again by itself
        (.merging, { MergingStage($0.merger) }),
        // every hop is routed and signed anew
        (.redirecting, { _ in RedirectingStage() }),
        // below redirecting: no hop leaves TLS either
        (.securing, { SecuringStage($0.strictTransport) }),
        // every hop has its own
        (.cookies, { CookieStage($0.cookieJars) }),
        // above signing, which covers what is really sent
        (.compressing, { _ in CompressingStage() }),
        // each of its two attempts has a route and a nonce of its own
        (.hedging, { HedgingStage($0.hedges, $0.deadlines, $0.admission, $0.connectivity) }),
        (.routing, nil),
        // the last thing done on the way out, because it covers what is really sent
        (.signing, nil),
        // the first on the way back: status 200 may say "token expired" inside
        (.judging, { _ in JudgingStage() }),
    ]
}
