extension BodyStream {
    /// Returns a stream that can end early. It throws when the call's whole deadline passes, even while bytes arrive.
    /// It also throws when the account of the call signs out, and when the app's background time ends.
    ///
    /// Returns the stream itself if nothing can end it early: the call has no whole deadline and no account, and its
    /// layer has no ``BackgroundGrace``.
    func bounded(in flight: Flight) -> BodyStream {
        let wholeDeadline = flight.wholeDeadline
        if wholeDeadline == nil, flight.account == nil, flight.context.grace == nil { return self }
        // The limit is 100 years, because clocks overflow after some centuries.
        let deadline = wholeDeadline ?? flight.startTime + .seconds(Int64(36_525) * 86_400)
        return BodyStream {
            let reading = BoundedReading(makeAsyncIterator(), in: flight, until: deadline)
            return { try await reading.next() }
        }
    }
}

/// Reads a stream until a deadline. When the deadline passes, the task that produces the pending part is cancelled, and
/// its end is not awaited.
///
/// Unchecked: only one task at a time uses it, because the reader waits for each part, and nobody reads after the
/// deadline.
private final class BoundedReading: @unchecked Sendable {
    private let parts: BodyStream.AsyncIterator
    private let flight: Flight
    private let deadline: Duration
    /// The error that ended the reading before the end of the stream. Only the reader accesses it.
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
        // The check comes first, so that a deadline in the past does not race with the stream.
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
