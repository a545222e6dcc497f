/// The error of a wait whose event did not occur in time.
///
/// Every wait of this library has a limit in real time. If the event never occurs, the test fails with a sentence, and
/// the test run does not hang.
package struct WaitTimedOut: Error, Hashable, CustomStringConvertible {
    /// The plural name of the awaited things, such as `"sleepers"` or `"requests"`.
    package let subject: String
    /// The number that the test waited for.
    package let expected: Int
    /// The number that was reached at the timeout.
    package let seen: Int
    /// The maximum duration of the wait, in real time.
    package let limit: Duration

    /// A sentence with the expected and the reached number.
    package var description: String { "Gave up after \(limit): waited for \(expected) \(subject), saw \(seen)." }
}
