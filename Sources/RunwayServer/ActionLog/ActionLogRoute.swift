import Foundation
import HTTPTypes
public import Hummingbird
import NIOCore
import RunwayFormats
import Synchronization

/// Receives the batches of action logs; the format is in `docs/formats.md`.
///
/// ```swift
/// ActionLogRoute(to: sink).add(to: router.group("v1"))
/// ```
///
/// The response has status 200 after the sink has stored the batch. A refusal is a problem (RFC 9457) that states the
/// reason:
///
/// - 400: the batch is malformed, or can never be stored.
/// - 409: a batch is missing, or its number was used for other records.
/// - 413: the batch is too large.
/// - 415: the content coding is not gzip.
/// - 429: too many batches are being stored, or a quota is used up.
/// - 503: the log is full, or the sink failed.
///
/// A body has at most 1 MiB as sent. After decompression it has at most 8 MiB and 262,144 JSON values. It contains at
/// most 1,000 records of 1 MiB each, whose names have at most 512 bytes. An `ActionLog` stays far below these limits.
///
/// The route does not verify what a client claims about itself: add ``SignatureMiddleware`` before the route.
///
/// The sink limits the bytes that a source stores (``ActionLogQuotas``). Pass a closure to ``add(to:path:source:)`` to
/// define sources. Otherwise the source is the owner of the verified key (``SignedRequestContext``). Without a key, it
/// is the address of the client if the context has one (`RemoteAddressRequestContext`). All clients without either
/// count as one source.
public struct ActionLogRoute<Sink: ActionLogSink>: Sendable {
    let sink: Sink
    package var limits = ActionLogRouteLimits()
    private let pace: @Sendable (ActionLogBatch) async -> ActionLogPace?
    private let refuse: @Sendable (ActionLogBatch.Record, ActionLogBatch) -> String?
    let running = RunningCount()

    /// Creates a route that stores the batches of clients in a sink.
    ///
    /// - Parameters:
    ///   - sink: Stores the records.
    ///   - maximumRunningCount: The maximum number of received batches that are decompressed and stored at the same
    ///     time; further ones get 429. The default is 64. Lower it for a server with less than a gigabyte of memory.
    ///   - pace: Called after a batch was stored. Returns a request to the client to pause or to record a sample, or
    ///     `nil`. The default returns `nil`.
    ///   - refusal: Returns a short reason to refuse a record permanently, so that the client sets it aside, or `nil`
    ///     to store it. It must always return the same for the same record. The default returns `nil`.
    public init(
        to sink: Sink, maximumRunningCount: Int = 64,
        pace: @escaping @Sendable (ActionLogBatch) async -> ActionLogPace? = { _ in nil },
        refusing refusal: @escaping @Sendable (ActionLogBatch.Record, ActionLogBatch) -> String? = { _, _ in nil }
    ) {
        self.sink = sink
        limits.maximumRunningCount = maximumRunningCount
        self.pace = pace
        refuse = refusal
    }

    /// Adds the route to a router or a router group.
    ///
    /// - Parameters:
    ///   - router: The router or group.
    ///   - path: The path below the group's. The default is `log`.
    ///   - source: Returns the name under which bytes are counted together, such as an account or the client address
    ///     from a proxy; `nil` if it is unknown. Throw an `HTTPError` to refuse a request, such as 401 if only accounts
    ///     may log. Called before the body is received and again afterwards, since a login may have been revoked. The
    ///     default is described above.
    public func add<Context: RequestContext>(
        to router: some RouterMethods<Context>, path: RouterPath = "log",
        source: (@Sendable (Request, Context) throws -> String?)? = nil
    ) {
        router.post(path) { request, context in
            try await respond(to: request, of: { try source.map { try $0(request, context) } ?? context.logSource })
        }
    }

