import Observation

/// The progress of a manager's transfers that it shows.
@MainActor @Observable
final class TransferReports {
    fileprivate(set) var progress: TransferProgress?
}

extension APIManager {
    /// Returns a transfer whose progress is reported to the delegate on the main actor, for the last time before the
    /// transfer returns.
    func transfer(
        in flight: Flight, _ reports: TransferReports,
        _ perform:
            @escaping @Sendable (Request, @escaping ProgressReporter.Receiver) async throws(NetworkError) -> RawData
    ) -> Transfer {
        reports.progress = nil
        let relay = ProgressRelay(clock: flight.clock) { [weak self, weak reports] progress in
            // A call that was cancelled or replaced reports nothing.
            guard let self, isPending(flight) else { return }
            reports?.progress = progress
            delegate?.apiManager(self, didTransfer: progress, of: flight.id)
        }
        return { request throws(NetworkError) in
            let result: Result<RawData, NetworkError>
            do throws(NetworkError) {
                result = .success(try await perform(request) { relay.report($0) })
            } catch {
                result = .failure(error)
            }
            await relay.end()
            return try result.get()
        }
    }
}
