/// A gate that holds a response until the test opens it.
///
/// ```swift
/// let gate = ScriptedGate()
/// origin.on(.get, "/list", respond: .json("[]").held(by: gate))
/// let flight = manager.load(ListEndpoint())
/// try await gate.waitForArrivals()    // the request was received, the response stands at the gate
/// manager.cancel(flight)
/// gate.open()
/// ```
///
/// A gate is closed when it is created, opens once, and stays open. Many responses can wait at one gate.
public final class ScriptedGate: Sendable {
    private let position = AwaitedValue(0)
    private let arrivals = AwaitedValue(0)

    /// Closes the gate until the test opens it.
    public init() {}

    /// Whether the gate was opened.
    public var isOpen: Bool { position.value > 0 }

    /// The number of responses that reached this gate so far, held or not.
    public var arrivalCount: Int { arrivals.value }

    /// Releases all responses that wait at the gate, and lets later ones pass.
    public func open() {
        position.update { $0 = 1 }
    }

    /// Returns once the gate is open; throws `CancellationError` when the task is cancelled before.
    ///
    /// Responses with a pause at this gate call it. A scripted closure can call it too.
    public func pass() async throws {
        arrivals.update { $0 += 1 }
        try await position.wait(until: 1)
    }

    /// Returns once at least `count` responses reached the gate; default: one.
    ///
    /// Throws ``WaitTimedOut`` after `limit` of real time (default: a minute), and `CancellationError`.
    public func waitForArrivals(count: Int = 1, within limit: Duration = .seconds(60)) async throws {
        try await arrivals.wait(atLeast: count, within: limit, subject: "arrivals at a gate")
    }
}
