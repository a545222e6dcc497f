public import HTTPTypes
import Synchronization

/// A response whose body is read in parts, as they arrive.
///
/// ```swift
/// let film = try await network.stream(Film())
/// guard film.response.headerFields[.contentType] == "video/mp4" else { return }
/// for try await part in film.body { play(part) }
/// ```
public struct StreamedResponse: Sendable {
    /// The status and header fields of the response.
    public let response: HTTPResponse
    /// The body, which can be read only once. Its errors are ``NetworkError`` values.
    public let body: BodyStream
    /// The call, for code that adds decisions about the body to the call's record.
    package let flight: Flight
    /// The time span on the layer's clock in which the request's token should be renewed. It ends when the token
    /// expires. `nil` if no token was sent, if the expiry is unknown, or if the response does not stay open.
    package let tokenRenewalWindow: Range<Duration>?

    init(response: HTTPResponse, body: BodyStream, flight: Flight, tokenRenewalWindow: Range<Duration>?) {
        (self.response, self.body, self.flight) = (response, body, flight)
        self.tokenRenewalWindow = tokenRenewalWindow
    }

    /// Ends the call with an error of the body's reader, and discards the body unread.
    ///
    /// - Returns: The error completed with the request that it concerns.
    package func discard(failing error: NetworkError) -> NetworkError {
        flight.recorder.endStream(nil, byteCount: 0, failing: error)
        return flight.finish(failing: error)
    }
}

extension BodyStream {
    /// Returns a stream that ends the record of its call when it ends, fails, or is discarded.
    ///
    /// - Parameters:
    ///   - flight: The call.
    ///   - index: The index of the attempt that the body belongs to; `nil` for the last attempt.
    ///   - refusal: The error of a refused call whose response body is still read; `nil` if the service accepted the
    ///     response.
    func recorded(in flight: Flight, at index: Int?, refusal: NetworkError? = nil) -> BodyStream {
        let recorder = StreamRecorder(flight: flight, index: index, refusal: refusal)
        return BodyStream {
            var iterator = makeAsyncIterator()
            return {
                do {
                    let part = try await iterator.next()
                    recorder.count(part)
                    return part
                } catch {
                    throw recorder.end(failing: error)
                }
            }
        }
    }
}

/// Counts the bytes that are read from a streamed body, and ends the call's record when the stream ends.
private final class StreamRecorder: Sendable {
    private let flight: Flight
    private let index: Int?
    private let refusal: NetworkError?
    private let byteCount = Atomic(0)
    /// Whether the record of the attempt is closed.
    private let isClosed = Atomic(false)

    init(flight: Flight, index: Int?, refusal: NetworkError?) {
        self.flight = flight
        self.index = index
        self.refusal = refusal
    }

    deinit {
        // A reader that stops early has cancelled the stream. If the stream has already ended or failed, this has no
        // effect.
        finish(.cancelled)
    }

    func count(_ part: [UInt8]?) {
        guard let part else { return finish(.succeeded) }
        byteCount.wrappingAdd(part.count, ordering: .relaxed)
    }

    func end(failing error: any Error) -> NetworkError {
        let error =
            switch error {
            case let error as NetworkError: error
            case is CancellationError: NetworkError.cancelled(in: .transporting)
            default: NetworkError.unreadableBody(error)
            }
        close(failing: error)
        return flight.finish(failing: error)
    }

    private func finish(_ outcome: FlightOutcome) {
        close(failing: nil)
        if let refusal { _ = flight.finish(failing: refusal) } else { flight.finish(outcome) }
    }

    private func close(failing error: NetworkError?) {
        if isClosed.exchange(true, ordering: .relaxed) { return }
        flight.recorder.endStream(index, byteCount: byteCount.load(ordering: .relaxed), failing: error)
    }
}
