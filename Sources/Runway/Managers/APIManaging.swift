public import HTTPTypes

/// A manager of any endpoint type: an ``APIManager``, also for downloads and uploads, or a ``PagedAPIManager``. A
/// delegate of several managers receives this type.
///
/// ```swift
/// func apiManagerDidSucceed(_ manager: any APIManaging) {
///     if manager === rentals {
///
///         title = "\(manager.rawData?["total"].int ?? 0) homes"
///     } else if manager === photos {
///         isShowingPhotos = true
///     }
/// }
/// ```
///
/// Compare managers by identity, as above.
@MainActor
public protocol APIManaging: AnyObject, Sendable {
    /// The endpoint type that the manager calls.
    var endpointType: any Endpoint.Type { get }
    /// Whether a call is in flight.
    var isLoading: Bool { get }
    /// Whether ``rawData`` is a stale response and the fresh response of the same call may still be delivered.
    var isProvisional: Bool { get }
    /// The response that was delivered last; `nil` if none was delivered since ``clear()``.
    var rawData: RawData? { get }
    /// The status and header fields of the response that was delivered last, or of the response that made the last call
    /// fail. In the second case ``error`` contains the body.
    var response: HTTPResponse? { get }
    /// The error of the call whose result was delivered last; `nil` if that call succeeded or no result was delivered.
    var error: NetworkError? { get }
    /// The parameters of the call whose result was delivered last, successful or not; `nil` if no result was delivered.
    var landedEndpoint: (any Endpoint)? { get }
    /// The number of the call whose result was delivered last; `nil` if no result was delivered.
    var landedFlight: FlightID? { get }
    /// The record of the call whose result was delivered last, successful or not. It shows the decisions and requests
    /// behind the current screen. For a list it is the record of the load's last request.
    ///
    /// The record is redacted like every record (``Redaction``). It is created on access, and is complete once the
    /// delegate was notified. If a reformer or a body adds entries later, the next access shows them. It is `nil`
    /// before a result was delivered, and after ``clear()``.
    var lastRecord: FlightRecord? { get }

    /// Makes a call with the parameters that the manager's ``ParameterSource`` supplies.
    @discardableResult func load(options: CallOptions) -> FlightID
    /// Waits until the delegate was notified of the result of a call, and returns the response. For scripts and tests.
    ///
    /// ```swift
    /// let rawData = try await rentals.landing(of: rentals.load())
    /// ```
    ///
    /// ``APIManager/landing(of:options:)`` makes the call, too.
    ///
    /// The function waits for the result that the delegate receives; the call is not made a second time. A stale
    /// response that is delivered first does not end the wait. The manager is retained during the wait. If the waiting
    /// task is cancelled, the wait ends and the call continues.
    ///
    /// - Throws: The error of the call, also if the service absorbed it (``FlightOutcome/Kind/absorbed``);
    ///   ``NetworkError/Kind/cancelled`` if the call was cancelled, replaced or vetoed, if the result of a later call
    ///   was already delivered, or if the waiting task is cancelled.
    func landing(of flight: FlightID) async throws(NetworkError) -> RawData
    /// Cancels one call, whose result is then not delivered.
    func cancel(_ flight: FlightID)
    /// Cancels every call whose result was not delivered yet.
    func cancelAll()
    /// Removes the last response and the last error.
    func clear()
    /// Uses a reformer to convert the last delivered response into a value for a view. Runs in the caller's isolation.
    func fetch<R: Reformer>(_ reformer: R) throws(NetworkError) -> R.Value
    /// Uses a reformer to convert the body of the response that made the last call fail, for example a JSON error with
    /// advice for the user. Runs in the caller's isolation.
    ///
    /// ```swift
    /// func apiManager(_ manager: any APIManaging, didFailWith error: NetworkError) {
    ///     show((try? manager.fetchFailure(ProblemReformer())) ?? "\(error)")
    /// }
    /// ```
    ///
    /// The response is the ``NetworkError/rawData`` of ``error``. It exists if the call was refused, if the service's
    /// envelope contains an error, or if the response is invalid. Code without a manager can pass the response to the
    /// reformer directly.
    ///
    /// - Throws: A ``NetworkError`` of the step ``FlightStep/reforming`` if the reformer throws, if the last call has
    ///   not failed, or if it failed without a response. The record of the call contains the reformer's error, too.
    func fetchFailure<R: Reformer>(_ reformer: R) throws(NetworkError) -> R.Value
    /// Uses a reformer to convert the last delivered response into a value for a view. Runs off the main actor.
    func fetchConcurrently<R: Reformer & Sendable>(
        _ reformer: R
    ) async throws(NetworkError) -> R.Value where R.Value: Sendable
}

extension APIManaging {
    /// Makes a call with the parameters that the manager's ``ParameterSource`` supplies, and with the default options
    /// of its endpoint.
    @discardableResult public func load() -> FlightID { load(options: .standard) }
}

