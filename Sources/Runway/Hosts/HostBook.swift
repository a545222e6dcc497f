public import Foundation
import Synchronization

/// The addresses of hosts that an app has: those it brought along, those kept on disk, those a server sent; the newest list counts.
///
/// ```swift
/// let hosts = HostBook(bundled: try HostList(["api.example.com": ["203.0.113.7"]]), file: path)
/// // at every launch; asks once a day
/// try await hosts.refreshIfDue(over: network, from: HostListRequest<Listings>())
/// ```
///
/// A list that is refused changes nothing: the last good one is used until a better one comes, however old it is. An address is used
/// for calls to the very host that it stands under.
public final class HostBook: Sendable {
    /// Where the list in use came from.
    public enum Source: String, Sendable, Hashable {
        /// The app brought it along.
        case bundled
        /// It was kept on disk.
        case disk
        /// A server sent it in this run of the app.
        case network
    }

    private struct State {
        var list: HostList?
        var source: Source?
        var fetched: Date?
        var isRefreshing = false
        /// The instant before which no other try is made after one that failed.
        var nextTry: Duration?
    }

    /// The shortest time between two tries of which the first failed.
    static let pauseAfterFailure = Duration.seconds(300)

    /// What a list may hold.
    public let policy: HostListPolicy
    /// Which address is the best.
    public let selector: HostSelector
    /// Why the list on disk is not used, if there is one and it is not.
    public let loadError: HostListError?
    private let file: HostListFile?
    private let clock: LayerClock
    private let timeZone: TimeZone
    /// Guards the list in use, and whether another one is being fetched.
    private let state: Mutex<State>
    /// Writes the file: of two lists that come at once the one that is in use is the one that stays there.
    private let disk = DiskQueue()

    /// Makes a book, and reads the file if there is one, while its caller waits.
    ///
    /// - Parameters:
    ///   - bundled: What the app brings along. The default is nothing.
    ///   - path: Where the list is kept from one run to the next, in a folder that is there; `nil` is nowhere.
    ///   - policy: What lists from the disk and from the network may hold.
    ///   - selector: Which address is the best. The default is a new one.
    ///   - clock: What dates and waits come from. The default is the system's.
    ///   - timeZone: Where a day begins. The default is the device's.
    public init(
        bundled: HostList? = nil, file path: String? = nil, policy: HostListPolicy = .standard,
        selector: HostSelector = HostSelector(), clock: LayerClock = .system, timeZone: TimeZone = .current
    ) {
        self.policy = policy
        self.selector = selector
        self.clock = clock
        self.timeZone = timeZone
        file = path.map(HostListFile.init)
        var content: HostListFile.Content?
        var failure: HostListError?
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

    /// The list in use; `nil` where there is none.
    public var list: HostList? { state.withLock { $0.list } }
    /// Where the list in use came from.
    public var source: Source? { state.withLock { $0.source } }
    /// When the list in use was fetched; `nil` for one that the app brought along.
    public var fetched: Date? { state.withLock { $0.fetched } }

    /// The addresses of a host, and of no other, that calls of a scheme may be sent to.
    package func addresses(of host: String, scheme: String) -> [IPAddress] {
        guard scheme == "https" || policy.coversPlainHTTP else { return [] }
        return list?.addresses(of: host) ?? []
    }

    /// Whether a list should be fetched: there is none of today's, or its time is over.
    public var isRefreshDue: Bool { state.withLock { isDue($0) } }

    /// Fetches a list if one is due, and uses it from then on.
    ///
    /// - Parameters:
    ///   - network: The layer that fetches it.
    ///   - endpoint: What gives the list, such as ``HostListRequest``.
    /// - Returns: Whether a list was fetched.
    /// - Throws: What the call throws; ``NetworkError/Kind/invalidAnswer`` for a list that is refused, ``NetworkError/Kind/storage`` for
    ///   one that can't be kept, though it is used. After a failure no other try is made for five minutes.
    @discardableResult
    public func refreshIfDue(
        over network: NetworkLayer, from endpoint: some Endpoint
    ) async throws(NetworkError) -> Bool {
        let now = clock.now
        let isMine = state.withLock { state in
            guard !state.isRefreshing, isDue(state), state.nextTry.map({ now >= $0 }) ?? true else { return false }
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
                state.nextTry = next
            }
            throw error
        }
    }

    /// Uses a list that a server sent, and keeps it on disk; off the actor of its caller, whom neither holds up.
    ///
    /// - Throws: ``NetworkError/Kind/invalidAnswer`` for a list that is refused: the last one stays. ``NetworkError/Kind/storage`` for one
    ///   that can't be kept: it is used.
    @concurrent public func use(_ json: [UInt8]) async throws(NetworkError) {
        let list: HostList
        do {
            list = try HostList(json: json, policy: policy)
        } catch {
            throw NetworkError(.invalidAnswer, in: .stage(.routing), "\(error)", underlying: error)
        }
        let date = clock.date
        state.withLock { state in
            state.list = list
            state.source = .network
            state.fetched = date
            state.nextTry = nil
        }
        do throws(FileError) {
            try await disk.run { () throws(FileError) in try self.save() }
        } catch {
            throw NetworkError(
                .storage, in: .stage(.routing), "The list of hosts can't be kept: \(error)", underlying: error)
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
        // A date to come is one of a clock that was wrong.
        return !calendar.isDate(fetched, inSameDayAs: now) || fetched > now
            || now.timeIntervalSince(fetched) >= list.lifetime.seconds
    }
}
