import Foundation
import HTTPTypes
import Runway
import RunwayJSON
import RunwayServer
import RunwayStorage
import RunwayTransport
import Synchronization

extension PlantedBug {
    func transport(over wire: NIOTransport) -> any Transport {
        switch self {
        case .earlyRemoval: HastyTransport(wire: wire)
        case .changedNumber: RenumberingTransport(wire: wire)
        case .changedKey: LossyTransport(wire: wire, changesKeys: true)
        case .forgottenKeys: LossyTransport(wire: wire, changesKeys: false)
        case .earlyAcknowledgement, .overtaking, .unwritten: wire
        }
    }

    func queue(over queue: OfflineQueue) -> any ChangeQueue {
        self == .overtaking || self == .unwritten ? AlteredQueue(base: queue, bug: self) : queue
    }
}

/// Returns the JSON of a batch; `nil` if the request is not a batch.
private func batch(of request: Runway.Request) -> [UInt8]? {
    guard case .bytes(let coded) = request.body, case .decoded(let bytes) = GzipBody.decode(coded, upTo: 1 << 24) else {
        return nil
    }
    return bytes
}

/// Responds to a batch before it is sent, so that the log removes records that no server has.
private struct HastyTransport: Transport {
    let wire: NIOTransport

    func send(_ request: Runway.Request, in flight: Flight) async throws(NetworkError) -> Runway.Response {
        guard let bytes = batch(of: request), let batch = try? JSONDocument(bytes).root else {
            return try await wire.send(request, in: flight)
        }
        Task { _ = try? await wire.send(request, in: flight) }
        var writer = JSONWriter()
        writer.beginObject()
        for name in ["stream", "batch"] {
            writer.name(name)
            writer.value(batch[name])
        }
        writer.name("records")
        writer.beginArray()
        for record in batch["records"].elements {
            writer.beginObject()
            writer.name("id")
            writer.value(record["id"])
            writer.name("verdict")
            writer.string("stored")
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return Runway.Response(head: HTTPResponse(status: .ok), body: .whole(RawData(writer.bytes)))
    }
}

/// Loses some responses, and changes the number of the batch when it is sent again.
private final class RenumberingTransport: Transport {
    private let wire: NIOTransport
    /// Guards the numbers of the batches whose response was lost. One set suffices, since a process has one stream.
    private let lost = Mutex(Set<Int64>())

    init(wire: NIOTransport) { self.wire = wire }

    func send(_ request: Runway.Request, in flight: Flight) async throws(NetworkError) -> Runway.Response {
        guard let bytes = batch(of: request), let number = (try? JSONDocument(bytes))?.root["batch"].int64 else {
            return try await wire.send(request, in: flight)
        }
        if lost.withLock({ $0.remove(number) }) != nil {
            var request = request
            request.body = .bytes(Self.renumber(bytes, number, number + 1))
            request.head.headerFields[.contentEncoding] = nil
            var response = try await wire.send(request, in: flight)
            // The response names the original number, which the log expects.
            if case .whole(let rawData) = response.body {
                response.body = .whole(RawData(Self.renumber(rawData.bytes, number + 1, number)))
            }
            return response
        }
        let response = try await wire.send(request, in: flight)
        guard number % 5 == 0, response.head.status == .ok else { return response }
        lost.withLock { _ = $0.insert(number) }
        throw NetworkError(.noNetwork, in: .transporting, "The response is lost.", sending: .sent)
    }

    private static func renumber(_ bytes: [UInt8], _ number: Int64, _ other: Int64) -> [UInt8] {
        let text = String(decoding: bytes, as: UTF8.self)
        return Array(text.replacing("\"batch\":\(number)", with: "\"batch\":\(other)", maxReplacements: 1).utf8)
    }
}

/// A sink that recognises a batch by its number only, and ignores its records.
struct TrustingSink: ActionLogSink {
    let base: any ActionLogSink

    func store(_ batch: ActionLogBatch) async throws -> ActionLogStorage {
        let storage = try await base.store(batch)
        guard case .gap(let expected) = storage, batch.number < expected else { return storage }
        return .known
    }
}

/// Loses a third of the responses, so that changes are sent again, with the same key or another one.
private struct LossyTransport: Transport {
    let wire: NIOTransport
    let changesKeys: Bool

    func send(_ request: Runway.Request, in flight: Flight) async throws(NetworkError) -> Runway.Response {
        var request = request
        if changesKeys, let name = HTTPField.Name("Idempotency-Key") {
            request.head.headerFields[name] = "\"\(UUID().uuidString)\""
        }
        let response = try await wire.send(request, in: flight)
        if Int.random(in: 0..<3) > 0 { return response }
        throw NetworkError(.noNetwork, in: .transporting, "The response is lost.", sending: .sent)
    }
}

/// A store that loses every request after its execution.
struct ForgetfulStore: IdempotencyStore {
    let base: any IdempotencyStore

    func claim(
        _ key: IdempotencyKey, fingerprint: [UInt8], token: UUID, at now: Date, lease: Duration
    ) async throws -> IdempotencyClaim {
        try await base.claim(key, fingerprint: fingerprint, token: token, at: now, lease: lease)
    }

    func complete(
        _ key: IdempotencyKey, token: UUID, with response: IdempotentResponse, until expiry: Date
    ) async throws -> Bool {
        try await base.release(key, token: token)
        return true
    }

    func release(_ key: IdempotencyKey, token: UUID) async throws { try await base.release(key, token: token) }
}

/// A queue in which calls do not wait for each other, or are sent before they are stored.
private struct AlteredQueue: ChangeQueue {
    let base: any ChangeQueue
    let bug: PlantedBug

    func start(for network: NetworkLayer) { base.start(for: network) }
    func accepts(_ endpoint: any Endpoint.Type) -> Bool { base.accepts(endpoint) }
    func hasToWait(_ change: UnsentChange) async throws -> Bool {
        bug == .overtaking ? false : try await base.hasToWait(change)
    }
    func writeAhead(_ change: UnsentChange) async throws -> UUID? {
        bug == .unwritten ? nil : try await base.writeAhead(change)
    }
    func removeWritten(_ change: UUID) { base.removeWritten(change) }
    func store(_ change: UnsentChange) async throws -> QueuedChange { try await base.store(change) }
    func settle(_ change: UUID, isQueued: Bool) async { await base.settle(change, isQueued: isQueued) }
    func servicesDidChange() { base.servicesDidChange() }
}

/// Records each change before it is sent. Then waits up to 20 ms, so that kills often hit this moment. A recorded
/// change must have an effect even if the client is killed.
struct NotingTransport: Transport {
    let base: any Transport
    let sent: AppendedFile

    func send(_ request: Runway.Request, in flight: Flight) async throws(NetworkError) -> Runway.Response {
        if case .bytes(let bytes) = request.body, let number = RawData(bytes)["number"].int {
            do {
                try sent.append(number..<number + 1)
                try await Task.sleep(for: .milliseconds(Int.random(in: 0...20)))
            } catch {
                throw NetworkError(.cancelled, in: .transporting, "\(error)", sending: .notSent)
            }
        }
        return try await base.send(request, in: flight)
    }
}
