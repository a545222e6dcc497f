import Foundation
import HTTPTypes
public import Hummingbird
import NIOCore
import RunwayJSON
import Synchronization

/// Receives the batches of action logs; the format is in `docs/formats.md`.
///
/// ```swift
/// ActionLogRoute(to: sink).add(to: router.group("v1"))
/// ```
///
/// A response of status 200 is sent after the sink has stored the batch. Refusals are 400 for a batch that is malformed or can never be
/// stored, 409 for a gap or a number that was used for other records, 413 for one that is too large, 429 if too many are being stored or the
/// sink has no room for more, and 503 if it fails. What a client states about itself is not verified: put ``SignatureMiddleware`` before
/// the route.
public struct ActionLogRoute<Sink: ActionLogSink>: Sendable {
    let sink: Sink
    let limits: ActionLogRouteLimits
    private let pace: @Sendable (ActionLogBatch) async -> ActionLogPace?
    private let refuse: @Sendable (ActionLogBatch.Record, ActionLogBatch) -> String?
    let running = RunningCount()

    /// Stores the batches of clients in a sink.
    ///
    /// - Parameters:
    ///   - sink: Stores the records.
    ///   - limits: The bounds of a batch, and of how many are stored at a time.
    ///   - pace: Returns what a client is asked for, after its batch was stored: to send less often, to record a sample, or nothing at all.
    ///     The default asks for nothing.
    ///   - refusal: Returns in a few words why a record is refused for ever, which the client then sets aside; `nil` for one that is
    ///     stored. It must return the same for the same record. The default refuses none.
    public init(
        to sink: Sink, limits: ActionLogRouteLimits = ActionLogRouteLimits(),
        pace: @escaping @Sendable (ActionLogBatch) async -> ActionLogPace? = { _ in nil },
        refusing refusal: @escaping @Sendable (ActionLogBatch.Record, ActionLogBatch) -> String? = { _, _ in nil }
    ) {
        self.sink = sink
        self.limits = limits
        self.pace = pace
        refuse = refusal
    }

    /// Adds the route to a router or a group of one.
    ///
    /// - Parameters:
    ///   - router: The router or group.
    ///   - path: The path below the group's. The default is `log`.
    public func add<Context: RequestContext>(to router: some RouterMethods<Context>, path: RouterPath = "log") {
        router.post(path) { request, _ in try await respond(to: request) }
    }

    private func respond(to request: Request) async throws -> Response {
        let body: ByteBuffer
        do {
            body = try await request.body.collect(upTo: limits.maximumCompressedByteCount)
        } catch is NIOTooManyBytesError {
            return refusal(.contentTooLarge)
        }
        // After the body: clients that stop sending theirs would take the places of all others.
        guard running.begin(upTo: limits.maximumRunningCount) else { return refusal(.tooManyRequests) }
        defer { running.end() }
        var bytes = Array(body.readableBytesView)
        if request.headers[.contentEncoding] == "gzip" {
            switch GzipBody.decode(bytes, upTo: limits.maximumByteCount) {
            case .decoded(let decoded): bytes = decoded
            case .tooLarge: return refusal(.contentTooLarge)
            case .malformed: return refusal(.badRequest)
            }
        }
        guard bytes.count <= limits.maximumByteCount else { return refusal(.contentTooLarge) }
        guard let document = try? JSONDocument(bytes), let batch = ActionLogBatch(document.root) else {
            return refusal(.badRequest)
        }
        guard batch.records.count <= limits.maximumRecordCount else { return refusal(.contentTooLarge) }
        guard batch.texts.allSatisfy({ $0.isStorable(upTo: limits.maximumNameByteCount) }) else {
            return refusal(.badRequest)
        }
        var accepted = batch
        var refused: [UUID: String] = [:]
        accepted.records.removeAll { record in
            guard let reason = refuse(record, batch) else { return false }
            refused[record.id] = reason
            return true
        }
        do {
            let storage = try await sink.store(accepted)
            return response(to: batch, storage, refused, await pace(batch))
        } catch is ActionLogSinkBusy {
            return refusal(.tooManyRequests)
        } catch is ActionLogBatchRejected {
            return refusal(.badRequest)
        } catch {
            return refusal(.serviceUnavailable)
        }
    }

