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
/// A SwiftUI view reads ``value``. A delegate is notified like the delegates of managers. A loop receives only the
/// newest of the results that arrived meanwhile.
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
    /// Is notified of every result and error, after the properties have changed.
    @ObservationIgnored public weak var delegate: (any ObservedDelegate)?

    @ObservationIgnored private var observation: AnyDatabaseCancellable?
    @ObservationIgnored private let start: Start
    /// The loops over this sequence, by their numbers.
    @ObservationIgnored private var loops: [Int: AsyncThrowingStream<Void, any Error>.Continuation] = [:]
    @ObservationIgnored private var loopCount = 0

    /// Begins an observation: the two functions receive its errors and results.
    typealias Start =
        @MainActor (_ fail: @escaping @MainActor (any Error) -> Void, _ land: @escaping @MainActor (Value) -> Void) ->
        AnyDatabaseCancellable

    init(_ start: @escaping Start) {
        self.start = start
        retry()
    }

    deinit { for loop in loops.values { loop.finish() } }

    /// Begins the observation again, such as after an error whose reason is gone.
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

    /// A loop over the present result, if there is one, and those that follow.
    @MainActor public struct Iterator: @MainActor AsyncIteratorProtocol {
        fileprivate var changes: AsyncThrowingStream<Void, any Error>.Iterator
        fileprivate let observed: Observed

        /// Returns the newest result when there is one that was not returned; `nil` when the observation was cancelled.
        ///
        /// - Throws: The error of a fetch.
        public mutating func next() async throws -> Value? {
            var changes = changes
            defer { self.changes = changes }
            return try await changes.next(isolation: MainActor.shared) == nil ? nil : observed.value
        }
    }

    /// Begins a loop. Of several results that come while it is busy, only the newest is delivered.
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
    /// A fetch has failed, and the observation has ended; see ``Observed/retry()``. The default does nothing.
    func observed<Value>(_ observed: Observed<Value>, didFailWith error: any Error)
}

extension ObservedDelegate {
    /// Does nothing.
    public func observed<Value>(_ observed: Observed<Value>, didFailWith error: any Error) {}
}
