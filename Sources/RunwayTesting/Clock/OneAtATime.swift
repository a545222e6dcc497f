import Synchronization

/// The number of operations that have got a turn.
private let turns = Atomic(0)
/// The number of operations that have ended.
private let ended = AwaitedValue(0)

/// Runs one operation of this process at a time, in the order of the calls.
///
/// Tests use it for processes that wait for their test. Swift Testing reads from such a process on a thread of the
/// concurrency pool. On a machine with two processors, two processes would take all threads, and wait forever.
///
/// The wait for a turn does not end when the task is cancelled. Throws the errors of `operation`.
package func oneAtATime<Value>(_ operation: () async throws -> Value) async rethrows -> Value {
    let turn = turns.wrappingAdd(1, ordering: .relaxed).oldValue
    // A task of its own is not cancelled with the caller.
    await Task { try? await ended.wait(until: turn) }.value
    defer { ended.update { $0 += 1 } }
    return try await operation()
}
