import Synchronization

extension AdmissionControl {
    /// Releases the concurrency slot of a call while `wait` runs, then waits for a new slot.
    ///
    /// A call that waits for an access token therefore occupies no slot. Otherwise one service whose tokens are
    /// unavailable could block the calls of all other services.
    ///
    /// - Throws: The error of `wait`; ``NetworkError/Kind/timedOut`` or ``NetworkError/Kind/cancelled`` if the call
    ///   gets no new slot.
    func releasingSlot<Value>(
        of flight: Flight, while wait: () async throws(NetworkError) -> Value
    ) async throws(NetworkError) -> Value {
        guard flight.takeSlot() != nil else { return try await wait() }
        leave()
        let value = try await wait()
        switch await waitForSlot(flight, flight.priority, isReturning: true) {
        case .granted, .refused: flight.holdSlot()
        case .cancelled: throw .cancelled(in: AdmissionDecision.step)
        case .timedOut:
            throw NetworkError(
                .timedOut, in: AdmissionDecision.step,
                "The deadline passed before the call got a concurrency slot again.")
        }
        return value
    }
}

extension Flight {
    /// The value of ``slotTime`` for a call without a concurrency slot.
    static let noSlot: Int64 = -1

    func holdSlot() { slotTime.store((clock.now - startTime).nanoseconds, ordering: .relaxed) }

    /// Takes the concurrency slot from the call; the caller must release the slot. Returns the instant at which the
    /// call got the slot, or `nil` if the call has no slot.
    func takeSlot() -> Duration? {
        let time = slotTime.exchange(Self.noSlot, ordering: .relaxed)
        return time == Self.noSlot ? nil : startTime + .nanoseconds(time)
    }
}
