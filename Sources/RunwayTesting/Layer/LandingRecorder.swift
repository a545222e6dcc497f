public import Runway

/// A delegate that records its notifications, so that a test can check them and wait for them.
///
/// A manager holds its delegate weakly, so the test has to hold a reference to the recorder.
@MainActor
public final class LandingRecorder: APIManagerDelegate {
    /// A landing: one notification that a call has succeeded or failed.
    public struct Landing {
        /// The id of the call; `nil` if the manager has none.
        public let flight: FlightID?
        /// The endpoint of the call, with its parameters.
        public let endpoint: (any Endpoint)?
        /// The response or the error of the call.
        public let result: Result<RawData, NetworkError>
    }

    /// The notifications about ended calls so far, in order.
    public private(set) var landings: [Landing] = []
    /// The reported progress of transfers so far, in order.
    public private(set) var progress: [TransferProgress] = []
    /// Called for every notification about an ended call, after it was recorded.
    public var onLanding: ((Landing, any APIManaging) -> Void)?
    private let count = AwaitedValue(0)

    /// Creates a recorder. Set it as the delegate of managers to record the ends of their calls.
    public init() {}

    /// Records the success of a call.
    public func apiManagerDidSucceed(_ manager: any APIManaging) {
        store(.success(manager.rawData ?? RawData([])), of: manager)
    }

    /// Records the failure of a call.
    public func apiManager(_ manager: any APIManaging, didFailWith error: NetworkError) {
        store(.failure(error), of: manager)
    }

    /// Records the progress of a transfer.
    public func apiManager(
        _ manager: any APIManaging, didTransfer progress: TransferProgress, of flight: FlightID
    ) { self.progress.append(progress) }

    /// Waits until at least `count` calls have ended, and returns the notifications about all of them.
    ///
    /// - Parameters:
    ///   - count: The number of ended calls to wait for.
    ///   - limit: The maximum wait, in real time. The default is 60 s.
    /// - Throws: An error after `limit`, and `CancellationError` if the task is cancelled.
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
