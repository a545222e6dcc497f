/// Asks the system for time to end calls that are in flight when the app goes into the background. The app provides
/// one.
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
/// The app passes it to its layer:
///
/// ```
/// let network = NetworkLayer(tokens: KeychainTokenStore(), grace: AppGrace(application: .shared))
/// ```
///
/// The layer begins one for each call before the call's request is sent, and ends it when the call has landed or
/// failed. Calls with a response in memory need none. If the system's time ends first, the call fails as
/// ``NetworkError/Kind/cancelled``.
public protocol BackgroundGrace: Sendable {
    /// Asks for time.
    ///
    /// The implementation must return without waiting; it is called on any thread.
    ///
    /// - Parameters:
    ///   - name: The service and the endpoint of the call, for the system's logs.
    ///   - onExpiry: To be called when the time is about to be over, on any thread. It ends the grace before it
    ///     returns.
    /// - Returns: A token for the grace; `nil` if the system grants none; the call is made nevertheless.
    func begin(_ name: String, onExpiry: @escaping @Sendable () -> Void) -> Int?

    /// Ends the grace: the system may suspend the app. Called exactly once for each grace, on any thread.
    ///
    /// - Parameter token: The token from ``begin(_:onExpiry:)``.
    func end(_ token: Int)
}
