public import struct Foundation.Notification
public import class Foundation.NotificationCenter

/// The content of ``NetworkLayer/needsLoginNotification``: the calls that failed because the user must log in.
///
/// ```swift
/// let observer = NotificationCenter.default.addObserver(
///     forName: NetworkLayer.needsLoginNotification, object: nil, queue: nil
/// ) { notification in
///     guard let need = NeedsLogin(notification) else { return }
///     MainActor.assumeIsolated { showLogin(need.service) { need.resume() } }
/// }
/// ```
///
/// The notification is posted on the main actor, so an observer needs no queue. On Linux an observer with the queue
/// `.main` would deadlock. The calls have failed as ``NetworkError/Kind/needsLogin``. After the login, ``resume()``
/// repeats the calls that managers made.
public struct NeedsLogin: Sendable {
    /// The layer whose calls need the login.
    public let network: NetworkLayer
    /// The service that the user must log in to.
    public let service: any APIService.Type
    /// The current environment of the service.
    public let environment: ServiceEnvironment
    /// The account whose token is no longer valid; `nil` if no account was signed in.
    public let account: String?
    /// The names of the endpoints of the failed calls, without duplicates, in the order of the calls.
    public let endpoints: [String]
    /// The numbers of the calls that failed.
    public let flights: [FlightID]

    private let weakManagers: [WeakManager]

    /// The managers that made the failed calls and still exist, without duplicates. For calls of a list, the manager is
    /// its ``PagedAPIManager``.
    @MainActor public var managers: [any APIManaging] {
        var seen: Set<ObjectIdentifier> = []
        return weakManagers.compactMap(\.manager).filter { seen.insert(ObjectIdentifier($0)).inserted }
    }

    /// Reads a notification. Returns `nil` if the notification is not a ``NetworkLayer/needsLoginNotification``.
    public init?(_ notification: Notification) {
        guard let need = notification.userInfo?[Self.key] as? NeedsLogin else { return nil }
        self = need
    }

    /// Repeats the calls that failed because the account was not logged in. Each manager repeats its calls with their
    /// parameters and options. Call the function after ``NetworkLayer/signIn(_:to:)``; it does nothing while no account
    /// is signed in.
    ///
    /// The function repeats:
    ///
    /// - the calls of ``flights`` that managers made,
    /// - the calls that failed after the notification,
    /// - the calls that failed as ``NetworkError/Kind/needsAccessToken``.
    ///
    /// It does not repeat calls that failed because the network was lost. The limits (by default 10 minutes and 100
    /// calls) and the rule for another account are the same as in ``NetworkLayer/resumeCalls(of:)``.
    ///
    /// - Returns: The numbers of the new calls.
    @MainActor @discardableResult
    public func resume() -> [FlightID] {
        let owner = TokenIdentity(service: service, environment: environment, account: account)
        return network.resumeCalls(of: owner, awaiting: flights)
    }

    init(_ identity: TokenIdentity, _ flights: [Flight], on network: NetworkLayer) {
        self.network = network
        service = identity.service
        environment = identity.environment
        account = identity.account
        let flights = flights.sorted { $0.id < $1.id }
        var seen: Set<String> = []
        endpoints = flights.map { $0.endpoint.name }.filter { seen.insert($0).inserted }
        self.flights = flights.map(\.id)
        weakManagers = flights.map { WeakManager(manager: $0.manager) }
    }

    /// Posts the notification in a turn of the main actor.
    func post() {
        Task { @MainActor in
            NotificationCenter.default.post(
                name: NetworkLayer.needsLoginNotification, object: network, userInfo: [Self.key: self])
        }
    }

    private static let key = "needsLogin"
}

extension NetworkLayer {
    /// Posted on the main actor when calls failed because the user must log in. Its object is the layer. Create a
    /// ``NeedsLogin`` to read the notification.
    ///
    /// Posted only once for each account until the next ``signIn(_:to:)``, even if many calls fail.
    public static let needsLoginNotification = Notification.Name("RunwayNeedsLogin")
}
