import HTTPTypes
import NIOCore
import Runway

extension Response {
    /// Creates the response to an exchange. A streamed body holds the lease until it is released.
    init(_ response: WireResponse, to exchange: Exchange, in flight: Flight, holding lease: PoolLease) {
        switch response.body {
        case .whole(let bytes):
            self.init(head: response.head, body: .whole(RawData(bytes, response: response.head)))
        case .stream(let stream):
            let reader = ResponseReader(stream, of: exchange, in: flight, holding: lease)
            self.init(head: response.head, body: .stream(BodyStream(reader, undoing: response.codings)))
        }
        flight.noteSurplus(response.surplusByteCount)
        isDecoded = response.isDecoded
        omittedFields = response.omittedFields
    }
}

/// Reads the body of a streamed response. When it is released, it cancels an unfinished exchange.
private final class ResponseReader: Sendable {
    let exchange: Exchange
    private let stream: ResponseStream
    private let flight: Flight
    private let lease: PoolLease

    init(_ stream: ResponseStream, of exchange: Exchange, in flight: Flight, holding lease: PoolLease) {
        self.stream = stream
        self.exchange = exchange
        self.flight = flight
        self.lease = lease
    }

    deinit {
        // After the end of the exchange, this only discards unread bytes.
        exchange.cancel(CancellationError())
    }

    /// Returns the next part without decoding, or `nil` at the end.
    func nextPart() async throws -> ByteBuffer? {
        let exchange = exchange
        let stream = stream
        let (part, consumed) = try await withTaskCancellationHandler {
            try Task.checkCancellation()
            return try await stream.next()
        } onCancel: {
            exchange.cancel(CancellationError())
        }
        if consumed > 0 { exchange.consumed(consumed) }
        if part == nil { noteWire() }
        return part
    }

    /// Cancels the exchange because of an error, and returns the error for the caller.
    func fail(_ error: any Error) -> NetworkError {
        exchange.cancel(error)
        noteWire()
        return NetworkError(transport: error, from: exchange.request.head.authority)
    }

    /// Records that `byteCount` bytes after the end of the coded body were ignored.
    func noteSurplus(_ byteCount: Int) { flight.noteSurplus(byteCount) }

    private func noteWire() {
        if let wire = stream.wire { flight.noteWire(wire, of: exchange.request) }
    }
}

extension BodyStream {
    /// Creates the decoded parts of a reader. They are decoded on demand, in the task that reads them.
    fileprivate init(_ reader: ResponseReader, undoing codings: [ContentCoding]) {
        self.init {
            let limits = reader.exchange.pool.configuration.wire.decodingLimits
            var parts = DecodedParts(undoing: codings, limits: limits)
            return {
                do {
                    let part = try await parts.next { try await reader.nextPart() }
                    if part == nil { reader.noteSurplus(parts.surplusByteCount) }
                    return part
                } catch {
                    throw reader.fail(error)
                }
            }
        }
    }
}

extension Flight {
    fileprivate func noteSurplus(_ byteCount: Int) {
        if byteCount > 0 { note(SurplusDecision(byteCount: byteCount)) }
    }
}

/// Records that bytes after the end of a coded body were ignored.
struct SurplusDecision: StageDecision, Equatable {
    let byteCount: Int

    static var step: FlightStep { .transporting }

    var entry: DecisionRecord {
        .init("bytesIgnored", ["byteCount": byteCount], "ignored \(byteCount) bytes behind the end of the coded body")
    }
}
