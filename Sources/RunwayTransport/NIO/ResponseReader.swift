import HTTPTypes
import NIOCore
import Runway

extension Response {
    /// The answer to an exchange; where its body is a stream, it holds the pass until it is let go.
    init(_ answer: WireResponse, to exchange: Exchange, in flight: Flight, until pass: PoolLease) {
        switch answer.body {
        case .whole(let bytes):
            self.init(head: answer.head, body: .whole(RawData(bytes, response: answer.head)))
        case .stream(let stream):
            let reader = AnswerReader(stream, of: exchange, in: flight, until: pass)
            self.init(head: answer.head, body: .stream(BodyStream(reader, undoing: answer.codings)))
        }
        isDecoded = answer.isDecoded
        lostFields = answer.lostFields
    }
}

/// Reads the body of a streamed answer. One that is let go before the end gives its exchange up.
private final class AnswerReader: Sendable {
    let exchange: Exchange
    private let stream: ResponseStream
    private let flight: Flight
    private let pass: PoolLease

    init(_ stream: ResponseStream, of exchange: Exchange, in flight: Flight, until pass: PoolLease) {
        self.stream = stream
        self.exchange = exchange
        self.flight = flight
        self.pass = pass
    }

    deinit {
        // After the end this does nothing.
        exchange.cancel(CancellationError())
    }

    /// The next part as it came; `nil` at the end.
    func nextPart() async throws -> ByteBuffer? {
        let exchange = exchange
        let stream = stream
        let (part, taken) = try await withTaskCancellationHandler {
            try Task.checkCancellation()
            return try await stream.next()
        } onCancel: {
            exchange.cancel(CancellationError())
        }
        if taken > 0 { exchange.consumed(taken) }
        if part == nil { noteWire() }
        return part
    }

    /// Gives the exchange up because of this error, and gives what a caller is told.
    func fail(_ error: any Error) -> NetworkError {
        exchange.cancel(error)
        noteWire()
        return NetworkError(transport: error, from: exchange.request.head.authority)
    }

    private func noteWire() {
        if let wire = stream.wire { flight.noteWire(wire, of: exchange.request) }
    }
}

extension BodyStream {
    /// The parts that a reader gives, with the codings undone. They are decoded where they are read, no further than they are read.
    fileprivate init(_ reader: AnswerReader, undoing codings: [ContentCoding]) {
        self.init {
            let limits = reader.exchange.pool.configuration.wire.decodingLimits
            var parts = DecodedParts(undoing: codings, limits: limits)
            return {
                do {
                    return try await parts.next { try await reader.nextPart() }
                } catch {
                    throw reader.fail(error)
                }
            }
        }
    }
}
