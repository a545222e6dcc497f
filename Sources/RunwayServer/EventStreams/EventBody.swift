import Hummingbird
import NIOCore
import RunwayFormats
import ServiceLifecycle

/// The body of one event stream: its opening, the missed events, and then new events.
struct EventBody: Sendable {
    /// The maximum number of bytes that are combined in one write. A larger frame has its own write.
    private static let maximumWriteByteCount = 256 << 10

    let registration: EventRegistration
    /// The body of the request. After its end, the connection is observed for a disconnection.
    let request: RequestBody
    let lastEventID: String?
    let padding: Int

    private var hub: EventHub { registration.hub }
    private var connection: EventConnection { registration.connection }

    /// Writes the body until the connection ends, the client disconnects or the server shuts down.
    @concurrent func write(to writer: inout any ResponseBodyWriter) async throws {
        defer {
            connection.finish(.disconnected)
            hub.close(connection)
        }
        guard request.canObserveDisconnection else { return try await writeUntilEnd(to: &writer) }
        try await request.consumeWithInboundCloseHandler { body in
            // If the parts of the body were not read, the observation of the connection would stop after the fifth
            // part.
            async let _: Void = Self.discard(body)
            try await writeUntilEnd(to: &writer)
        } onInboundClosed: { [connection] in
            connection.finish(.disconnected)
        }
    }

    @concurrent private static func discard(_ body: RequestBody) async {
        do { for try await _ in body {} } catch {}
    }

    @concurrent private func writeUntilEnd(to writer: inout any ResponseBodyWriter) async throws {
        // Only the child task uses the writer, and the parent waits for the child.
        nonisolated(unsafe) var writing = writer
        try await withGracefulShutdownHandler {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await run(&writing) }
                // When the connection ends, this task ends a write that waits for a slow client.
                group.addTask { await waitForEnd() }
                _ = try await group.next()
                if connection.end == .lifetime || connection.end == .draining {
                    // A write in progress may still finish for a short time; then a client that reads nothing is
                    // disconnected.
                    group.addTask { try? await hub.clock.sleep(min(hub.options.writeTimeout, .seconds(5))) }
                    _ = try await group.next()
                }
                group.cancelAll()
                try await group.waitForAll()
            }
        } onGracefulShutdown: {
            hub.drain()
        }
        writer = writing
        try await writer.finish(nil)
    }

    private func waitForEnd() async {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        connection.onEnd { continuation.finish() }
        for await _ in stream {}
    }

    @concurrent private func run(_ writer: inout any ResponseBodyWriter) async throws {
        defer { connection.finish(.disconnected) }
        try await write([opening()], &writer)
        // Only this task changes the offset until the connection is live.
        var place = connection.offset
        while !hub.goLive(connection) {
            guard connection.end == nil else { return }
            try await replay(&writer)
            place = connection.offset
        }
        guard connection.end == nil else { return }
        try await write([EventFrame.control(StreamControl(.live), at: EventID(of: hub.epoch, place))], &writer)
        while let frames = await connection.next() { try await write(frames, &writer) }
    }

    @concurrent private func write(_ frames: [ByteBuffer], _ writer: inout any ResponseBodyWriter) async throws {
        guard var whole = frames.first else { return }
        for frame in frames.dropFirst() {
            if whole.readableBytes + frame.readableBytes <= Self.maximumWriteByteCount {
                whole.writeImmutableBuffer(frame)
            } else {
                try await write(whole, &writer)
                whole = frame
            }
        }
        try await write(whole, &writer)
    }

    @concurrent private func write(_ whole: ByteBuffer, _ writer: inout any ResponseBodyWriter) async throws {
        connection.beginWrite(at: hub.clock.now)
        try await writer.write(whole)
        connection.endWrite(at: hub.clock.now)
    }

    /// Returns the first bytes: padding, the reconnection time, and an event that reports whether the last connection
    /// is resumed.
    private func opening() -> ByteBuffer {
        var buffer = ByteBuffer()
        if padding > 0 { buffer.writeString(":" + String(repeating: " ", count: padding) + "\n\n") }
        if let time = hub.options.reconnectionTime {
            buffer.writeString("retry: \(Int64(time / .milliseconds(1)))\n\n")
        }
        let range = hub.range
        var control = StreamControl(
            .reset, connection: connection.id, refusedTopics: connection.refusedTopics)
        var place = EventID(of: range.epoch, range.last)
        if let offset = lastEventID.flatMap({ offset($0, in: range) }) {
            if offset + 1 < range.first {
                buffer.writeImmutableBuffer(gap(after: offset, before: range.first, control))
                return buffer
            }
            place = EventID(of: range.epoch, offset)
            (control.kind, control.from) = (.resumed, place)
        }
        connection.offset = place.offset
        buffer.writeImmutableBuffer(EventFrame.control(control, at: place))
        return buffer
    }

    /// Returns the offset in an event id. Returns `nil` if the id is of another epoch, malformed, or of an event that
    /// the log never had.
    private func offset(_ id: String, in range: EventLogRange) -> Int64? {
        guard let place = EventID(id), place.epoch == range.epoch, place.offset <= range.last else { return nil }
        return place.offset
    }

    private func gap(
        after offset: Int64, before first: Int64, _ opening: StreamControl = StreamControl(.gap)
    ) -> ByteBuffer {
        connection.offset = first - 1
        var control = opening
        control.kind = .gap
        (control.from, control.to) = (EventID(of: hub.epoch, offset + 1), EventID(of: hub.epoch, first - 1))
        return EventFrame.control(control, at: EventID(of: hub.epoch, first - 1))
    }

    /// Writes a page of the stored events after the connection's offset. If a page has no event for the client, it
    /// writes a heartbeat with the offset after the page. During a long replay, the client thus stays connected, and a
    /// resumed replay continues at that offset.
    @concurrent private func replay(_ writer: inout any ResponseBodyWriter) async throws {
        let (offset, last) = (connection.offset, hub.range.last)
        let page = try await hub.events(after: offset, for: connection)
        // The log may have removed events since the connection began. If the page has no events, all events up to
        // `last` are lost.
        let first = page.events.isEmpty ? max(page.first, last + 1) : page.first
        var frames: [ByteBuffer] = []
        let topics = connection.topics
        // An ended connection may have lost topics, so its offset must stay before the events of these topics.
        guard connection.end == nil else { return }
        if first > offset + 1 { frames.append(gap(after: offset, before: first)) }
        for (index, event) in page.events.enumerated() where topics?.contains(event.topic) ?? true {
            frames.append(EventFrame.event(event, hub.epoch, first + Int64(index)))
        }
        let place = first + Int64(page.events.count) - 1
        connection.offset = place
        if frames.isEmpty { frames.append(EventFrame.heartbeat(hub.epoch, place)) }
        try await write(frames, &writer)
    }
}

/// An open connection of a hub. Releasing the last reference removes it from the hub, even if its response is never
/// written.
final class EventRegistration: Sendable {
    let hub: EventHub
    let connection: EventConnection

    init(_ connection: EventConnection, in hub: EventHub) { (self.connection, self.hub) = (connection, hub) }

    deinit {
        connection.finish(.disconnected)
        hub.close(connection)
    }
}
