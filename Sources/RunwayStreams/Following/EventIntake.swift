import RunwayFormats
import RunwayJSON

/// Decides which events of a connection are delivered, and where a reconnection continues. A pure state machine.
///
/// For a Runway server, it checks the position of every event. It drops duplicates, reports a gap if events are
/// missing, and reports a reset if the server continued at another position. Ids of other servers are opaque.
struct EventIntake: Sendable {
    /// An action that follows from a received item.
    enum Output: Sendable, Equatable {
        /// Deliver the event. When the app has processed it, a reconnection continues at `id`.
        case event(ServerSentEvent, id: String)
        /// Report to the app how this connection continues the previous one.
        case continuity(StreamContinuity, id: String)
        /// Report that all missed events were delivered, so that later events are new.
        case caughtUp(id: String)
        /// Let the next connection continue at this position once the app has processed all earlier events.
        case position(String)
        /// Use this reconnection time, which the server asks for.
        case retry(Duration)
        /// Store the id of the connection, for later calls about it, and the topics that the server refuses.
        case connection(String, refused: Set<String>)
    }

    /// The maximum size of an id that is sent back to a server, in bytes.
    static let maximumIDByteCount = 1024

    /// The id after which a connection should continue; empty before the first id.
    private(set) var lastEventID: String
    /// The name of the stream, as the server reported it; empty if it reported none.
    private(set) var stream: String
    /// The number of events that were dropped as duplicates.
    private(set) var duplicateCount = 0

    private var isFirst = true
    private var isRunway = false
    /// Whether the server still has to report how the connection continues the previous one.
    private var awaitsOpening = false
    /// Whether the server still has to report that it has sent all missed events.
    private var awaitsLive = false
    private var asked = ""
    private var place: EventID?

    init(after cursor: StreamCursor?) {
        stream = cursor?.stream ?? ""
        lastEventID = cursor.map { Self.isUsable($0.lastEventID) ? $0.lastEventID : "" } ?? ""
    }

    /// Starts a connection that was requested with ``lastEventID``.
    ///
    /// - Parameter name: The name of the stream from a Runway server; `nil` for any other server.
    mutating func begin(_ name: String?) -> [Output] {
        defer { isFirst = false }
        isRunway = name != nil
        asked = lastEventID
        (awaitsOpening, awaitsLive) = (isRunway, isRunway)
        // A position in another stream has no meaning in this stream.
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

    /// Processes a position without an event, for example from a heartbeat.
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

    /// Processes a control event: a connection began, events are missing, or all missed events were sent.
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

    /// Processes the report that the server has sent all missed events. A server reports this once per connection.
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
            // This event is new, so the stream starts again at the position before it.
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

    /// Returns whether an id can be the value of a header field: it has no control characters except the tab.
    private static func isUsable(_ id: String) -> Bool {
        id.utf8.count <= maximumIDByteCount && id.utf8.allSatisfy { ($0 >= 0x20 || $0 == 0x09) && $0 != 0x7F }
    }
}
