/// A clock that stands still: whoever sleeps on it sleeps until the test wakes it, or until it is cancelled.
struct HeldClock: Clock {
    typealias Duration = Swift.Duration

    struct Instant: InstantProtocol {
        var offset: Duration

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    /// One call of `sleep`.
    struct Sleeper: Sendable {
        let duration: Duration
        /// Lets the call return.
        let wake: @Sendable () -> Void
        /// Yields once when the call has ended: true when it was cancelled.
        let ended: AsyncStream<Bool>
    }

    let now = Instant(offset: .zero)
    let minimumResolution: Duration = .zero

    /// Yields every call of `sleep` as it begins.
    let sleepers: AsyncStream<Sleeper>
    private let announcing: AsyncStream<Sleeper>.Continuation

    init() {
        (sleepers, announcing) = AsyncStream.makeStream()
    }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let (waking, wake) = AsyncStream<Void>.makeStream()
        let (ended, ending) = AsyncStream<Bool>.makeStream()
        announcing.yield(Sleeper(duration: deadline.offset, wake: { wake.finish() }, ended: ended))
        for await _ in waking {}
        ending.yield(Task.isCancelled)
        ending.finish()
        try Task.checkCancellation()
    }
}
