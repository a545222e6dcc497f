import Runway
import RunwaySignatures

extension Flight {
    /// Runs work in its own task. The task is cancelled and abandoned at the deadline of the call, and when the call is
    /// cancelled.
    ///
    /// - Parameters:
    ///   - sending: Whether the request was sent before the work. If the work is abandoned, the error states this.
    ///   - work: The work to run.
    func runInTime<Value: Sendable>(
        _ sending: SendState, _ work: @escaping @Sendable () async throws(NetworkError) -> Value
    ) async throws(NetworkError) -> Value {
        let race = Race<Result<Value, NetworkError>>()
        let cancelled = NetworkError(.cancelled, in: .signing, "The call was cancelled.", sending: sending)
        let result = await withDeadlineHandler {
            await race.run(onCancel: .failure(cancelled)) {
                do throws(NetworkError) { return .success(try await work()) } catch { return .failure(error) }
            }
        } onDeadline: {
            race.finish(
                .failure(
                    NetworkError(
                        .timedOut, in: .signing, "The deadline passed before the key had been found and used.",
                        sending: sending)))
        }
        return try result.get()
    }
}

extension NetworkError {
    /// Creates the error of a request that could not be signed and was not sent. It does not contain texts of the app's
    /// own errors.
    init(signing error: any Error) {
        switch error {
        case let error as NetworkError:
            self = error
            sending = .notSent
        case let error as SignatureError:
            self.init(
                .invalidConfiguration, in: .signing, "The request can't be signed: \(error).", sending: .notSent,
                underlying: error)
        case is CancellationError:
            self.init(.cancelled, in: .signing, "The call was cancelled.", sending: .notSent)
        default:
            self.init(
                .storage, in: .signing, "The key of the request can't be used: \(error.redactedDescription).",
                sending: .notSent, underlying: error)
        }
    }
}
