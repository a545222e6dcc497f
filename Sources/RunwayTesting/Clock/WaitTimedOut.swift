/// The error of a wait whose event did not occur in time.
///
/// Every wait of this library has a limit in real time. If the event never occurs, the test fails with a sentence, and
/// the test run does not hang.
public struct WaitTimedOut: Error, Hashable, CustomStringConvertible {
    /// The plural name of the awaited things, such as `"sleepers"` or `"requests"`.
    public let subject: String
    /// The number that the test waited for.
    public let expected: Int
    /// The number that was reached at the timeout.
    public let seen: Int
    /// The maximum duration of the wait, in real time.
    public let limit: Duration

    /// A sentence with the expected and the reached number.
    public var description: String { "Gave up after \(limit): waited for \(expected) \(subject), saw \(seen)." }
}
