package struct EventLimits: Sendable, Hashable {
    /// The maximum size of one line without its line end, in bytes.
    package var maximumLineByteCount: Int
    /// The maximum size of one event's type and data, in bytes.
    package var maximumEventByteCount: Int

    package init(maximumLineByteCount: Int = 1 << 20, maximumEventByteCount: Int = 4 << 20) {
        self.maximumLineByteCount = maximumLineByteCount
        self.maximumEventByteCount = maximumEventByteCount
    }
}

/// The error for a line or event that exceeds the limits. The rest of the stream can't be read.
public struct EventLimitExceeded: Error, Hashable, CustomStringConvertible {
    /// The part that exceeded its limit: `line` or `event`.
    public let subject: String
    /// The limit in bytes.
    public let maximumByteCount: Int

    /// A sentence with the limit.
    public var description: String {
        "The \(subject) that the server sent is larger than the \(maximumByteCount) bytes that its reader allows."
    }
}
