import GRDB
public import Observation
import Runway

/// The newest result of a read, which is fetched again after each commit that may have changed it.
///
/// ```swift
/// let tasks = store.observe { try $0.fetch(Tasks.self, where: Tasks.list == list) }
/// tasks.delegate = self
/// for try await rows in tasks { show(rows) }
/// ```
///
/// A SwiftUI view reads ``value``. A delegate is notified as the delegates of managers are. If several results arrive
/// while a loop is busy, the loop receives only the newest.
///
/// Results are fetched in the background and delivered on the main actor. A result that equals the last one is not
/// delivered. The observation ends with ``cancel()``, or when this object is released.
@MainActor @Observable
public final class Observed<Value> {
    /// The newest result; `nil` before the first.
    public private(set) var value: Value?
    /// The reason why the last fetch failed; `nil` if it did not. After an error the observation has ended; see
    /// ``retry()``.
    public private(set) var error: (any Error)?
    /// Notified of each result and error, after the properties have changed.
    @ObservationIgnored public weak var delegate: (any ObservedDelegate)?

    @ObservationIgnored private var observation: AnyDatabaseCancellable?
    @ObservationIgnored private let start: Start
    /// The loops over this sequence, by their numbers.
    @ObservationIgnored private var loops: [Int: AsyncThrowingStream<Void, any Error>.Continuation] = [:]
    @ObservationIgnored private var loopCount = 0

    /// Begins an observation, which passes its errors and results to the two functions.
    typealias Start =
        @MainActor (_ fail: @escaping @MainActor (any Error) -> Void, _ land: @escaping @MainActor (Value) -> Void) ->
        AnyDatabaseCancellable

    init(_ start: @escaping Start) {
        self.start = start
        retry()
    }

    deinit { for loop in loops.values { loop.finish() } }

    /// Begins the observation again, for example after the cause of an error was removed.
    public func retry() {
        observation = start({ [weak self] in self?.fail($0) }, { [weak self] in self?.land($0) })
    }

    /// Ends the observation. ``value`` stays as it is, and loops over this sequence end.
    public func cancel() {
        observation = nil
        finish(nil)
    }

    private func land(_ value: Value) {
        self.value = value
        if error != nil { error = nil }
        for loop in loops.values { loop.yield() }
        delegate?.observedDidLand(self)
    }

    private func fail(_ error: any Error) {
        self.error = error
        finish(error)
        delegate?.observed(self, didFailWith: error)
    }

    private func finish(_ error: (any Error)?) {
        for loop in loops.values { loop.finish(throwing: error) }
        loops = [:]
    }
}

extension Observed: @MainActor AsyncSequence {
    /// A result.
    public typealias Element = Value
    /// The error of a fetch.
    public typealias Failure = any Error

    /// A loop over the present result, if there is one, and all later results.
    @MainActor public struct Iterator: @MainActor AsyncIteratorProtocol {
        fileprivate var changes: AsyncThrowingStream<Void, any Error>.Iterator
        fileprivate let observed: Observed

        /// Waits for a result that this loop has not received, and returns the newest one. Returns `nil` when the
        /// observation was cancelled.
        ///
        /// - Throws: The error of a fetch.
        public mutating func next() async throws -> Value? {
            var changes = changes
            defer { self.changes = changes }
            return try await changes.next(isolation: MainActor.shared) == nil ? nil : observed.value
        }
    }

    /// Begins a loop. If several results arrive while the loop is busy, only the newest is delivered.
    public func makeAsyncIterator() -> Iterator {
        let (changes, loop) = AsyncThrowingStream<Void, any Error>.makeStream(bufferingPolicy: .bufferingNewest(1))
        if value != nil { loop.yield() }
        if observation == nil || error != nil {
            loop.finish(throwing: error)
        } else {
            loopCount += 1
            let number = loopCount
            loops[number] = loop
            loop.onTermination = { [weak self] _ in Task { @MainActor in self?.loops[number] = nil } }
        }
        return Iterator(changes: changes.makeAsyncIterator(), observed: self)
    }
}

/// Notified when an observation lands, like the delegates of managers.
@MainActor public protocol ObservedDelegate: AnyObject {
    /// Called when a result has arrived; ``Observed/value`` has it.
    func observedDidLand<Value>(_ observed: Observed<Value>)
    /// Called when a fetch has failed, and the observation has ended; see ``Observed/retry()``. The default does
    /// nothing.
    func observed<Value>(_ observed: Observed<Value>, didFailWith error: any Error)
}

extension ObservedDelegate {
    /// Does nothing.
    public func observed<Value>(_ observed: Observed<Value>, didFailWith error: any Error) {}
}
