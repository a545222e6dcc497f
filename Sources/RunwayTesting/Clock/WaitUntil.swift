/// Waits until a condition is true, for tests that have no event to wait for.
///
/// Other tasks run between two checks. At first the caller yields. After a tenth of a second it sleeps for a
/// millisecond between checks, since the condition may depend on a socket or a file.
///
/// - Parameters:
///   - subject: The awaited state, as it follows "waited for" in the error's text. The default is "the condition".
///   - limit: The maximum wait, in real time. The default is 60 s. The time between two checks counts as a sixtieth of
///     it at most: while the machine stands still, the condition can't become true.
///   - fileID: The file of the call, for the error's text.
///   - line: The line of the call, for the error's text.
///   - condition: Returns whether the wait is over. It is checked at least once.
///   - step: Called after each failed check, for example to advance a manual clock. The default does nothing.
/// - Throws: ``ConditionTimedOut`` if the condition is not true within `limit`, `CancellationError` if the task is
///   cancelled before, and the errors of `condition` and `step`.
package func waitUntil(
    _ subject: String = "the condition", within limit: Duration = .seconds(60), fileID: String = #fileID,
    line: Int = #line, _ condition: () async throws -> Bool, meanwhile step: () async throws -> Void = {}
) async throws {
    var (last, waited) = (ContinuousClock.now, Duration.zero)
    while try await !condition() {
        try Task.checkCancellation()
        let now = ContinuousClock.now
        waited += min(now - last, limit / 60)
        last = now
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

/// The error of a wait whose condition did not become true in time.
package struct ConditionTimedOut: Error, Hashable, CustomStringConvertible {
    package let subject: String
    package let limit: Duration
    /// The file and line of the call.
    package let place: String

    /// A sentence with the awaited state and the place of the call.
    package var description: String { "Gave up after \(limit): waited for \(subject) at \(place)." }
}
