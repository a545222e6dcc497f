import Synchronization

/// The progress of a transfer.
///
/// Within one body the count only grows, and the last report of a successful transfer includes all bytes. It decreases
/// if the transfer has to start over: a download whose file has changed on the server, an upload that is sent a second
/// time, or that continues where the server has less than was sent.
public struct TransferProgress: Sendable, Hashable {
    /// The number of bytes that were received, or passed to the wire, including those of an earlier download that was
    /// resumed.
    public var completedByteCount: Int
    /// The number of bytes in all; `nil` if it is not known.
    public var totalByteCount: Int?

    /// The completed share, between 0 and 1; `nil` if the total is not known.
    public var fraction: Double? {
        totalByteCount.map { $0 == 0 ? 1 : Double(completedByteCount) / Double($0) }
    }

    /// Creates the progress of a transfer.
    public init(completedByteCount: Int, totalByteCount: Int?) {
        self.completedByteCount = completedByteCount
        self.totalByteCount = totalByteCount
    }

    /// Receives the progress of a transfer, in the isolation of the code that started it: on the main actor, if that
    /// runs there.
    ///
    /// The transfer does not wait for it: reports that come while it runs are replaced by the newest of them.
    public typealias Report = (TransferProgress) -> Void
}

extension TransferProgress {
    /// Runs a transfer, and calls `report` with its progress in the isolation of the caller, for the last time before
    /// it returns.
    ///
    /// - Parameters:
    ///   - report: Receives the progress; `nil` if no receiver wants it.
    ///   - transfer: The transfer. The function that it receives may be called from any thread, and returns at once.
    static func reported<Value: Sendable>(
        to report: Report?,
        _ transfer: @escaping @Sendable (ProgressReporter.Receiver?) async throws(NetworkError) -> Value
    ) async throws(NetworkError) -> Value {
        guard let report else { return try await transfer(nil) }
        // Only the newest report waits for the caller's actor.
        let newest = NewestProgress()
        let (arrivals, relay) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        async let transferred = Self.result { () async throws(NetworkError) in
            defer { relay.finish() }
            return try await transfer {
                newest.replace(with: $0)
                relay.yield()
            }
        }
        for await _ in arrivals { newest.take().map(report) }
        let result = await transferred
        // For a cancelled caller the loop ends at once, and the transfer may have succeeded before it noticed.
        if case .success = result { newest.take().map(report) }
        return try result.get()
    }

    @concurrent private static func result<Value: Sendable>(
        of transfer: @Sendable () async throws(NetworkError) -> Value
    ) async -> Result<Value, NetworkError> {
        do throws(NetworkError) { return .success(try await transfer()) } catch { return .failure(error) }
    }
}

/// The newest progress that was not reported yet.
private final class NewestProgress: Sendable {
    /// Guards the progress; `nil` after it was taken.
    private let progress = Mutex<TransferProgress?>(nil)

    func replace(with newer: TransferProgress) { progress.withLock { $0 = newer } }

    func take() -> TransferProgress? {
        progress.withLock { progress in
            defer { progress = nil }
            return progress
        }
    }
}
