public import Foundation
import Synchronization

/// Holds the addresses of hosts, so that calls need no DNS. The list of addresses is bundled with the app, stored on
/// disk, or fetched from a server.
///
/// ```swift
/// let hosts = HostBook(bundled: try HostList(["api.example.com": ["203.0.113.7"]]), file: path)
/// // at every launch; sends a request once a day
/// try await hosts.refreshIfDue(over: network, from: Listings.self)
/// ```
///
/// With a file for measurements, the addresses that were fastest on the current network in earlier launches are dialled
/// first. `NIOTransport.measureHosts()`, called at launch, measures the addresses without a recent measurement.
///
/// ```swift
/// let hosts = HostBook(bundled: list, file: path, measurements: otherPath, status: status)
/// ```
///
/// The newest list is used. An invalid list is ignored: the last valid list stays in use, however old it is. An address
/// is used only for calls to the host that has this address in the list.
public final class HostBook: Sendable {
    package enum Source: String, Sendable, Hashable {
        case bundled
        /// The list was read from the file.
        case disk
        /// The list was fetched since the app started.
        case network
    }

    private struct State {
        var list: HostList?
        var source: Source?
        var fetched: Date?
        var isRefreshing = false
        /// The earliest time at which the list may be fetched again after a failed attempt.
        var nextRefresh: Duration?
    }

    /// The minimum time between a failed attempt to fetch the list and the next attempt.
    static let pauseAfterFailure = Duration.seconds(300)

    /// The limits that a list must satisfy.
    public let policy: HostListPolicy
    /// Orders the addresses of a host by their measurements.
    package let selector: HostSelector
    /// The reason why the stored list is not used; `nil` if the file is valid or absent.
    public let loadError: NetworkError?
    private let file: HostListFile?
    private let memory: HostMemory?
    private let clock: LayerClock
    private let timeZone: TimeZone
    /// Guards the list in use, and whether a list is being fetched.
    private let state: Mutex<State>
    /// Serialises writes of the file, so that the file always contains the list in use.
    private let disk = DiskQueue()

    /// Creates a book that holds the addresses of hosts and stores the newest list in a file. If the file exists, it is
    /// read synchronously.
    ///
    /// - Parameters:
    ///   - bundled: The list that is used until a stored or fetched list replaces it. The default is `nil`.
    ///   - path: The file for the fetched list. Its folder must exist. The default is `nil`: the list is not stored.
    ///   - policy: The limits for lists from the file and from the network.
    ///   - clock: The source of dates and waits. The default is the system's clock.
    ///   - timeZone: The time zone in which a day begins. The default is the device's time zone.
    public convenience init(
        bundled: HostList? = nil, file path: String? = nil, policy: HostListPolicy = .standard,
        clock: LayerClock = .system, timeZone: TimeZone = .current
    ) {
        self.init(
            bundled: bundled, file: path, policy: policy, selector: HostSelector(), clock: clock, timeZone: timeZone)
    }

    /// Creates a book that holds the addresses of hosts and stores their measurements between launches. If the files
    /// exist, they are read synchronously.
    ///
    /// At most 1,024 measurements are stored, each for 30 days. Networks are distinguished by
    /// ``NetworkStatus/identity``; the file contains only salted digests of identities. Measurements on a network
    /// without an identity are not stored. If the file of measurements can't be read or is malformed,
    /// ``measurementsError`` states the reason, and a new file is begun.
    ///
    /// - Parameters:
    ///   - bundled: The list that is used until a stored or fetched list replaces it. The default is `nil`.
    ///   - path: The file for the fetched list. Its folder must exist. The default is `nil`: the list is not stored.
    ///   - measurements: The file for measurements. Its folder must exist.
    ///   - status: Reports the device's network. Pass the status source of the layer.
    ///   - policy: The limits for lists from the file and from the network.
    ///   - clock: The source of dates and waits. The default is the system's clock.
    ///   - timeZone: The time zone in which a day begins. The default is the device's time zone.
    public convenience init(
        bundled: HostList? = nil, file path: String? = nil, measurements: String, status: any NetworkStatusSource,
        policy: HostListPolicy = .standard, clock: LayerClock = .system, timeZone: TimeZone = .current
    ) {
        let memory = HostMemory(measurements, clock: clock)
        self.init(
            bundled: bundled, file: path, policy: policy,
            selector: HostSelector(status: status, clock: clock, memory: memory), memory: memory, clock: clock,
            timeZone: timeZone)
    }

    /// Creates a book. Its `selector` orders addresses by their measurements.
    package convenience init(
        bundled: HostList? = nil, file path: String? = nil, policy: HostListPolicy = .standard,
        selector: HostSelector, clock: LayerClock = .system, timeZone: TimeZone = .current
    ) {
        self.init(
            bundled: bundled, file: path, policy: policy, selector: selector, memory: nil, clock: clock,
            timeZone: timeZone)
    }

    private init(
        bundled: HostList?, file path: String?, policy: HostListPolicy, selector: HostSelector, memory: HostMemory?,
        clock: LayerClock, timeZone: TimeZone
    ) {
        self.policy = policy
        self.selector = selector
        self.memory = memory
        self.clock = clock
        self.timeZone = timeZone
        file = path.map(HostListFile.init)
        var content: HostListFile.Content?
        var failure: NetworkError?
        do {
            content = try file?.load(policy)
        } catch {
            failure = error
        }
        loadError = failure
        state = Mutex(
            State(
                list: content?.list ?? bundled, source: content.map { _ in .disk } ?? bundled.map { _ in .bundled },
                fetched: content?.fetched))
    }

