import Synchronization

/// The progress of a transfer.
///
/// Within one body the count only grows. The last report of a successful transfer includes all bytes. The count
/// decreases if the transfer has to start over: if a downloaded file has changed on the server, if an upload is sent a
/// second time, or if an upload continues at an offset that is less than the number of sent bytes.
public struct TransferProgress: Sendable, Hashable {
    /// The number of bytes that were received, or passed to the transport. It includes bytes of an earlier download
    /// that was resumed.
    public var completedByteCount: Int
    /// The total number of bytes; `nil` if it is unknown.
    public var totalByteCount: Int?

    /// The completed fraction, from 0 to 1; `nil` if the total is unknown.
    public var fraction: Double? {
        totalByteCount.map { $0 == 0 ? 1 : Double(completedByteCount) / Double($0) }
    }

    /// Creates a value with the completed and total number of bytes.
    public init(completedByteCount: Int, totalByteCount: Int?) {
        self.completedByteCount = completedByteCount
        self.totalByteCount = totalByteCount
    }

    /// Receives the progress of a transfer in the isolation of the code that started the transfer, for example on the
    /// main actor.
    ///
    /// The transfer does not wait for this function. Reports that arrive while the function runs are replaced by the
    /// latest of them.
    public typealias Report = (TransferProgress) -> Void
}

extension TransferProgress {
    /// Runs a transfer, and calls `report` with its progress in the caller's isolation. The last report is made before
    /// the function returns.
    ///
    /// - Parameters:
    ///   - report: Receives the progress; `nil` if nobody needs it.
    ///   - transfer: The transfer. The function that it receives may be called from any thread, and returns
    ///     immediately.
    static func reported<Value: Sendable>(
        to report: Report?,
        _ transfer: @escaping @Sendable (ProgressReporter.Receiver?) async throws(NetworkError) -> Value
    ) async throws(NetworkError) -> Value {
        guard let report else { return try await transfer(nil) }
        // Only the latest report waits for the caller's actor.
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
        // If the caller is cancelled, the loop ends at once, although the transfer may have succeeded. The last report
        // is then made here.
        if case .success = result { newest.take().map(report) }
        return try result.get()
    }

    @concurrent private static func result<Value: Sendable>(
        of transfer: @Sendable () async throws(NetworkError) -> Value
    ) async -> Result<Value, NetworkError> {
        do throws(NetworkError) { return .success(try await transfer()) } catch { return .failure(error) }
    }
}

/// The latest progress that was not reported.
private final class NewestProgress: Sendable {
    /// Guards the progress, which is `nil` after it was taken.
    private let progress = Mutex<TransferProgress?>(nil)

    func replace(with newer: TransferProgress) { progress.withLock { $0 = newer } }

    func take() -> TransferProgress? {
        progress.withLock { progress in
            defer { progress = nil }
            return progress
        }
    }
}
