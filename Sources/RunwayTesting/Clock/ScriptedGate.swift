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

    /// Creates a closed gate.
    public init() {}

    /// Whether the test has opened the gate.
    public var isOpen: Bool { position.value > 0 }

    /// The number of responses that have reached this gate so far.
    public var arrivalCount: Int { arrivals.value }

    /// Releases all waiting responses, and lets later ones pass.
    public func open() {
        position.update { $0 = 1 }
    }

    /// Waits until the gate is open. Throws `CancellationError` if the task is cancelled before.
    ///
    /// A response with a pause at this gate calls this function. A scripted closure may call it, too.
    public func pass() async throws {
        arrivals.update { $0 += 1 }
        try await position.wait(until: 1)
    }

    /// Waits until at least `count` responses have reached the gate. The default is one.
    ///
    /// Throws an error after `limit` of real time (by default a minute), and `CancellationError`.
    public func waitForArrivals(count: Int = 1, within limit: Duration = .seconds(60)) async throws {
        try await arrivals.wait(atLeast: count, within: limit, subject: "arrivals at a gate")
    }
}
