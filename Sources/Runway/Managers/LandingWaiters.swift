@MainActor
final class LandingWaiters {
    private typealias LandingContinuation = CheckedContinuation<Result<RawData, NetworkError>, Never>

    private var waiters: [FlightID: [UInt64: LandingContinuation]] = [:]
    private var count: UInt64 = 0
    var waitingCount: Int { waiters.values.reduce(0) { $0 + $1.count } }

    /// Waits until a call ends or the task is cancelled. The call must not have ended yet.
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
                // There may be no waiter: the result may have been delivered before this turn of the main actor, or the
                // task was cancelled before it waited.
                let waiter = self?.waiters[flight]?.removeValue(forKey: number)
                waiter?.resume(returning: .failure(.cancelled(in: .landing)))
            }
        }
    }

    /// Resumes the tasks that wait for a call. Called when the result of the call is delivered.
    func landed(_ flight: FlightID, _ result: @autoclosure () -> Result<RawData, NetworkError>) {
        guard let waiting = waiters.removeValue(forKey: flight) else { return }
        let result = result()
        for waiter in waiting.values { waiter.resume(returning: result) }
    }

    /// Resumes the tasks that wait for a call. Called when the call ends without a delivered result.
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
    /// The error that a waiting task receives if the result of the call was not delivered, or if a later result
    /// replaced it.
    static func notLanded(_ flight: FlightID, _ reason: String) -> NetworkError {
        NetworkError(.cancelled, in: .landing, "\(flight) did not land: \(reason).")
    }
}