    private func respond(to request: Request, of source: () throws -> String?) async throws -> Response {
        // The first check stops a refused client before it sends its body. The second one is needed because the login
        // may be revoked while a slow body arrives.
        _ = try source()
        var bytes = try await body(of: request, upTo: ActionLogRouteLimits.maximumCompressedByteCount)
        let source = try source()
        // The slot is taken only after the body was received, so that stalled uploads do not occupy slots.
        try begin()
        defer { running.end() }
        // Content codings are case-insensitive (RFC 9110 §8.4.1).
        switch request.headers[.contentEncoding]?.lowercased() {
        case nil, "", "identity": break
        case "gzip", "x-gzip":
            switch GzipBody.decode(bytes, upTo: ActionLogRouteLimits.maximumByteCount) {
            case .decoded(let decoded): bytes = decoded
            case .tooLarge: throw tooLarge(ActionLogRouteLimits.maximumByteCount)
            case .malformed: throw ActionLogProblem(.malformed, "The body is not one member of gzip.")
            }
        default: throw ActionLogProblem(.coding, "The body is not coded by gzip.")
        }
        var batch = try ActionLogBatch(reading: bytes, within: limits)
        batch.source = source
        return try await store(batch)
    }

    private func store(_ batch: ActionLogBatch) async throws(ActionLogProblem) -> Response {
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
        } catch let refusal as StoreRefusal {
            throw ActionLogProblem(refusal)
        } catch {
            throw failure
        }
    }

    func body(of request: Request, upTo byteCount: Int) async throws -> [UInt8] {
        do {
            return Array(try await BodyCollector.shared.collect(request.body, upTo: byteCount).readableBytesView)
        } catch is NIOTooManyBytesError {
            throw tooLarge(byteCount)
        }
    }

    /// Occupies one of the slots for running requests.
    func begin() throws(ActionLogProblem) {
        guard running.begin(upTo: limits.maximumRunningCount) else { throw busy }
    }

    /// The problem response if the limit on running requests or pending batches is reached.
    var busy: ActionLogProblem { ActionLogProblem(.busy, retryAfter: ActionLogRouteLimits.retryAfter) }

    /// The problem response if the sink failed.
    var failure: ActionLogProblem { ActionLogProblem(.store, retryAfter: ActionLogRouteLimits.retryAfter) }

    private func tooLarge(_ byteCount: Int) -> ActionLogProblem {
        ActionLogProblem(.tooLarge, "The body has more than \(byteCount) bytes.")
    }

    private func response(
        to batch: ActionLogBatch, _ storage: ActionLogStorage, _ refused: [UUID: String], _ pace: ActionLogPace?
    ) -> Response {
        var response = BatchResponse(stream: batch.stream, number: batch.number)
        response.wait = pace.map { Double(max(0, $0.wait.components.seconds)) }
        response.sampleRate = pace?.sampleRate
        if case .gap(let expected) = storage {
            response.expected = expected
            return Response(json: response.json, status: .conflict)
        }
        response.verdicts = batch.records.map { record in
            let isStored = if case .stored(let duplicates) = storage { !duplicates.contains(record.id) } else { false }
            return (record.id, refused[record.id].map { .refused($0) } ?? (isStored ? .stored : .duplicate))
        }
        return Response(json: response.json)
    }
}

/// The number of requests whose batches are being decompressed and stored.
final class RunningCount: Sendable {
    /// Guards the count.
    private let count = Mutex(0)

    /// Increments the count. Returns `false` if the limit is reached.
    func begin(upTo maximumCount: Int) -> Bool {
        count.withLock { count in
            guard count < maximumCount else { return false }
            count += 1
            return true
        }
    }

    func end() { count.withLock { $0 -= 1 } }
}

extension RequestContext {
    /// The name under which the client's bytes are counted together; `nil` if the context does not identify the client.
    fileprivate var logSource: String? {
        if let signer = (self as? any SignedRequestContext)?.signer { return "signer \(signer.owner)" }
        return (self as? any RemoteAddressRequestContext)?.remoteAddress?.networkOfSource
    }
}
