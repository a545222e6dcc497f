import Observation

/// Reports the progress of a manager's transfers.
@MainActor @Observable
final class TransferReports {
    fileprivate(set) var progress: TransferProgress?
}

extension APIManager {
    /// Returns a transfer that reports its progress to the delegate on the main actor. The transfer makes its last
    /// report before it returns.
    func transfer(
        in flight: Flight, _ reports: TransferReports,
        _ perform:
            @escaping @Sendable (Request, @escaping ProgressReporter.Receiver) async throws(NetworkError) -> RawData
    ) -> Transfer {
        reports.progress = nil
        let relay = ProgressRelay(clock: flight.clock) { [weak self, weak reports] progress in
            // A call that was cancelled or replaced must not report progress.
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
