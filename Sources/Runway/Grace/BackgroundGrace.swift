/// Requests background time from the system, so that calls in flight can end after the app has gone into the
/// background. The app implements this protocol:
///
/// ```
/// struct AppGrace: BackgroundGrace {
///     let application: UIApplication
///
///     func begin(_ name: String, onExpiry: @escaping @Sendable () -> Void) -> Int? {
///         let task = application.beginBackgroundTask(withName: name) { onExpiry() }
///         return task == .invalid ? nil : task.rawValue
///     }
///     func end(_ token: Int) { application.endBackgroundTask(UIBackgroundTaskIdentifier(rawValue: token)) }
/// }
/// ```
///
/// The app passes the implementation to its layer:
///
/// ```
/// let network = NetworkLayer(tokens: KeychainTokenStore(), grace: AppGrace(application: .shared))
/// ```
///
/// The layer requests background time for each call before the call's request is sent, and ends it when the call has
/// ended. Calls with a response in memory need none. If the time expires first, the call fails as
/// ``NetworkError/Kind/cancelled``.
public protocol BackgroundGrace: Sendable {
    /// Requests background time from the system.
    ///
    /// The implementation must return without waiting. It is called on any thread.
    ///
    /// - Parameters:
    ///   - name: The service and the endpoint of the call, for the system's logs.
    ///   - onExpiry: Call this when the time is about to expire, on any thread. It ends the background time before it
    ///     returns.
    /// - Returns: A token for the background time; `nil` if the system grants none. The call is made even then.
    func begin(_ name: String, onExpiry: @escaping @Sendable () -> Void) -> Int?

    /// Ends the background time, so that the system may suspend the app. Called exactly once for each token, on any
    /// thread.
    ///
    /// - Parameter token: The token that ``begin(_:onExpiry:)`` returned.
    func end(_ token: Int)
}