    /// The list in use; `nil` if no list was bundled, stored or fetched.
    public var list: HostList? { state.withLock { $0.list } }
    /// The source of the list in use: the app, the file or the network. `nil` if there is no list.
    package var source: Source? { state.withLock { $0.source } }
    /// The date at which the list in use was fetched; `nil` if the list is bundled or there is no list.
    public var fetched: Date? { state.withLock { $0.fetched } }

    /// The reason why stored measurements could not be read, or new ones could not be stored; `nil` if no error
    /// occurred.
    public var measurementsError: NetworkError? { memory?.error }

    /// Returns the smoothed latency of an address on the current network, or `nil` if the address was not measured
    /// there.
    public func latency(of address: IPAddress, of host: String) -> Duration? { selector.latency(of: address, of: host) }

    /// Returns the remaining time of the ban on an address that failed, or `nil` if the address is not banned. A banned
    /// address is not dialled.
    public func ban(of address: IPAddress, of host: String) -> Duration? { selector.ban(of: address, of: host) }

    /// Returns the addresses that calls with this scheme may use for a host.
    package func addresses(of host: String, scheme: String) -> [IPAddress] {
        guard scheme == "https" || policy.coversPlainHTTP else { return [] }
        return list?.addresses(of: host) ?? []
    }

    /// Whether a list should be fetched: no list was fetched today, or the list's lifetime has ended.
    public var isRefreshDue: Bool { state.withLock { isDue($0) } }

    /// Fetches a list from a service if a refresh is due, and then uses that list.
    ///
    /// - Parameters:
    ///   - network: The layer that fetches the list.
    ///   - service: The service that serves the list.
    ///   - path: The path of the list relative to the service's base URL. The default is `hosts`.
    /// - Returns: Whether a list was fetched.
    /// - Throws: The same errors as ``refreshIfDue(over:from:)``.
    @discardableResult
    public func refreshIfDue<Service: APIService>(
        over network: NetworkLayer, from service: Service.Type, path: EndpointPath = "hosts"
    ) async throws(NetworkError) -> Bool {
        try await refreshIfDue(over: network, from: HostListRequest<Service>(path: path))
    }

    /// Fetches a list with an endpoint of the app if a refresh is due, and then uses that list.
    ///
    /// After a failure no refresh starts for five minutes.
    ///
    /// - Parameters:
    ///   - network: The layer that fetches the list.
    ///   - endpoint: The endpoint whose response is the list.
    /// - Returns: Whether a list was fetched.
    /// - Throws: The error of the call; ``NetworkError/Kind/invalidResponse`` if the list is invalid;
    ///   ``NetworkError/Kind/storage`` if the list can't be stored, in which case it is used nevertheless.
    @discardableResult
    public func refreshIfDue(
        over network: NetworkLayer, from endpoint: some Endpoint
    ) async throws(NetworkError) -> Bool {
        let now = clock.now
        let isMine = state.withLock { state in
            guard !state.isRefreshing, isDue(state), state.nextRefresh.map({ now >= $0 }) ?? true else { return false }
            state.isRefreshing = true
            return true
        }
        guard isMine else { return false }
        do {
            let raw = try await network.call(endpoint)
            try await use(raw.bytes)
            state.withLock { $0.isRefreshing = false }
            return true
        } catch {
            let next = clock.now + Self.pauseAfterFailure
            state.withLock { state in
                state.isRefreshing = false
                state.nextRefresh = next
            }
            throw error
        }
    }

    /// Replaces the list in use by a list that a server sent, and stores it on disk. Runs outside the caller's actor.
    ///
    /// - Throws: ``NetworkError/Kind/invalidResponse`` if the list is invalid: the previous list stays in use.
    ///   ``NetworkError/Kind/storage`` if the list can't be stored: it is used nevertheless.
    @concurrent public func use(_ json: [UInt8]) async throws(NetworkError) {
        let list: HostList
        do {
            list = try HostList(json: json, policy: policy)
        } catch {
            throw NetworkError(.invalidResponse, in: .routing, "\(error)", underlying: error)
        }
        let date = clock.date
        state.withLock { state in
            state.list = list
            state.source = .network
            state.fetched = date
            state.nextRefresh = nil
        }
        do throws(FileError) {
            try await disk.run { () throws(FileError) in try self.save() }
        } catch {
            throw NetworkError(
                .storage, in: .routing, "The list of hosts can't be stored: \(error)", underlying: error)
        }
    }

    private func save() throws(FileError) {
        let (list, fetched) = state.withLock { ($0.list, $0.fetched) }
        guard let file, let list, let fetched else { return }
        try file.save(HostListFile.Content(list: list, fetched: fetched))
    }

    private func isDue(_ state: State) -> Bool {
        guard let fetched = state.fetched, let list = state.list else { return true }
        let now = clock.date
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = timeZone
        // If the date is in the future, the clock was wrong when the list was fetched.
        return !calendar.isDate(fetched, inSameDayAs: now) || fetched > now
            || now.timeIntervalSince(fetched) >= list.lifetime.seconds
    }
}

/// Fetches the list of hosts from a service with `GET`.
struct HostListRequest<Service: APIService>: Endpoint {
    static var service: Service.Type { Service.self }
    static var name: String { "HostList" }
    /// 1 MiB, four times the default limit for a list.
    static var maximumResponseByteCount: Int { 1 << 20 }
    /// The priority is low because no user waits for the list.
    static var priority: CallPriority { .low }

    let path: EndpointPath

    func encode(to encoder: any Encoder) {}
}