/// Is notified of the responses and errors of a manager's calls.
///
/// The manager references its delegate weakly. It notifies the delegate on the main actor, once for each result that is
/// delivered, in a turn after `load` has returned. The delegate is not notified of a call that was cancelled, replaced
/// or ignored by the manager, vetoed by an interceptor, or absorbed by the service (``FlightOutcome/Kind/absorbed``). A
/// call that joined another receives the result together with that call.
///
/// If the cache policy has ``CachePolicy/staleWhileRevalidate``, a call may deliver two results. First a stale response
/// is delivered: its ``RawData/source`` is ``ResponseSource/staleCache``, and ``APIManaging/isProvisional`` is true.
/// Then the fresh response is delivered, or the error of its request. A fresh response with the same body replaces the
/// stale one without a second notification.
///
/// ```swift
/// @MainActor final class RentalController: APIManagerDelegate {
///     var state = ""
///
///     func apiManagerDidSucceed(_ manager: any APIManaging) { state = "\(manager.rawData?["total"].int ?? 0) homes" }
///     func apiManager(_ manager: any APIManaging, didFailWith error: NetworkError) { state = "\(error.kind)" }
/// }
/// ```
@MainActor
public protocol APIManagerDelegate: AnyObject {
    /// Called when a call succeeded. ``APIManaging/rawData`` of the manager is its response.
    func apiManagerDidSucceed(_ manager: any APIManaging)
    /// Called when a call failed.
    func apiManager(_ manager: any APIManaging, didFailWith error: NetworkError)
    /// Called when the transfer of a ``DownloadManager`` or ``UploadManager`` has progressed. The default does nothing.
    ///
    /// Called at most thirty times a second for each call, with the latest progress. The last progress is reported
    /// before the result of the call; if the transfer succeeds, it includes all bytes. Not called for a call that was
    /// cancelled or replaced.
    func apiManager(_ manager: any APIManaging, didTransfer progress: TransferProgress, of flight: FlightID)
    /// Called when a call could not be sent and is stored. The call waits; it has neither succeeded nor failed. The
    /// default does nothing.
    ///
    /// The manager's previous response does not change. See ``OfflinePolicy``.
    func apiManager(_ manager: any APIManaging, didQueue change: QueuedChange)
    /// Called when a stored call of this manager was sent and succeeded, was refused by the server, or waited too long.
    /// The default does nothing.
    ///
    /// The response is not stored in the manager, which may already show a later call. In a later run of the app, or
    /// after the manager was released, only the queue's own handler is called. A refused change stays in the queue
    /// until the app decides. If the change is sent again, the manager is notified again.
    func apiManager(
        _ manager: any APIManaging, didReplay change: QueuedChange, with result: Result<RawData, NetworkError>)
}

extension APIManagerDelegate {
    /// Does nothing: the default implementation.
    public func apiManager(_ manager: any APIManaging, didQueue change: QueuedChange) {}
    /// Does nothing: the default implementation.
    public func apiManager(
        _ manager: any APIManaging, didReplay change: QueuedChange, with result: Result<RawData, NetworkError>
    ) {}
    /// Does nothing: the default implementation.
    public func apiManager(
        _ manager: any APIManaging, didTransfer progress: TransferProgress, of flight: FlightID
    ) {}
}

/// Supplies the parameters of the calls that ``APIManager/load(options:)`` makes.
///
/// The manager references its source weakly and calls it on the main actor. One source may supply several managers.
///
/// ```swift
/// final class SearchField: ParameterSource {
///     var text = ""
///
///     func endpoint(for manager: any APIManaging) -> (any Endpoint)? {
///         text.isEmpty ? nil : RentalList(city: text)
///     }
/// }
/// ```
@MainActor
public protocol ParameterSource: AnyObject {
    /// Returns the call to make now. The call fails as ``NetworkError/Kind/invalidParameters`` if the result is `nil`
    /// or not of the manager's endpoint type.
    func endpoint(for manager: any APIManaging) -> (any Endpoint)?
}

/// Checks the parameters and the responses of a manager, after the endpoint's own checks.
///
/// The manager references its validator weakly and calls it on the main actor.
///
/// ```swift
/// final class CityValidator: Validator {
///     func apiManager(_ manager: any APIManaging, validate endpoint: any Endpoint) throws {
///         guard let list = endpoint as? RentalList, !list.city.isEmpty else { throw MissingCity() }
///     }
/// }
/// ```
@MainActor
public protocol Validator: AnyObject {
    /// Checks the parameters of a call after interceptors have changed them. The default accepts all parameters.
    ///
    /// - Throws: The reason for refusing the parameters. The call fails as ``NetworkError/Kind/invalidParameters`` and
    ///   no request is sent. A `NetworkError` is passed on unchanged. For the text that records show of other errors,
    ///   see ``NetworkError/detail``.
    func apiManager(_ manager: any APIManaging, validate endpoint: any Endpoint) throws
    /// Checks a response that the service and the endpoint have accepted. The default accepts all responses.
    ///
    /// - Throws: The reason for refusing the response. The call fails as ``NetworkError/Kind/invalidResponse``. A
    ///   `NetworkError` is passed on unchanged. For the text that records show of other errors, see
    ///   ``NetworkError/detail``.
    func apiManager(_ manager: any APIManaging, validateResponse rawData: RawData) throws
}

extension Validator {
    /// Accepts everything: the default implementation.
    public func apiManager(_ manager: any APIManaging, validate endpoint: any Endpoint) {}
    /// Accepts everything: the default implementation.
    public func apiManager(_ manager: any APIManaging, validateResponse rawData: RawData) {}
}

struct WeakManager: Sendable {
    weak var manager: (any APIManaging)?
}
