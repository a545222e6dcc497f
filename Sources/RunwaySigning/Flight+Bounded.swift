import Runway
import RunwaySignatures

extension Flight {
    /// Runs work in a task of its own, which is cancelled and left behind at the deadline of the call and when the call
    /// is cancelled.
    ///
    /// - Parameters:
    ///   - sending: Whether the request was sent before the work, for the error of one that is left behind.
    ///   - work: The work.
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
    /// The error of a request that could not be signed, and so was not sent. It has no text of an error of the app's
    /// own.
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
