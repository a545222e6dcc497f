/// The error of a test's wait whose event did not happen in time.
///
/// Every wait of this library has a limit in real time, so that a test that waits for an event that never happens fails
/// with a sentence instead of hanging its whole run.
public struct WaitTimedOut: Error, Hashable, CustomStringConvertible {
    /// The awaited things, in the plural: `"sleepers"`, `"requests"`.
    public let subject: String
    /// The number that the test waited for.
    public let expected: Int
    /// The number that was reached when the wait timed out.
    public let seen: Int
    /// The duration of the wait, in real time.
    public let limit: Duration

    /// The awaited and the reached number in one sentence.
    public var description: String { "Gave up after \(limit): waited for \(expected) \(subject), saw \(seen)." }
}
