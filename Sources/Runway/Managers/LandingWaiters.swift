/// The tasks that wait for the landings of a manager's calls.
@MainActor
final class LandingWaiters {
    private typealias LandingContinuation = CheckedContinuation<Result<RawData, NetworkError>, Never>

    private var waiters: [FlightID: [UInt64: LandingContinuation]] = [:]
    private var count: UInt64 = 0
    /// The number of waiting tasks.
    var waitingCount: Int { waiters.values.reduce(0) { $0 + $1.count } }

    /// Waits for the end of a call that has not ended, or until the task is cancelled.
    func end(of flight: FlightID) async -> Result<RawData, NetworkError> {
        count += 1
        let number = count
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled { return continuation.resume(returning: .failure(.cancelled(in: .landing))) }
                waiters[flight, default: [:]][number] = continuation
            }
        } onCancel: {
            Task { @MainActor [weak self] in
                // The call may have landed before this turn of the main actor, and the task never waited if it was cancelled before.
                let waiter = self?.waiters[flight]?.removeValue(forKey: number)
                waiter?.resume(returning: .failure(.cancelled(in: .landing)))
            }
        }
    }

    /// A call landed.
    func landed(_ flight: FlightID, _ result: @autoclosure () -> Result<RawData, NetworkError>) {
        guard let waiting = waiters.removeValue(forKey: flight) else { return }
        let result = result()
        for waiter in waiting.values { waiter.resume(returning: result) }
    }

    /// Notes that a call ended without landing.
    func ended(_ flight: FlightID, as outcome: FlightOutcome) {
        if waiters[flight] == nil { return }
        var error = NetworkError.notLanded(flight, outcome.name)
        if let cause = outcome.serviceError {
            error = NetworkError(.service, in: .landing, "The service responded with its error \(cause).")
            error.serviceError = cause
        }
        landed(flight, .failure(error))
    }
}

extension NetworkError {
    /// The error of a wait for a call that did not land, or that landed before another one did.
    static func notLanded(_ flight: FlightID, _ reason: String) -> NetworkError {
        NetworkError(.cancelled, in: .landing, "\(flight) did not land: \(reason).")
    }
}
