// The first file to read: what every request passes, from the caller down to the wire.

extension RequestPipeline {
    /// The places of the pipeline, from the caller down, and the stage that stands at each.
    ///
    /// A place without a stage passes everything; it is the seam at which a stage of the app's own may stand.
    static let defaultStages: [(place: StagePlace, stage: (any RequestStage)?)] = [
        (.deadline, DeadlineStage()),  // the whole call, whatever the stages below do with the time
        (.reading, ReadingStage()),  // first of all: a response in memory needs neither network nor permission
        (.offlineQueue, nil),
        (.admission, AdmissionStage()),  // below memory, which it must not stand in the way of
        (.retrying, RetryingStage()),  // above address and signature: each attempt has a fresh route and nonce
        (.authorizing, AuthorizingStage()),  // below retrying: another attempt takes the token that is newest then
        (.merging, MergingStage()),  // what failed in an envelope is tried again by itself
        (.redirecting, RedirectingStage()),  // every hop is routed and signed anew
        (.securing, SecuringStage()),  // below redirecting: no hop leaves TLS either
        (.cookies, CookieStage()),  // every hop has its own
        (.compressing, CompressingStage()),  // above signing, which covers what is really sent
        (.hedging, HedgingStage()),  // each of its two attempts has a route and a nonce of its own
        (.routing, nil),
        (.signing, nil),  // the last thing done on the way out, because it covers what is really sent
        (.judging, JudgingStage()),  // the first on the way back: status 200 may say "token expired" inside
    ]
}
