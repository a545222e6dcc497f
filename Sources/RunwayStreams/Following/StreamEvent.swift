public import Runway
public import RunwayFormats
public import RunwayJSON

/// One event of a stream. Its data is read on demand.
///
/// ```swift
/// let price = event.rawData["price"].double
/// let rental = try event.decode(Rental.self)
/// let row = try event.reform(with: PropertyReformer())
/// ```
public struct StreamEvent: Sendable {
    /// The type of the event; `message` if the server sent none.
    public let type: String
    /// The topic of the event; `nil` if the server sent none.
    public let topic: String?
    /// The id of the event; empty if the server sent none.
    public let id: String
    /// The data of the event, UTF-8 text.
    public let rawData: RawData
    /// The endpoint of the stream. It is passed to reformers.
    public let endpoint: any Endpoint

    init(_ event: ServerSentEvent, of endpoint: any Endpoint) {
        type = event.type
        topic = event.topic
        id = event.id
        rawData = RawData(Array(event.data.utf8))
        self.endpoint = endpoint
    }

    /// The position of the event in its stream; `nil` if the server is not a Runway server.
    public var place: EventID? { EventID(id) }

    /// The data of the event as text.
    public var text: String { String(decoding: rawData.bytes, as: UTF8.self) }

    /// Decodes the data from JSON.
    ///
    /// - Parameters:
    ///   - type: The type of the model.
    ///   - path: The names of the members that lead from the JSON's root to the model. The default is the root.
    ///   - decoder: Decodes keys and dates. The default leaves keys unchanged, and reads dates as seconds since 2001.
    /// - Throws: `NetworkError.Kind.invalidResponse` if the data is not JSON, has no value at the path, or the value
    ///   does not have the type.
    public func decode<Value: Decodable & Sendable>(
        _ type: Value.Type, at path: String..., decoder: JSONDocumentDecoder = JSONDocumentDecoder()
    ) throws(NetworkError) -> Value {
        do {
            let value = try path.reduce(rawData.json) { $0[$1] }.require(JSONValue.self)
            return try decoder.decode(Value.self, from: value)
        } catch {
            throw invalid("\(type)", error)
        }
    }

    /// Converts the data with a reformer into a value for a view. The reformer runs in the isolation of the caller.
    ///
    /// - Throws: `NetworkError.Kind.invalidResponse`, with the reformer's error as `NetworkError.underlying`.
    public func reform<R: Reformer>(with reformer: R) throws(NetworkError) -> R.Value {
        do { return try reformer.reform(rawData, from: endpoint) } catch { throw invalid("\(R.self)", error) }
    }

    private func invalid(_ what: String, _ error: any Error) -> NetworkError {
        if let error = error as? NetworkError { return error }
        var located = NetworkError(
            .invalidResponse, in: .reforming,
            "The event of type \(type.debugDescription) could not be read as \(what).",
            underlying: error)
        located.rawData = rawData
        return located
    }
}

/// How a new connection continues the events before it. Every connection starts with exactly one continuity.
///
/// A switch needs a `default`, since later versions may add cases.
public enum StreamContinuity: Sendable, Hashable, CustomStringConvertible {
    /// No event was missed: the connection continues after the last event. For a Runway server, the client has checked
    /// this. Any other server that sends ids is trusted, since the client can't see whether the server still had all
    /// events after the last id.
    case resumed
    /// The events from the first position to the second, both included, are lost. The connection continues after them.
    case gap(from: EventID, to: EventID)
    /// The connection does not continue the earlier events, for the associated reason. Reload the shown data.
    case reset(StreamReset)

    /// A short text, for logs.
    public var description: String {
        switch self {
        case .resumed: "resumed"
        case .gap(let from, let to): "gap from \(from) to \(to)"
        case .reset(let reason): "reset: \(reason)"
        }
    }
}

/// The reason why a connection does not continue the earlier events.
public struct StreamReset: Sendable, Hashable, CustomStringConvertible {
    private enum Code: String { case first, serverLost, noIDs, invalid, topics }

    private let code: Code

    private init(_ code: Code) { self.code = code }

    /// The connection is the stream's first.
    public static let first = StreamReset(.first)
    /// The server no longer has the events that the cursor refers to.
    public static let serverLost = StreamReset(.serverLost)
    /// The server sends no ids, so no connection can continue an earlier one.
    public static let noIDs = StreamReset(.noIDs)
    /// The server continued at another position than requested, or reported no position.
    public static let invalid = StreamReset(.invalid)
    /// The connection has a wanted topic whose earlier events were not sent to this client. The server refused it
    /// before, or the app did not want it when the cursor was stored. The connection continues after the last event.
    public static let topics = StreamReset(.topics)

    /// The name of the reason, one word. It does not change between releases.
    public var name: String { code.rawValue }

    /// The same text as ``name``.
    public var description: String { name }
}

/// An element of an ``EventSequence``. A switch needs a `default`, since later versions may add cases.
public enum StreamElement: Sendable {
    /// The server sent an event.
    case event(StreamEvent)
    /// A connection began; see ``StreamContinuity``.
    case continuity(StreamContinuity)
    /// All missed events were returned: later ones are new. Returned once per connection, and only for Runway servers.
    case caughtUp
}
