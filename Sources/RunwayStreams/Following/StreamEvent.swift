public import Runway
public import RunwayFormats
public import RunwayJSON

/// One event of a stream, with its data read on demand.
///
/// ```swift
/// let price = event.rawData["price"].double
/// let rental = try event.decode(Rental.self)
/// let row = try event.reform(with: PropertyReformer())
/// ```
public struct StreamEvent: Sendable {
    /// The type of the event; `message` if the server named none.
    public let type: String
    /// The topic of the event; `nil` if the server named none.
    public let topic: String?
    /// The id of the event; empty if the server sends none.
    public let id: String
    /// The data, as the bytes of UTF-8 text.
    public let rawData: RawData
    /// The endpoint of the stream, which is passed to reformers.
    public let endpoint: any Endpoint

    init(_ event: ServerSentEvent, of endpoint: any Endpoint) {
        type = event.type
        topic = event.topic
        id = event.id
        rawData = RawData(Array(event.data.utf8))
        self.endpoint = endpoint
    }

    /// The position of the event in its stream; `nil` for servers other than Runway's.
    public var place: EventID? { EventID(id) }

    /// The data as text.
    public var text: String { String(decoding: rawData.bytes, as: UTF8.self) }

    /// Decodes the data from JSON.
    ///
    /// - Parameters:
    ///   - type: The type of the model.
    ///   - path: The names of the members that lead from the root of the data to the model. The default is the root.
    ///   - decoder: Decodes keys and dates. The default leaves keys unchanged and reads dates as seconds since 2001.
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

    /// Converts the data into a value for a view by a reformer, in the isolation of the caller.
    ///
    /// - Throws: `NetworkError.Kind.invalidResponse` with the error of the reformer as its `NetworkError.underlying`.
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

/// The relation of a new connection to the events before it. Every connection begins with exactly one continuity.
///
/// A switch needs a `default`, since later versions may add cases.
public enum StreamContinuity: Sendable, Hashable, CustomStringConvertible {
    /// No event was missed: the connection continues after the last event. With Runway's servers the client has checked
    /// that. Any other server that has sent ids is trusted: the client can't see whether the server still had all
    /// events after the last id.
    case resumed
    /// The events from one position to another, both included, are lost. The connection continues after them.
    case gap(from: EventID, to: EventID)
    /// The connection does not continue the earlier events, for this reason: reload the data that the app shows.
    case reset(StreamReset)

    /// The continuity in a few words.
    public var description: String {
        switch self {
        case .resumed: "resumed"
        case .gap(let from, let to): "gap from \(from) to \(to)"
        case .reset(let reason): "reset: \(reason)"
        }
    }
}

/// The reason why a stream begins anew.
public struct StreamReset: Sendable, Hashable, CustomStringConvertible {
    private enum Code: String { case first, serverLost, noIDs, invalid, topics }

    private let code: Code

    private init(_ code: Code) { self.code = code }

    /// The connection is the stream's first.
    public static let first = StreamReset(.first)
    /// The server has other events than those that the cursor refers to.
    public static let serverLost = StreamReset(.serverLost)
    /// The server sends no ids, so that no connection can continue another.
    public static let noIDs = StreamReset(.noIDs)
    /// The server continued at another position than the requested one, or stated no position.
    public static let invalid = StreamReset(.invalid)
    /// The server allows a wanted topic that it had refused, or the app wants a topic that it did not follow when the
    /// cursor was stored: earlier events of that topic were not sent to this client. The connection continues after the
    /// last event, with all topics.
    public static let topics = StreamReset(.topics)

    /// The reason in one word, which is the same in all releases.
    public var name: String { code.rawValue }

    /// The reason in one word.
    public var description: String { name }
}

/// An element that a stream returns to its reader. A switch needs a `default`, since later versions may add cases.
public enum StreamElement: Sendable {
    /// An event.
    case event(StreamEvent)
    /// A connection began; see ``StreamContinuity``.
    case continuity(StreamContinuity)
    /// All missed events have been returned: later events are new. Returned once on each connection, and only with
    /// Runway's servers.
    case caughtUp
}
