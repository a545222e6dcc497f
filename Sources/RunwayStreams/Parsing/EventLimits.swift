/// Limits for the sizes of lines and events that a parser accepts.
package struct EventLimits: Sendable, Hashable {
    /// The most bytes of one line, without its end.
    package var maximumLineByteCount: Int
    /// The most bytes of one event's type and data.
    package var maximumEventByteCount: Int

    package init(maximumLineByteCount: Int = 1 << 20, maximumEventByteCount: Int = 4 << 20) {
        self.maximumLineByteCount = maximumLineByteCount
        self.maximumEventByteCount = maximumEventByteCount
    }
}

/// A line or an event of the server is larger than the limits allow. The stream can't be read any further.
public struct EventLimitExceeded: Error, Hashable, CustomStringConvertible {
    /// The part that was too large: `line` or `event`.
    public let subject: String
    /// The most bytes that were allowed.
    public let maximumByteCount: Int

    /// A sentence that names the limit.
    public var description: String {
        "The \(subject) that the server sent is larger than the \(maximumByteCount) bytes that its reader allows."
    }
}
