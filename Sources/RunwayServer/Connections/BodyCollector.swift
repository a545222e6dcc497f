import HTTPTypes
public import Hummingbird
public import NIOCore
import RunwayFormats
import Synchronization

/// Receives whole bodies into memory. It limits the time for each body, and the bytes of all bodies together.
///
/// The routes and the middleware of this module receive bodies with ``shared``. Use it in your own handlers, too:
///
/// ```swift
/// let body = try await BodyCollector.shared.collect(request.body, upTo: 1 << 20)
/// ```
///
/// A body may be silent for 20 s. It must arrive at 500 bytes per second on average, and must end within one minute or
/// arrive at 64 KiB per second. Bytes count only while a body is being received; afterwards, the handler has to limit
/// its own use of memory.
public final class BodyCollector: Sendable {
    /// The collector that all routes of the process share.
    public static let shared = BodyCollector()

    private struct State {
        var maximumTotalByteCount: Int
        /// The number of bytes in all bodies that are being received.
        var byteCount = 0
    }

    /// Guards the number of received bytes and its limit.
    private let state: Mutex<State>
    private let time: ElapsedTime

    /// Creates a collector with its own limit.
    ///
    /// - Parameters:
    ///   - maximumTotalByteCount: The maximum number of bytes in all bodies that are being received. The default is 128
    ///     MiB.
    ///   - clock: Measures the time that bodies take. The default is the continuous clock.
    public init<C: Clock>(maximumTotalByteCount: Int = 128 << 20, clock: C = ContinuousClock())
    where C.Duration == Duration {
        state = Mutex(State(maximumTotalByteCount: maximumTotalByteCount))
        time = ElapsedTime(clock)
    }

    /// The maximum number of bytes in all bodies that are being received. The default is 128 MiB. Set it according to
    /// the memory of the process; a change applies to every byte that arrives later.
    ///
    /// If a body's route allows more bytes, the route's limit applies instead. A body is therefore never refused while
    /// it is the only one.
    public var maximumTotalByteCount: Int {
        get { state.withLock { $0.maximumTotalByteCount } }
        set { state.withLock { $0.maximumTotalByteCount = newValue } }
    }

    /// The number of bytes in all bodies that are being received.
    var byteCount: Int { state.withLock { $0.byteCount } }

    /// Receives a body completely.
    ///
    /// - Throws: `NIOTooManyBytesError` if the body has more than `maximumByteCount` bytes. `HTTPResponseError` if the
    ///   body arrives too slowly (408), or if too many bytes of all bodies are being received (503).
    public func collect(_ body: RequestBody, upTo maximumByteCount: Int) async throws -> ByteBuffer {
        let collected = Collected()
        defer {
            let byteCount = collected.bytes.withLock { $0.readableBytes }
            state.withLock { $0.byteCount -= byteCount }
        }
        try await BodyReception(within: BodyTimeLimits(), by: time).receive(body) { part in
            try collected.bytes.withLock { bytes in
                guard bytes.readableBytes + part.readableBytes <= maximumByteCount else {
                    throw NIOTooManyBytesError(maxBytes: maximumByteCount)
                }
                guard self.take(part.readableBytes, ofBodyUpTo: maximumByteCount) else {
                    throw BodyRefusal.tooManyBytes
                }
                bytes.writeImmutableBuffer(part)
            }
        }
        return collected.bytes.withLock { $0 }
    }

    /// Adds to the number of bytes. Returns `false` and adds nothing if the limit would be exceeded.
    private func take(_ byteCount: Int, ofBodyUpTo maximumByteCount: Int) -> Bool {
        state.withLock { state in
            // If this body is the only one, only its route limits it; otherwise it would be refused forever.
            let maximumTotalByteCount = max(state.maximumTotalByteCount, maximumByteCount)
            guard state.byteCount + byteCount <= maximumTotalByteCount else { return false }
            state.byteCount += byteCount
            return true
        }
    }

    private final class Collected: Sendable {
        /// Guards the received bytes.
        let bytes = Mutex(ByteBuffer())
    }
}

/// The reason why a body is not received. Hummingbird sends it as a response unless a handler catches it.
struct BodyRefusal: Error, Hashable, HTTPResponseError {
    /// The body arrived too slowly: 408 (RFC 9110 §15.5.9).
    static let tooSlow = BodyRefusal(status: .requestTimeout)
    /// Too many bytes are being received: 503, which is temporary (RFC 9110 §15.6.4).
    static let tooManyBytes = BodyRefusal(status: .serviceUnavailable)

    let status: HTTPResponse.Status

    /// Returns a problem response (RFC 9457) with `Retry-After`. Its `type` is `urn:runway:body:` followed by the
    /// reason.
    func response(from request: Request, context: some RequestContext) throws -> Response {
        // The response has no `Connection: close`, since HTTP/2 forbids the field (RFC 9113 §8.2.2). The rest of the
        // body is read and discarded.
        let (reason, title) =
            self == .tooSlow
            ? ("tooSlow", "the body came too slowly") : ("tooManyBytes", "too many bodies are being received")
        return Response(Problem(type: Problem.Family.body.type(reason), title, status), [.retryAfter: "5"])
    }
}

/// Receives one body, and fails if it arrives too slowly.
final class BodyReception: Sendable {
    /// Guards the deadline for more bytes.
    private let deadline: Mutex<BodyDeadline>
    private let time: ElapsedTime

    init(within limits: BodyTimeLimits, by time: ElapsedTime) {
        deadline = Mutex(BodyDeadline(limits, at: time.now()))
        self.time = time
    }

    /// Passes each part to `consume` as it arrives. The time that `consume` takes does not count towards the limits.
    ///
    /// - Throws: ``BodyRefusal/tooSlow``, or the error of the body or of `consume`.
    func receive(
        _ body: RequestBody, _ consume: @escaping @Sendable (ByteBuffer) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                for try await part in body {
                    self.deadline.withLock { [now = self.time.now()] deadline in
                        deadline.receive(part.readableBytes, at: now)
                        deadline.pause(at: now)
                    }
                    try await consume(part)
                    self.deadline.withLock { $0.resume(at: self.time.now()) }
                }
                return true
            }
            group.addTask {
                while let next = self.deadline.withLock({ $0.nextCheck(at: self.time.now()) }) {
                    try await self.time.sleep(next)
                }
                return false
            }
            defer { group.cancelAll() }
            guard try await group.next() == true else { throw BodyRefusal.tooSlow }
        }
    }
}

/// A clock whose instants are durations since this value was created.
struct ElapsedTime: Sendable {
    let now: @Sendable () -> Duration
    /// Sleeps until an instant. Throws `CancellationError` if the task is cancelled.
    let sleep: @Sendable (_ instant: Duration) async throws -> Void

    init<C: Clock>(_ clock: C) where C.Duration == Duration {
        let origin = clock.now
        now = { origin.duration(to: clock.now) }
        sleep = { try await clock.sleep(until: origin.advanced(by: $0), tolerance: nil) }
    }
}
