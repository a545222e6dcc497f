extension BodyStream {
    /// Returns this stream with a bound: it throws when the call's whole deadline passes, even while bytes arrive, when
    /// the account of the call signs out, and when the app's time in the background ends. Returns the stream itself if
    /// the call has neither a whole deadline nor an account, and its layer no ``BackgroundGrace``.
    func bounded(in flight: Flight) -> BodyStream {
        let wholeDeadline = flight.wholeDeadline
        if wholeDeadline == nil, flight.account == nil, flight.context.grace == nil { return self }
        // No clock counts further than some centuries.
        let deadline = wholeDeadline ?? flight.startTime + .seconds(Int64(36_525) * 86_400)
        return BodyStream {
            let reading = BoundedReading(makeAsyncIterator(), in: flight, until: deadline)
            return { try await reading.next() }
        }
    }
}

/// Reads a stream until a deadline. If the deadline passes, the task that produces the pending part is cancelled and
/// not waited for.
///
/// Unchecked: one task at a time asks for parts, since the reader waits for each, and none asks after the deadline.
private final class BoundedReading: @unchecked Sendable {
    private let parts: BodyStream.AsyncIterator
    private let flight: Flight
    private let deadline: Duration
    /// The error that ended the reading before the stream ended. Only the reader touches it.
    private var failure: (any Error)?

    init(_ parts: BodyStream.AsyncIterator, in flight: Flight, until deadline: Duration) {
        self.parts = parts
        self.flight = flight
        self.deadline = deadline
    }

    func next() async throws -> [UInt8]? {
        if let failure { throw failure }
        let race = Race<Result<[UInt8]?, any Error>>()
        let timedOut = { @Sendable [flight] in flight.timeout("", in: .deadline, sending: .sent) }
        // Whether a deadline has passed already must not depend on a race between the timer and the stream.
        guard flight.clock.now < deadline, !flight.isEndedEarly else { return try end(.failure(timedOut())) }
        let token = flight.context.deadlines.schedule(at: deadline, of: flight) { race.finish(.failure(timedOut())) }
        defer { flight.context.deadlines.remove(token) }
        return try end(await race.run(onCancel: .failure(CancellationError())) { await self.part() })
    }

    private func part() async -> Result<[UInt8]?, any Error> {
        var parts = parts
        do { return .success(try await parts.next()) } catch { return .failure(error) }
    }

    private func end(_ result: Result<[UInt8]?, any Error>) throws -> [UInt8]? {
        if case .failure(let error) = result { failure = error }
        return try result.get()
    }
}
