/// A step in the path of one call: a stage of the pipeline, or a step before or after the stages.
///
/// Errors and decisions name the step that they come from. ``RequestPipeline`` uses steps to name its places, so that
/// an app can insert its own stages. Later versions may add steps, so a switch needs a `default`.
public struct FlightStep: Sendable, Hashable, CustomStringConvertible {
    private enum Code: Hashable {
        case preparing, validating, overlapping, assembling
        case deadline, reading, offlineQueue, admission, retrying, authorizing, merging, redirecting, securing, cookies
        case compressing, hedging, routing, signing, judging
        case transporting, saving, checking, landing, reforming
        case customStage(String)
    }

    private let code: Code

    private init(_ code: Code) { self.code = code }

    /// The name of the step in the JSON of a record.
    public var description: String {
        if case .customStage(let name) = code { name } else { "\(code)" }
    }

    /// The name of the step in words, for readers, such as "offline queue". The name of an app's stage is unchanged.
    package var text: String {
        if case .customStage(let name) = code { return name }
        return "\(code)".map { $0.isUppercase ? " \($0.lowercased())" : "\($0)" }.joined()
    }

    /// Returns the step of an app's stage with this name.
    public static func customStage(_ name: String) -> FlightStep { FlightStep(.customStage(name)) }
}

/// Steps before the stages.
extension FlightStep {
    /// The endpoint completes its parameters, and interceptors may change them.
    public static let preparing = FlightStep(.preparing)
    /// The endpoint and the validator check the parameters.
    public static let validating = FlightStep(.validating)
    /// The manager's overlap policy decides whether the call is made.
    public static let overlapping = FlightStep(.overlapping)
    /// The request is created from the endpoint.
    public static let assembling = FlightStep(.assembling)
}

/// The places of the pipeline, from the caller to the transport. `DefaultStages.swift` lists which of them have a
/// stage.
extension FlightStep {
    /// Limits the time of the whole call.
    public static let deadline = FlightStep(.deadline)
    /// Responds from the cache, and shares one request among identical reads in flight.
    public static let reading = FlightStep(.reading)
    /// Stores changes that can't be sent, to send them later.
    public static let offlineQueue = FlightStep(.offlineQueue)
    /// Refuses calls that can't succeed now, and limits the number of calls in flight.
    public static let admission = FlightStep(.admission)
    /// Makes further attempts after temporary failures.
    public static let retrying = FlightStep(.retrying)
    /// Adds the access token, and renews it if necessary.
    public static let authorizing = FlightStep(.authorizing)
    /// Merges several requests into one.
    public static let merging = FlightStep(.merging)
    /// Follows redirects to the next request.
    public static let redirecting = FlightStep(.redirecting)
    /// Refuses requests without TLS unless the service allows them. Upgrades requests to hosts that require TLS.
    public static let securing = FlightStep(.securing)
    /// Adds cookies to requests, and stores cookies of responses.
    public static let cookies = FlightStep(.cookies)
    /// Compresses the body of the request.
    public static let compressing = FlightStep(.compressing)
    /// Sends a second attempt of a slow read in parallel.
    public static let hedging = FlightStep(.hedging)
    /// Chooses the address of the host.
    public static let routing = FlightStep(.routing)
    /// Signs the request as it is sent.
    public static let signing = FlightStep(.signing)
    /// Asks the service for its verdict on the response.
    public static let judging = FlightStep(.judging)
}

/// Steps after the stages.
extension FlightStep {
    /// The transport sends the request and receives the response.
    public static let transporting = FlightStep(.transporting)
    /// The response body is written to a file.
    public static let saving = FlightStep(.saving)
    /// The endpoint and the validator check the response.
    public static let checking = FlightStep(.checking)
    /// The manager stores the response or error, and notifies its delegate.
    public static let landing = FlightStep(.landing)
    /// A reformer converts the response into a value for a view.
    public static let reforming = FlightStep(.reforming)
}
