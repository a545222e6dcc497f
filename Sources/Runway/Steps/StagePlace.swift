/// The named places of the pipeline, from the caller down to the wire.
///
/// `DefaultStages.swift` lists which of them has a stage; a custom stage goes before or after any of them.
public enum StagePlace: Int, Sendable, CaseIterable, Comparable {
    /// Bounds the whole call in time.
    case deadline
    /// Responds from the cache, and shares one request among identical reads in flight.
    case reading
    /// Stores a change that was made without a network, to be sent later.
    case offlineQueue
    /// Refuses at once a call that cannot succeed now, and limits how many are in flight.
    case admission
    /// Makes further attempts.
    case retrying
    /// Adds the access token and renews it.
    case authorizing
    /// Merges several requests into one.
    case merging
    /// Follows redirects.
    case redirecting
    /// Upgrades requests to hosts that require TLS, or refuses them.
    case securing
    /// Sends and stores cookies.
    case cookies
    /// Compresses the body of the request.
    case compressing
    /// Sends a slow read a second time beside the first.
    case hedging
    /// Chooses the address of the host.
    case routing
    /// Signs what is sent.
    case signing
    /// Lets the service judge the response.
    case judging

    /// Whether `lhs` is nearer to the caller than `rhs`.
    public static func < (lhs: StagePlace, rhs: StagePlace) -> Bool { lhs.rawValue < rhs.rawValue }
}

/// A step in the path of one call: the stages, and what comes before and after them.
public enum FlightStep: Sendable, Hashable, CustomStringConvertible {
    /// The endpoint completes its parameters; interceptors see them.
    case preparing
    /// Parameters are checked.
    case validating
    /// The manager's overlap policy decides.
    case overlapping
    /// The endpoint becomes an HTTP request.
    case assembling
    /// A stage of the pipeline.
    case stage(StagePlace)
    /// A stage of the app's own, by its name.
    case customStage(String)
    /// Bytes are on the wire.
    case transporting
    /// The body of the response is written to a file.
    case saving
    /// The response is checked.
    case checking
    /// The manager stores the response and notifies its delegate.
    case landing
    /// A reformer converts the response into what a view shows.
    case reforming

    /// The step's name, as logs show it.
    public var description: String {
        switch self {
        case .preparing: "preparing"
        case .validating: "validating"
        case .overlapping: "overlapping"
        case .assembling: "assembling"
        case .stage(let place): "\(place)"
        case .customStage(let name): name
        case .transporting: "transporting"
        case .saving: "saving"
        case .checking: "checking"
        case .landing: "landing"
        case .reforming: "reforming"
        }
    }
}
