/// The progress of a transfer.
///
/// Within one body the count only grows, and the last report of a successful transfer includes all bytes. It decreases if the
/// transfer has to start over: a download whose file has changed on the server, an upload that is sent a second time.
public struct TransferProgress: Sendable, Hashable {
    /// How many bytes were received, or passed to the wire, including those of an earlier download that was resumed.
    public var completedByteCount: Int
    /// How many there are in all; `nil` if that is not known.
    public var totalByteCount: Int?

    /// The completed share, between 0 and 1; `nil` if the total is not known.
    public var fraction: Double? {
        totalByteCount.map { $0 == 0 ? 1 : Double(completedByteCount) / Double($0) }
    }

    /// The progress of a transfer of which so many bytes are done.
    public init(completedByteCount: Int, totalByteCount: Int?) {
        self.completedByteCount = completedByteCount
        self.totalByteCount = totalByteCount
    }

    /// Receives the progress of a transfer. It runs outside every actor and must return soon: the transfer waits for it.
    public typealias Report = @Sendable (TransferProgress) -> Void
}
