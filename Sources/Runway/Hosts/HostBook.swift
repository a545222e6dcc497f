public import Foundation
import Synchronization

/// Holds the addresses of hosts, so that calls need no DNS: a list bundled with the app, stored on disk, or fetched
/// from a server.
///
/// ```swift
/// let hosts = HostBook(bundled: try HostList(["api.example.com": ["203.0.113.7"]]), file: path)
/// // at every launch; sends a request once a day
/// try await hosts.refreshIfDue(over: network, from: Listings.self)
/// ```
///
/// With a file for measurements, the addresses that were the fastest on this network in earlier launches are dialled
/// first, and `NIOTransport.measureHosts()` measures at a launch the addresses without a recent measurement:
///
/// ```swift
/// let hosts = HostBook(bundled: list, file: path, measurements: otherPath, status: status)
/// ```
///
/// The newest list is in use. An invalid list changes nothing: the last valid list stays in use, at any age. An address
/// is used only for calls to the host that the list names it for.
public final class HostBook: Sendable {
    /// The origin of the list in use.
    package enum Source: String, Sendable, Hashable {
        /// The app bundles the list.
        case bundled
        /// The list was stored on disk.
        case disk
        /// The list was fetched since the app was started.
        case network
    }

    private struct State {
        var list: HostList?
        var source: Source?
        var fetched: Date?
        var isRefreshing = false
        /// The instant before which no refresh is started after a failed one.
        var nextRefresh: Duration?
    }

    /// The shortest time between a failed refresh and the next one.
    static let pauseAfterFailure = Duration.seconds(300)

    /// The limits for the contents of a list.
    public let policy: HostListPolicy
    /// Orders the addresses of a host by measurements.
    package let selector: HostSelector
    /// The reason why the list on disk is not in use; `nil` if it is valid or absent.
    public let loadError: NetworkError?
    private let file: HostListFile?
    private let memory: HostMemory?
    private let clock: LayerClock
    private let timeZone: TimeZone
    /// Guards the list in use, and whether another list is being fetched.
    private let state: Mutex<State>
    /// Serialises the writes of the file, so that the file contains the list in use.
    private let disk = DiskQueue()

    /// Holds the addresses of hosts, and stores the newest list in a file. If the file exists, it is read
    /// synchronously.
    ///
    /// - Parameters:
    ///   - bundled: The list that is used until another one is stored or fetched. The default is `nil`.
    ///   - path: The file in which the fetched list is stored; its folder must exist. The default, `nil`, stores no
    ///     list.
    ///   - policy: The limits for lists from the disk and from the network.
    ///   - clock: The source of dates and waits. The default is the system's.
    ///   - timeZone: The time zone in which a day begins. The default is the device's.
    public convenience init(
        bundled: HostList? = nil, file path: String? = nil, policy: HostListPolicy = .standard,
        clock: LayerClock = .system, timeZone: TimeZone = .current
    ) {
        self.init(
            bundled: bundled, file: path, policy: policy, selector: HostSelector(), clock: clock, timeZone: timeZone)
    }

    /// Holds the addresses of hosts, and remembers their measurements between launches. If the files exist, they are
    /// read synchronously.
    ///
    /// At most 1,024 measurements are stored, each for 30 days. Networks are distinguished by
    /// ``NetworkStatus/identity``, of which the file has only salted digests; measurements on a network without
    /// identity are not stored. If the file of measurements can't be read or is malformed, ``measurementsError`` states
    /// the reason, and a new file is begun.
    ///
    /// - Parameters:
    ///   - bundled: The list that is used until another one is stored or fetched. The default is `nil`.
    ///   - path: The file in which the fetched list is stored; its folder must exist. The default, `nil`, stores no
    ///     list.
    ///   - measurements: The file in which measurements are stored; its folder must exist.
    ///   - status: Reports the device's network, like the layer's status source.
    ///   - policy: The limits for lists from the disk and from the network.
    ///   - clock: The source of dates and waits. The default is the system's.
    ///   - timeZone: The time zone in which a day begins. The default is the device's.
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

