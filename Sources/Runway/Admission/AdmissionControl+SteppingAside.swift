import Synchronization

extension AdmissionControl {
    /// Lets others fly while a call waits for what is no flight of its own, and has it wait for its turn after that.
    ///
    /// Without it a service whose tokens can't be had would fill the air with calls that wait for one, and hold up all other services.
    ///
    /// - Throws: What `wait` threw; ``NetworkError/Kind/timedOut`` and ``NetworkError/Kind/cancelled`` where it was not the call's turn
    ///   again before that.
    func steppingAside<Value>(
        _ flight: Flight, _ wait: () async throws(NetworkError) -> Value
    ) async throws(NetworkError) -> Value {
        guard flight.takePlace() != nil else { return try await wait() }
        leave()
        let value = try await wait()
        switch await waitForTurn(flight, flight.priority, isReturning: true) {
        case .granted, .refused: flight.holdPlace()
        case .cancelled: throw .cancelled(in: Admission.step)
        case .timedOut:
            throw NetworkError(
                .timedOut, in: Admission.step, "It was not the call's turn to fly again before the deadline.")
        }
        return value
    }
}

extension Flight {
    /// The value of ``placed`` of a call without a place.
    static let noPlace: Int64 = -1

    /// Gives the call a place in the air.
    func holdPlace() { placed.store((clock.now - takeOff).nanoseconds, ordering: .relaxed) }

    /// Takes the call's place in the air from it, for whoever gives it back. Returns the instant at which the call got it; `nil` if it
    /// has none.
    func takePlace() -> Duration? {
        let placed = placed.exchange(Self.noPlace, ordering: .relaxed)
        return placed == Self.noPlace ? nil : takeOff + .nanoseconds(placed)
    }
}
