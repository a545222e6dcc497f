public import Observation
import RunwayJSON

/// The object that a controller holds for one list: it loads page after page, keeps the rows, and tells its delegate.
///
/// ```swift
/// @MainActor final class ListController: APIManagerDelegate {
///     lazy var rentals = PagedAPIManager<RentalList>(on: network, delegate: self)
///     func open(city: String) { rentals.load(RentalList(city: city)) }
///     func scrolledToEnd() { rentals.loadNextPage() }
///     func pulledDown() { rentals.reload() }
///     func apiManagerDidSucceed(_ manager: any APIManaging) {
///         do { list.show(try manager.fetch(PropertyListReformer())) } catch { show(error) }
///     }
///     func apiManager(_ manager: any APIManaging, didFailWith error: NetworkError) { show(error) }
/// }
/// ```
///
/// One load is under way at a time. It lands once, and may take several requests, each a call with its own record: what rows do that
/// shift between two pages is put right before they land. A load that fails has changed nothing, so that the next one asks for the
/// same page.
///
/// What holds for lists with ids that change while they are read, by position or number:
/// - No row is in ``items`` twice.
/// - A row that was in the list all the time and was not moved is never left out, and stands in its order.
/// - A row that was moved is not left out either, where the list was edited at most once between two loads. Several edits can hide
///   one another, as a row that goes from the start of the list hides one that is moved there: then only ``reload(options:)`` finds it.
/// - A row that was deleted stays until it is let go or the list is loaded anew.
///
/// For lists without ids, and lists that are paged by cursor, no gap is the server's promise.
@MainActor @Observable
public final class PagedAPIManager<E: PagedEndpoint>: APIManaging {
    /// The layer that carries the calls.
    public let network: NetworkLayer
    /// How much is kept, and how much is asked for to put the list right.
    public let limits: PagingLimits
    /// Where loads land. Held weakly: keep it alive yourself.
    @ObservationIgnored public weak var delegate: (any APIManagerDelegate)?
    /// Gives the parameters of ``load(options:)``. Held weakly: keep it alive yourself.
    @ObservationIgnored public weak var parameterSource: (any ParameterSource)?
    /// Checks parameters and answers of every request beside the endpoint's own checks. It is given the manager of the requests.
    /// Held weakly: keep it alive yourself.
    public var validator: (any Validator)? {
        get { requests.validator }
        set { requests.validator = newValue }
    }
    /// Acts on every request, after the layer's interceptors for the endpoint. It is given the manager of the requests. A request
    /// that it vetoes ends the load without a landing. Held weakly: keep it alive yourself.
    public var interceptor: (any Interceptor)? {
        get { requests.interceptor }
        set { requests.interceptor = newValue }
    }

    /// The rows in memory, in the order of the list.
    public var items: [PageItem] { list.items }
    /// The rows that the last load brought and that were not in memory before, in the order of the list.
    public var newestItems: [PageItem] { list.newestItems }
    /// The error of the load that landed last; `nil` if it succeeded.
    public internal(set) var error: NetworkError?
    /// The number of the load that landed last.
    public internal(set) var landedFlight: FlightID?
    /// The parameters of the load that landed last, successfully or not.
    public internal(set) var landedEndpoint: (any Endpoint)?
    /// The parameters of the list.
    public internal(set) var endpoint: E?
    /// Whether a load is under way.
    public var isLoading: Bool { running != nil }
    /// Whether the newest page is a stale one, in whose place a fresh one may land.
    public var isProvisional: Bool { requests.isProvisional }
    /// Whether the list goes on after the last row in memory, as far as is known. It does before anything was loaded.
    public var hasMore: Bool { !list.window.isAtEnd }
    /// Whether the last row in memory is the last of the list.
    public var isLastPage: Bool { list.window.isAtEnd }
    /// Whether the first row in memory is the first of the list.
    public var isFirstPage: Bool { list.window.start == 0 && list.window.firstPage == 0 }
    /// How many rows the list has, as the server said last; `nil` where it does not say.
    public var total: Int? { list.window.total }
    /// Whether rows came to places before the last page that were not found within the requests that a load may make. A reload shows
    /// them.
    public var mayMissRows: Bool { list.window.unreadCount > 0 }

    /// A load that has not landed.
    struct Running {
        /// The number of its first request, which stands for the load.
        var id: FlightID?
        /// The number of the request that is under way.
        var request: FlightID?
        var token: Int
        var endpoint: E
        var options: CallOptions
        var load: any PageLoad
    }

    var running: Running?
    /// The load that failed because nobody gave parameters for it, until it lands.
    var withoutParameters: FlightID?
    var list = PageList<E>()
    @ObservationIgnored var loadCount = 0
    /// Makes the single requests.
    let requests: APIManager<E>
    @ObservationIgnored private let landings = RequestLandings()

    /// Makes a manager.
    ///
    /// - Parameters:
    ///   - network: The layer that carries the calls.
    ///   - delegate: Where loads land; held weakly.
    ///   - limits: How much is kept, and how much is asked for. The default is 1000 rows, and 12 requests of a load beside its own.
    public init(
        on network: NetworkLayer, delegate: (any APIManagerDelegate)? = nil, limits: PagingLimits = PagingLimits()
    ) {
        self.network = network
        self.delegate = delegate
        self.limits = limits
        // One load at a time is this manager's affair. An answer that comes twice, stale and then fresh, must not be in its way.
        requests = APIManager(on: network, overlap: .concurrent)
        requests.owner = self
        requests.delegate = landings
        landings.onLanding = { [weak self] error in self?.requestLanded(error) }
        requests.onEndWithoutLanding = { [weak self] flight in self?.requestEnded(flight) }
    }
}

/// Where the single requests of a paged manager land.
private final class RequestLandings: APIManagerDelegate {
    var onLanding: ((NetworkError?) -> Void)?

    func apiManagerDidSucceed(_ manager: any APIManaging) { onLanding?(nil) }
    func apiManager(_ manager: any APIManaging, didFailWith error: NetworkError) { onLanding?(error) }
}