    /// Creates a book with a selector of its own.
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

    /// The list in use; `nil` if there is none.
    public var list: HostList? { state.withLock { $0.list } }
    /// The origin of the list in use; `nil` if there is none.
    package var source: Source? { state.withLock { $0.source } }
    /// The date at which the list in use was fetched; `nil` for a bundled list.
    public var fetched: Date? { state.withLock { $0.fetched } }

    /// The reason why measurements of earlier launches were not read, or new ones could not be stored; `nil` if neither
    /// happened.
    public var measurementsError: NetworkError? { memory?.error }

    /// Returns the smoothed latency of an address on the current network; `nil` if none was measured.
    public func latency(of address: IPAddress, of host: String) -> Duration? { selector.latency(of: address, of: host) }

    /// Returns the remaining time for which an address of a host is not dialled because it failed; `nil` if it is not
    /// banned.
    public func ban(of address: IPAddress, of host: String) -> Duration? { selector.ban(of: address, of: host) }

    /// Returns the addresses of a host that calls of a scheme may be sent to.
    package func addresses(of host: String, scheme: String) -> [IPAddress] {
        guard scheme == "https" || policy.coversPlainHTTP else { return [] }
        return list?.addresses(of: host) ?? []
    }

    /// Whether a list should be fetched: none was fetched today, or its lifetime has ended.
    public var isRefreshDue: Bool { state.withLock { isDue($0) } }

    /// Fetches a list from a service if one is due, and uses it from then on.
    ///
    /// - Parameters:
    ///   - network: The layer that fetches the list.
    ///   - service: The service that serves the list.
    ///   - path: The path of the list below the service's base URL. The default is `hosts`.
    /// - Returns: Whether a list was fetched.
    /// - Throws: The errors of ``refreshIfDue(over:from:)``.
    @discardableResult
    public func refreshIfDue<Service: APIService>(
        over network: NetworkLayer, from service: Service.Type, path: EndpointPath = "hosts"
    ) async throws(NetworkError) -> Bool {
        try await refreshIfDue(over: network, from: HostListRequest<Service>(path: path))
    }

    /// Fetches a list by an endpoint of the app if one is due, and uses it from then on.
    ///
    /// - Parameters:
    ///   - network: The layer that fetches the list.
    ///   - endpoint: The endpoint whose response is the list.
    /// - Returns: Whether a list was fetched.
    /// - Throws: The error of the call; ``NetworkError/Kind/invalidResponse`` for an invalid list;
    ///   ``NetworkError/Kind/storage`` for a list that can't be stored, although it is used. After a failure no refresh
    ///   is started for five minutes.
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

    /// Uses a list that a server sent, and stores it on disk. Both happen off the caller's actor.
    ///
    /// - Throws: ``NetworkError/Kind/invalidResponse`` for an invalid list: the last one stays in use.
    ///   ``NetworkError/Kind/storage`` for a list that can't be stored: it is used nevertheless.
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
        // A date in the future was set by a wrong clock.
        return !calendar.isDate(fetched, inSameDayAs: now) || fetched > now
            || now.timeIntervalSince(fetched) >= list.lifetime.seconds
    }
}

/// Fetches the list of hosts from a service: `GET` of a path below its base URL.
struct HostListRequest<Service: APIService>: Endpoint {
    /// The service.
    static var service: Service.Type { Service.self }
    /// The name, as records show it.
    static var name: String { "HostList" }
    /// 1 MiB, more than any list may have.
    static var maximumResponseByteCount: Int { 1 << 20 }
    /// Low, since no user waits for the list.
    static var priority: CallPriority { .low }

    /// The path below the service's base URL.
    let path: EndpointPath

    /// Encodes nothing: there are no parameters.
    func encode(to encoder: any Encoder) {}
}
