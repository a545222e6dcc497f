import RunwayFormats
import RunwayJSON

/// Decides which events of a connection reach the app, and where a reconnection continues. Pure.
///
/// With a Runway server it checks every position: it drops duplicates of earlier events, reports a gap if the server
/// left events out, and reports a reset if the server continued elsewhere. Ids of other servers are opaque.
struct EventIntake: Sendable {
    /// An output that follows from a received item.
    enum Output: Sendable, Equatable {
        /// Deliver the event. A reconnection continues at `id` once the app has taken the event.
        case event(ServerSentEvent, id: String)
        /// Tell the app how this connection continues the last one.
        case continuity(StreamContinuity, id: String)
        /// All missed events have been delivered: later events are new.
        case caughtUp(id: String)
        /// A reconnection continues here, once the app has taken all earlier events.
        case position(String)
        /// The server asks for a reconnection time.
        case retry(Duration)
        /// The server names the connection that it has opened, for later calls about it, and the topics that it does
        /// not allow.
        case connection(String, refused: Set<String>)
    }

    /// The longest id that is sent back to a server, in bytes.
    static let maximumIDByteCount = 1024

    /// The id that a connection is to continue after; empty if there is none.
    private(set) var lastEventID: String
    /// The stream's name, as the server reported it; empty if it reported none.
    private(set) var stream: String
    /// The number of events that were dropped as duplicates.
    private(set) var duplicateCount = 0

    private var isFirst = true
    private var isRunway = false
    /// Whether the server still has to state how the connection continues the last one.
    private var awaitsOpening = false
    /// Whether the server still has to state that it has sent all missed events.
    private var awaitsLive = false
    private var asked = ""
    private var place: EventID?

    init(after cursor: StreamCursor?) {
        stream = cursor?.stream ?? ""
        lastEventID = cursor.map { Self.isUsable($0.lastEventID) ? $0.lastEventID : "" } ?? ""
    }

    /// Starts a connection that was asked for with ``lastEventID``.
    ///
    /// - Parameter name: The name of the stream, which only a Runway server states; otherwise `nil`.
    mutating func begin(_ name: String?) -> [Output] {
        defer { isFirst = false }
        isRunway = name != nil
        asked = lastEventID
        (awaitsOpening, awaitsLive) = (isRunway, isRunway)
        // A position in another stream has no meaning in this one.
        place = isRunway && (stream.isEmpty || stream == name) ? EventID(lastEventID) : nil
        stream = name ?? ""
        if isRunway { return [] }
        let reset: StreamReset = isFirst ? .first : .noIDs
        return [.continuity(asked.isEmpty ? .reset(reset) : .resumed, id: asked)]
    }

    mutating func read(_ item: EventParser.Item) -> [Output] {
        switch item {
        case .retry(let time): return [.retry(time)]
        case .id(let id): return moved(to: id)
        case .event(let event):
            guard isRunway else {
                lastEventID = Self.isUsable(event.id) ? event.id : ""
                return [.event(event, id: lastEventID)]
            }
            return event.type.hasPrefix(StreamControl.typePrefix) ? controlled(by: event) : received(event)
        }
    }

    /// Notes that a position arrived without an event, for example with a heartbeat.
    private mutating func moved(to id: String) -> [Output] {
        guard isRunway else {
            lastEventID = Self.isUsable(id) ? id : ""
            return [.position(lastEventID)]
        }
        guard !awaitsOpening, let new = EventID(id), let place, new.epoch == place.epoch, new.offset > place.offset
        else {
            return []
        }
        self.place = new
        lastEventID = id
        return [.position(id)]
    }

    /// Notes that the server stated how the connection continues the last one, that events are missing in its middle,
    /// or that all missed events were sent.
    private mutating func controlled(by event: ServerSentEvent) -> [Output] {
        guard let control = StreamControl(type: event.type, data: event.data) else { return [] }
        if control.kind == .live { return caughtUp(at: event.id) }
        let before = place
        let isOpening = awaitsOpening
        awaitsOpening = false
        var connection: [Output] = []
        if isOpening, let id = control.connection {
            connection = [.connection(id, refused: control.refusedTopics)]
        }
        switch control.kind {
        case .resumed:
            guard isOpening else { return connection }
            guard let before, let from = control.from, from.epoch == before.epoch
            else {
                return connection + reset(.invalid, at: event.id)
            }
            if from.offset > before.offset {
                return connection + gap(EventID(epoch: from.epoch, offset: before.offset + 1), from)
            }
            return connection + [.continuity(.resumed, id: lastEventID)]
        case .gap:
            guard let before, let from = control.from,
                let to = control.to, from.epoch == before.epoch,
                to.epoch == before.epoch,
                from.offset <= to.offset, to.offset > before.offset
            else { return connection + reset(.invalid, at: event.id) }
            return connection + gap(EventID(epoch: from.epoch, offset: min(from.offset, before.offset + 1)), to)
        case .reset:
            return connection + reset(before == nil && isOpening ? .first : .serverLost, at: event.id)
        case .live: return []
        }
    }

    /// Notes that the server has sent all missed events. It states that once on each connection.
    private mutating func caughtUp(at id: String) -> [Output] {
        guard awaitsLive, !awaitsOpening else { return [] }
        awaitsLive = false
        return moved(to: id) + [.caughtUp(id: lastEventID)]
    }

    private mutating func received(_ event: ServerSentEvent) -> [Output] {
        var outputs: [Output] = []
        let new = EventID(event.id)
        if awaitsOpening || new == nil || place == nil || new?.epoch != place?.epoch {
            awaitsOpening = false
            // The event itself is new: the stream begins anew at the position before it.
            outputs = reset(
                .invalid, at: new.map { EventID(epoch: $0.epoch, offset: max(0, $0.offset - 1)).description } ?? "")
        } else if let new, let place, new.offset <= place.offset {
            duplicateCount += 1
            return []
        }
        place = new
        lastEventID = new == nil ? "" : event.id
        return outputs + [.event(event, id: lastEventID)]
    }

    private mutating func gap(_ from: EventID, _ to: EventID) -> [Output] {
        place = to
        lastEventID = to.description
        return [.continuity(.gap(from: from, to: to), id: lastEventID)]
    }

    private mutating func reset(_ reason: StreamReset, at id: String) -> [Output] {
        place = EventID(id)
        lastEventID = place == nil ? "" : id
        return [.continuity(.reset(reason), id: lastEventID)]
    }

    /// Returns whether an id can be sent as the value of a header field, where control characters other than tabs are
    /// not allowed.
    private static func isUsable(_ id: String) -> Bool {
        id.utf8.count <= maximumIDByteCount && id.utf8.allSatisfy { ($0 >= 0x20 || $0 == 0x09) && $0 != 0x7F }
    }
}
