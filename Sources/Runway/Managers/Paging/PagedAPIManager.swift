public import Observation
public import RunwayJSON

/// Loads one list for a controller, page by page. Holds the rows, and notifies the controller, which is its delegate.
///
/// ```swift
/// @MainActor final class ListController: APIManagerDelegate {
///     lazy var rentals = PagedAPIManager<RentalList>(on: network, delegate: self)
///
///     func open(city: String) { rentals.load(RentalList(city: city)) }
///     func scrolledToEnd() { rentals.loadNextPage() }
///     func pulledDown() { rentals.reload() }
///
///     func apiManagerDidSucceed(_ manager: any APIManaging) {
///         do { list.show(try manager.fetch(PropertyListReformer())) } catch { show(error) }
///     }
///     func apiManager(_ manager: any APIManaging, didFailWith error: NetworkError) { show(error) }
/// }
/// ```
///
/// Only one load is in flight at a time. ``Endpoint/overlap`` is the policy for a second load. A load delivers one
/// result, but may make several requests; each is a call with its own record. Rows may move from one page to another
/// between two requests: the list is corrected before the result is delivered. A load that fails changes nothing, so
/// the next load requests the same page.
///
/// For lists that have ids, are paged by position or number, and change while they are read, the manager guarantees:
/// - No row is in ``items`` twice.
/// - A row that was in the list all the time and was not moved is never missing, and stays in order.
/// - A row that was moved is not missing either, if the list was edited at most once between two loads. Several edits
///   can hide one another: if one row is removed from the start of the list and another is moved there, the positions
///   of the other rows do not change. Then only ``reload(options:)`` finds the moved row.
/// - A row that was deleted stays in ``items`` until it is evicted or the list is loaded again.
///
/// For lists without ids, and lists that are paged by cursor, only the server can promise that no row is missing.
@MainActor @Observable
public final class PagedAPIManager<E: PagedEndpoint>: APIManaging {
    /// The layer that sends the requests.
    public let network: NetworkLayer
    /// Limits for the rows in memory, and for the requests of a load.
    public let limits: PagingLimits
    /// The delegate, which is notified of responses and errors. It is referenced weakly, so retain it elsewhere.
    @ObservationIgnored public weak var delegate: (any APIManagerDelegate)?
    /// Supplies the parameters of ``load(options:)``. It is referenced weakly, so retain it elsewhere.
    @ObservationIgnored public weak var parameterSource: (any ParameterSource)?
    /// Checks parameters and responses of every request in addition to the endpoint's own checks. Its functions receive
    /// this manager as an argument. It is referenced weakly, so retain it elsewhere.
    public var validator: (any Validator)? {
        get { requests.validator }
        set { requests.validator = newValue }
    }
    /// Intercepts every request, after the layer's interceptors. Its hooks receive this manager as an argument. If it
    /// vetoes a request, the load ends without a result. It is referenced weakly, so retain it elsewhere.
    public var interceptor: (any Interceptor)? {
        get { requests.interceptor }
        set { requests.interceptor = newValue }
    }

    /// The rows in memory, in the order of the list. Each row retains its whole page in memory.
    public var items: [JSONValue] { list.rows }
    /// The rows that the last load added, in the order of the list.
    public var newestItems: [JSONValue] { list.newestRows }
    /// The error of the load whose result was delivered last; `nil` if that load succeeded or no result was delivered.
    public internal(set) var error: NetworkError?
    /// The number of the load whose result was delivered last; `nil` if no result was delivered.
    public internal(set) var landedFlight: FlightID?
    /// The record of the last request of the load whose result was delivered last; see ``APIManaging/lastRecord``.
    public var lastRecord: FlightRecord? { lastRequest?.record }
    /// The parameters of the load whose result was delivered last, successful or not; `nil` if no result was delivered.
    public internal(set) var landedEndpoint: (any Endpoint)?
    /// The parameters of the current list; `nil` if no list was loaded.
    public internal(set) var endpoint: E?
    /// Whether a load is in flight.
    public var isLoading: Bool { machine.load != nil }
    /// Whether the newest page is stale and a fresh version of it may still be delivered.
    public var isProvisional: Bool { requests.isProvisional }
    /// Whether the list may have rows after the last row in memory; `true` before the first load.
    public var hasMore: Bool { !list.window.isAtEnd }
    /// Whether the last row in memory is the last of the list.
    public var isLastPage: Bool { list.window.isAtEnd }
    /// Whether the first row in memory is the first of the list.
    public var isFirstPage: Bool { list.window.isAtStart }
    /// The number of rows in the whole list, as stated by the last response; `nil` if that response does not state it.
    public var total: Int? { list.window.total }
    /// Whether rows are known to be missing: they were inserted before the last page, and the load could not find them
    /// within its limit of requests. A reload finds them.
    public var mayMissRows: Bool { list.window.unreadCount > 0 }

    /// The accounts whose calls have read the rows in memory. If a list was begun without an account, the account that
    /// signs in next continues the same list.
    @ObservationIgnored package internal(set) var accounts: Set<String?> = []
    /// The accounts that made the requests of the load in flight.
    @ObservationIgnored var requestAccounts: Set<String?> = []
    /// The last request of the load whose result was delivered last.
    var lastRequest: Landing?
    var machine = PagedLoadMachine<E>()
    var list = PageList<E>()
    /// Makes the individual requests.
    let requests: APIManager<E>
    @ObservationIgnored private let landings = RequestLandings()
    @ObservationIgnored let waiters = LandingWaiters()

    /// Creates a manager for one list.
    ///
    /// - Parameters:
    ///   - network: The layer that sends the requests.
    ///   - delegate: Notified of responses and errors; referenced weakly.
    ///   - limits: Limits for the rows in memory, and for the requests of a load. The default is 1000 rows, and 12
    ///     requests in addition to the first.
    public init(
        on network: NetworkLayer, delegate: (any APIManagerDelegate)? = nil, limits: PagingLimits = PagingLimits()
    ) {
        self.network = network
        self.delegate = delegate
        self.limits = limits
        // Only one load may be in flight at a time, so the endpoint's policy `concurrent` is replaced.
        requests = APIManager(on: network, overlap: E.overlap == .concurrent ? .cancelRunning : E.overlap)
        requests.owner = self
        requests.delegate = landings
        landings.onLanding = { [weak self] error in self?.requestLanded(error) }
        requests.onEndWithoutLanding = { [weak self] flight, outcome in self?.requestEnded(flight, as: outcome) }
    }
}

/// Receives the responses and errors of the individual requests.
private final class RequestLandings: APIManagerDelegate {
    var onLanding: ((NetworkError?) -> Void)?

    func apiManagerDidSucceed(_ manager: any APIManaging) { onLanding?(nil) }
    func apiManager(_ manager: any APIManaging, didFailWith error: NetworkError) { onLanding?(error) }
}
