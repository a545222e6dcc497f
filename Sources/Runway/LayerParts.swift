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
