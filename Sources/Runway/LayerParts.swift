/// The parts of a layer that its calls share, of which each stage is given what it needs.
struct LayerParts: Sendable {
    let deadlines: DeadlineTimer
    let cache: ResponseCache
    let admission: AdmissionControl
    let connectivity: NetworkStatusMonitor
    let retries: RetryControl
    let hedges: HedgeControl
    /// The access tokens of the services.
    let tokens: TokenKeeper
    let merger: Merger
    /// The hosts that want TLS.
    let strictTransport: StrictTransport
    let cookieJars: CookieJars
}
