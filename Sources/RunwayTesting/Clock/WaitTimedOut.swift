/// What a wait of a test ends with when the awaited thing did not happen in time.
///
/// Every wait of this library has a limit in real time, so that a test which waits for something that never comes
/// fails with a sentence instead of hanging its whole run.
public struct WaitTimedOut: Error, Hashable, CustomStringConvertible {
    /// What was waited for, in the plural: `"sleepers"`, `"requests"`.
    public let subject: String
    /// How many the test asked for.
    public let expected: Int
    /// How many there were when the wait gave up.
    public let seen: Int
    /// How long the wait lasted, in real time.
    public let limit: Duration

    /// One sentence that says what was awaited and what came.
    public var description: String { "Gave up after \(limit): waited for \(expected) \(subject), saw \(seen)." }
}
