import Foundation
import HTTPTypes
import Hummingbird
import Logging
import MetricsTestKit
import NIOCore
import RunwayServer
import RunwayTesting
import Synchronization

/// Where a request of these tests comes from.
struct HubClientSource: RequestContextSource {
    let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
    /// What the client may follow.
    let permission: EventPermission
}

struct HubClientContext: RequestContext {
    typealias Source = HubClientSource

    var coreContext: CoreRequestContextStorage
    let permission: EventPermission

    init(source: HubClientSource) {
        coreContext = CoreRequestContextStorage(source: source)
        permission = source.permission
    }
}

/// A hub on a manual clock and its route, which tests call without a socket: they decide what of a body is read, and when.
struct HubUnderTest: Sendable {
    let hub: EventHub
    let clock = ManualClock()
    let metrics = TestMetrics()
    private let responder: RouterResponder<HubClientContext>

    init(_ log: any EventLog = MemoryEventLog(), _ change: (inout EventHubOptions) -> Void = { _ in }) async throws {
        var options = EventHubOptions()
        change(&options)
        hub = try await EventHub(name: "news", log: log, options: options, clock: clock, metrics: metrics)
        let router = Router(context: HubClientContext.self)
        EventStreamRoute(hub) { _, context in context.permission }.add(to: router, path: "news")
        responder = router.buildResponder()
    }

    func publish(_ texts: String..., topic: String = "all") async throws {
        for text in texts { try await hub.publish(PublishedEvent(topic: topic, data: text)) }
    }

    /// Sends a request and returns the response, whose body is not written yet.
    func respond(
        _ method: HTTPRequest.Method = .get, _ path: String = "/news", _ fields: [String: String] = [:],
        as permission: EventPermission = EventPermission(), body: String = ""
    ) async throws -> Response {
        var head = HTTPRequest(method: method, scheme: "http", authority: "localhost", path: path)
        for (name, value) in fields { if let name = HTTPField.Name(name) { head.headerFields[name] = value } }
        let request = Request(head: head, body: RequestBody(buffer: ByteBuffer(string: body)))
        let context = HubClientContext(source: HubClientSource(permission: permission))
        do { return try await responder.respond(to: request, context: context) } catch let error as HTTPError {
            return Response(status: error.status)
        }
    }

    /// Opens a stream and reads it.
    func open(
        _ path: String = "/news", _ fields: [String: String] = [:], as permission: EventPermission = EventPermission(),
        reads: Bool = true
    ) async throws -> HubClient {
        HubClient(try await respond(.get, path, fields, as: permission), reads: reads)
    }

    /// Lets a second pass, once the hub waits for it.
    func passSecond() async throws {
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(1))
        try await clock.waitForSleepers()
    }

    func ended(_ reason: String) -> Int64 {
        let counter = try? metrics.expectCounter(
            "runway_event_streams_ended_total", [("hub", "news"), ("reason", reason)])
        return counter?.totalValue ?? 0
    }
}

/// The reader of a stream.
final class HubClient: Sendable {
    let status: HTTPResponse.Status
    let fields: HTTPFields
    private let reading = Reading()
    private let received = Mutex("")
    private let partByteCount = Mutex(0)
    private let byteCount = AwaitedValue(0)
    private let task: Task<Void, Never>

    init(_ response: Response, reads: Bool) {
        (status, fields) = (response.status, response.headers)
        let (parts, continuation) = AsyncStream<ByteBuffer>.makeStream()
        let writer = GatedWriter(reading: reading, parts: continuation)
        let body = response.body
        task = Task {
            try? await body.write(writer)
            continuation.finish()
        }
        if reads { reading.gate.open() }
        Task { [weak self] in
            for await part in parts { self?.receive(part) }
        }
    }

    deinit { task.cancel() }

    private func receive(_ part: ByteBuffer) {
        partByteCount.withLock { $0 = max($0, part.readableBytes) }
        let count = received.withLock { received in
            received += String(buffer: part)
            return received.utf8.count
        }
        byteCount.update { $0 = count }
    }

    /// Everything that was sent.
    var text: String { received.withLock { $0 } }

    /// The bytes of the largest write.
    var largestPart: Int { partByteCount.withLock { $0 } }

    /// The data of the events that were sent, without those of the connection.
    var events: [String] {
        text.components(separatedBy: "\n\n").filter { !$0.contains("event: runway.") }
            .compactMap { block in
                block.components(separatedBy: "\n").first { $0.hasPrefix("data: ") }.map { String($0.dropFirst(6)) }
            }
    }

    /// The id that the hub gave the connection.
    var connection: String {
        text.firstMatch(of: /"connection":"([^"]+)"/).map { String($0.1) } ?? ""
    }

    func wait(for part: String) async throws {
        try await waitUntil(part) { self.text.contains(part) }
    }

    /// Reads from now on.
    func read() { reading.gate.open() }

    /// Reads nothing from now on.
    func stopReading() { reading.close() }

    /// Waits until the hub writes what the client does not read.
    func waitForWrite() async throws { try await reading.gate.waitForArrivals() }

    func waitUntilLive() async throws { try await wait(for: "runway.live") }

    /// The client goes away.
    func disconnect() { task.cancel() }

    /// Waits until the hub has ended the stream.
    func end() async { await task.value }
}

/// The gate that holds what is written next.
private final class Reading: Sendable {
    private let present = Mutex(ScriptedGate())
    var gate: ScriptedGate { present.withLock { $0 } }
    func close() { present.withLock { $0 = ScriptedGate() } }
}

/// Writes to a reader that may be slow.
private struct GatedWriter: ResponseBodyWriter {
    let reading: Reading
    let parts: AsyncStream<ByteBuffer>.Continuation

    func write(_ buffer: ByteBuffer) async throws {
        try await reading.gate.pass()
        parts.yield(buffer)
    }

    func finish(_ trailingHeaders: HTTPFields?) async throws {}
}
