public import Runway

/// A delegate that records its notifications, for a test to assert on and wait for.
///
/// A manager holds its delegate weakly: the test has to hold a reference to the recorder.
@MainActor
public final class LandingRecorder: APIManagerDelegate {
    /// One landing.
    public struct Landing {
        /// The call.
        public let flight: FlightID?
        /// The parameters of the call.
        public let endpoint: (any Endpoint)?
        /// The response or the error of the call.
        public let result: Result<RawData, NetworkError>
    }

    /// The landings so far, in order.
    public private(set) var landings: [Landing] = []
    /// Reports of the progress of transfers so far, in order.
    public private(set) var progress: [TransferProgress] = []
    /// Called with every landing, after it was recorded.
    public var onLanding: ((Landing, any APIManaging) -> Void)?
    private let count = AwaitedValue(0)

    /// Creates a recorder. It records every landing of the managers whose delegate it is.
    public init() {}

    /// Records a success.
    public func apiManagerDidSucceed(_ manager: any APIManaging) {
        store(.success(manager.rawData ?? RawData([])), of: manager)
    }

    /// Records a failure.
    public func apiManager(_ manager: any APIManaging, didFailWith error: NetworkError) {
        store(.failure(error), of: manager)
    }

    /// Records the progress of a transfer.
    public func apiManager(
        _ manager: any APIManaging, didTransfer progress: TransferProgress, of flight: FlightID
    ) { self.progress.append(progress) }

    /// Waits until there are at least `count` landings, and returns all of them.
    ///
    /// - Parameters:
    ///   - count: The number of landings to wait for.
    ///   - limit: The longest wait, in real time. The default is 60 s.
    /// - Throws: ``WaitTimedOut``, and `CancellationError` when the task is cancelled.
    @discardableResult
    public func landings(count: Int, within limit: Duration = .seconds(60)) async throws -> [Landing] {
        try await self.count.wait(atLeast: count, within: limit, subject: "landings")
        return landings
    }

    private func store(_ result: Result<RawData, NetworkError>, of manager: any APIManaging) {
        let landing = Landing(flight: manager.landedFlight, endpoint: manager.landedEndpoint, result: result)
        landings.append(landing)
        onLanding?(landing, manager)
        count.update { $0 = landings.count }
    }
}
