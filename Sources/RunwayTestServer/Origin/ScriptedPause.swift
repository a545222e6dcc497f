public import RunwayTesting

/// An event for which a scripted response waits before it continues.
public struct ScriptedPause: Sendable {
    private let wait: @Sendable () async throws -> Void

    /// Waits for `duration` on `clock`. With a `ManualClock`, the test decides when the time has passed.
    public static func delay(_ duration: Duration, on clock: any Clock<Duration>) -> ScriptedPause {
        ScriptedPause { try await clock.sleep(for: duration) }
    }

    /// Waits until the test opens `gate`.
    public static func gate(_ gate: ScriptedGate) -> ScriptedPause {
        ScriptedPause { try await gate.pass() }
    }

    private init(wait: @escaping @Sendable () async throws -> Void) { self.wait = wait }

    func callAsFunction() async throws { try await wait() }
}
