/// A step in the path of one call: a stage of the pipeline, or a step before or after the stages.
///
/// Errors and decisions name the step that they come from; ``RequestPipeline`` names its places, so that an app's own
/// stage can stand before or after each of them. A later version may add steps: a switch over them needs a `default`.
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

    /// The step's name in the JSON of a record.
    public var description: String {
        if case .customStage(let name) = code { name } else { "\(code)" }
    }

    /// The step's name in words, for texts that people read: "offline queue". The name of an app's own stage is
    /// unchanged.
    package var text: String {
        if case .customStage(let name) = code { return name }
        return "\(code)".map { $0.isUppercase ? " \($0.lowercased())" : "\($0)" }.joined()
    }

    /// Returns the step of an app's own stage, by its name.
    public static func customStage(_ name: String) -> FlightStep { FlightStep(.customStage(name)) }
}

/// Steps before the stages.
extension FlightStep {
    /// The endpoint completes its parameters; interceptors see them.
    public static let preparing = FlightStep(.preparing)
    /// Parameters are checked.
    public static let validating = FlightStep(.validating)
    /// The manager's overlap policy decides.
    public static let overlapping = FlightStep(.overlapping)
    /// The endpoint becomes an HTTP request.
    public static let assembling = FlightStep(.assembling)
}

/// The places of the pipeline, from the caller down to the wire. `DefaultStages.swift` lists which of them have a
/// stage.
extension FlightStep {
    /// Limits the time of the whole call.
    public static let deadline = FlightStep(.deadline)
    /// Responds from the cache, and shares one request among identical reads in flight.
    public static let reading = FlightStep(.reading)
    /// Stores a change that was made without a network, to be sent later.
    public static let offlineQueue = FlightStep(.offlineQueue)
    /// Refuses calls that cannot succeed now, and limits how many are in flight.
    public static let admission = FlightStep(.admission)
    /// Makes further attempts.
    public static let retrying = FlightStep(.retrying)
    /// Adds the access token and renews it.
    public static let authorizing = FlightStep(.authorizing)
    /// Merges several requests into one.
    public static let merging = FlightStep(.merging)
    /// Follows redirects.
    public static let redirecting = FlightStep(.redirecting)
    /// Upgrades requests to hosts that require TLS, or refuses them.
    public static let securing = FlightStep(.securing)
    /// Sends and stores cookies.
    public static let cookies = FlightStep(.cookies)
    /// Compresses the body of the request.
    public static let compressing = FlightStep(.compressing)
    /// Sends a slow read a second time beside the first.
    public static let hedging = FlightStep(.hedging)
    /// Chooses the address of the host.
    public static let routing = FlightStep(.routing)
    /// Signs the request as it is sent.
    public static let signing = FlightStep(.signing)
    /// The service judges the response.
    public static let judging = FlightStep(.judging)
}

/// Steps below and after the stages.
extension FlightStep {
    /// Bytes are on the wire.
    public static let transporting = FlightStep(.transporting)
    /// The body of the response is written to a file.
    public static let saving = FlightStep(.saving)
    /// The response is checked.
    public static let checking = FlightStep(.checking)
    /// The manager stores the response and notifies its delegate.
    public static let landing = FlightStep(.landing)
    /// A reformer converts the response into a value for a view.
    public static let reforming = FlightStep(.reforming)
}
