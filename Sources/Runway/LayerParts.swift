/// The parts of a layer that its calls share. Each stage receives the ones that it needs.
struct LayerParts: Sendable {
    let deadlines: DeadlineTimer
    let cache: ResponseCache
    let admission: AdmissionControl
    let connectivity: NetworkStatusMonitor
    let retries: RetryControl
    let hedges: HedgeControl
    /// The access tokens of the services.
    let tokens: AccessTokens
    let merger: Merger
    /// The hosts that require TLS (RFC 6797).
    let strictTransport: StrictTransport
    let cookieJars: CookieJars
    /// Stores the calls that can't be sent now; `nil` if the layer has no offline queue.
    let offlineQueue: (any ChangeQueue)?
    let changeReports: ChangeReports
}