    private func response(
        to batch: ActionLogBatch, _ storage: ActionLogStorage, _ refused: [UUID: String], _ pace: ActionLogPace?
    ) -> Response {
        var writer = JSONWriter()
        writer.beginObject()
        writer.name("stream")
        writer.string(batch.stream.uuidString.lowercased())
        writer.name("batch")
        writer.integer(batch.number)
        switch storage {
        case .gap(let expected):
            writer.name("expected")
            writer.integer(expected)
        case .stored(let duplicates): writer.verdicts(batch, refused) { duplicates.contains($0) }
        case .known: writer.verdicts(batch, refused) { _ in true }
        }
        if let pace { writer.pace(pace) }
        writer.endObject()
        var status = HTTPResponse.Status.ok
        if case .gap = storage { status = .conflict }
        return Response(
            status: status, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: writer.bytes)))
    }

    /// A response without a body. One that asks for a later attempt names the time.
    func refusal(_ status: HTTPResponse.Status) -> Response {
        let isTransient = status == .tooManyRequests || status == .serviceUnavailable
        let seconds = String(max(1, limits.retryAfter.components.seconds))
        return Response(status: status, headers: isTransient ? [.retryAfter: seconds] : [:])
    }
}

/// The bounds of an ``ActionLogRoute``.
public struct ActionLogRouteLimits: Sendable, Hashable {
    /// The most bytes of a body as it is sent. The default is 1 MiB.
    public var maximumCompressedByteCount = 1 << 20
    /// The most bytes of a body after it was decompressed. The default is 8 MiB.
    public var maximumByteCount = 8 << 20
    /// The most records of a batch. The default is 1,000.
    public var maximumRecordCount = 1000
    /// The most bytes of a record's name, and of the account. The default is 512.
    public var maximumNameByteCount = 512
    /// The most batches that are decompressed and stored at a time, after their bodies were received; others get 429. The default is 64.
    public var maximumRunningCount = 64
    /// The `Retry-After` of 429 and 503. The default is 5 s.
    public var retryAfter = Duration.seconds(5)

    /// Creates limits with their defaults.
    public init() {}
}

/// How many batches are being received and stored.
final class RunningCount: Sendable {
    /// Guards the count.
    private let count = Mutex(0)

    /// Counts one more; returns `false`, and counts none, if there are as many as allowed.
    func begin(upTo maximumCount: Int) -> Bool {
        count.withLock { count in
            guard count < maximumCount else { return false }
            count += 1
            return true
        }
    }

    func end() { count.withLock { $0 -= 1 } }
}

extension JSONWriter {
    fileprivate mutating func verdicts(
        _ batch: ActionLogBatch, _ refused: [UUID: String], isDuplicate: (UUID) -> Bool
    ) {
        name("records")
        beginArray()
        for record in batch.records {
            beginObject()
            name("id")
            string(record.id.uuidString.lowercased())
            name("verdict")
            if let reason = refused[record.id] {
                string("refused")
                name("reason")
                string(reason)
            } else {
                string(isDuplicate(record.id) ? "duplicate" : "stored")
            }
            endObject()
        }
        endArray()
    }

    fileprivate mutating func pace(_ pace: ActionLogPace) {
        name("pace")
        beginObject()
        name("wait")
        integer(max(0, pace.wait.components.seconds))
        name("sample")
        // A fraction is a number that JSON has.
        try? double(pace.sampleRate)
        endObject()
    }
}

extension String {
    /// Whether every database stores the text: PostgreSQL has no text with the character U+0000.
    fileprivate func isStorable(upTo byteCount: Int) -> Bool { utf8.count <= byteCount && !utf8.contains(0) }
}

extension ActionLogBatch {
    /// The texts that sinks store as such.
    fileprivate var texts: [String] { records.map(\.name) + (account.map { [$0] } ?? []) }

    /// Reads a batch; `nil` if it is malformed.
    fileprivate init?(_ json: JSONValue) {
        guard let installation = json["installation"].string.flatMap({ UUID(uuidString: $0) }),
            let stream = json["stream"].string.flatMap({ UUID(uuidString: $0) }),
            let number = json["batch"].int64, number > 0, json["records"].kind == .array
        else { return nil }
        var records: [Record] = []
        for record in json["records"].elements {
            guard let id = record["id"].string.flatMap({ UUID(uuidString: $0) }), let name = record["name"].string
            else { return nil }
            records.append(Record(id: id, name: name, json: Array(record.rawBytes)))
        }
        // Such a batch would store nothing but the number of its stream, for ever.
        guard !records.isEmpty else { return nil }
        self.init(
            installation: installation, stream: stream, number: number, account: json["account"].string,
            records: records, sent: json["sent"].int64.map { Date(timeIntervalSince1970: Double($0) / 1000) })
    }
}
