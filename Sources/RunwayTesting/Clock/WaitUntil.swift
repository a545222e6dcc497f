/// Waits until a condition holds, for a test that no event notifies of it.
///
/// For tests of this package. Other tasks run between two checks of the condition: at first the caller yields, and after a
/// tenth of a second, when the condition depends on a socket or a file, it sleeps a millisecond between checks.
///
/// - Parameters:
///   - subject: What is awaited, to stand after "waited for" in the error's text. Default: "the condition".
///   - limit: How long to wait at most, in real time. Default: 60 seconds.
///   - fileID: The file of the wait, which the error's text names.
///   - line: The line of the wait, which the error's text names.
///   - condition: Whether the wait is over. It is checked at least once.
///   - step: What to do after each check that fails, such as advancing a manual clock. Default: nothing.
/// - Throws: ``ConditionTimedOut`` if the condition does not hold within `limit`, `CancellationError` if the task is cancelled
///   before it holds, and what `condition` and `step` throw.
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
    /// What was awaited.
    package let subject: String
    /// How long the wait lasted, in real time.
    package let limit: Duration
    /// The file and line of the wait.
    package let place: String

    /// One sentence that names what was awaited, and where.
    package var description: String { "Gave up after \(limit): waited for \(subject) at \(place)." }
}
