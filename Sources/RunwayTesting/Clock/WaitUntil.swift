/// Waits until a condition holds, for a test that no event notifies of it.
///
/// For tests of this package. Other tasks run between two checks of the condition: at first the caller yields, and
/// after a tenth of a second, when the condition depends on a socket or a file, it sleeps a millisecond between checks.
///
/// - Parameters:
///   - subject: The awaited state, to follow "waited for" in the error's text. The default is "the condition".
///   - limit: The longest wait, in real time. The default is 60 s.
///   - fileID: The file of the wait, which the error's text names.
///   - line: The line of the wait, which the error's text names.
///   - condition: Whether the wait has ended. It is checked at least once.
///   - step: Called after each check that fails, for example to advance a manual clock. The default does nothing.
/// - Throws: ``ConditionTimedOut`` if the condition does not hold within `limit`, `CancellationError` if the task is
///   cancelled before it holds, and the errors of `condition` and `step`.
package func waitUntil(
    _ subject: String = "the condition", within limit: Duration = .seconds(60), fileID: String = #fileID,
    line: Int = #line, _ condition: () async throws -> Bool, meanwhile step: () async throws -> Void = {}
) async throws {
    let start = ContinuousClock.now
    while try await !condition() {
        try Task.checkCancellation()
        let waited = ContinuousClock.now - start
        guard waited < limit else {
            throw ConditionTimedOut(subject: subject, limit: limit, place: "\(fileID):\(line)")
        }
        try await step()
        if waited < .milliseconds(100) {
            await Task.yield()
        } else {
            try await ContinuousClock().sleep(for: .milliseconds(1))
        }
    }
}

/// The error of a wait whose condition did not hold in time.
package struct ConditionTimedOut: Error, Hashable, CustomStringConvertible {
    /// The awaited state.
    package let subject: String
    /// The duration of the wait, in real time.
    package let limit: Duration
    /// The file and line of the wait.
    package let place: String

    /// The awaited condition and its place in one sentence.
    package var description: String { "Gave up after \(limit): waited for \(subject) at \(place)." }
}
