import RunwayTesting
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Waits for conditions, in real time.
@Suite(.timeLimit(.minutes(10)))
struct WaitUntilTests {
    @Test func conditionThatStaysFalseEndsTheWait() async throws {
        let error = await #expect(throws: ConditionTimedOut.self) {
            try await waitUntil("rain", within: .milliseconds(1)) { false }
        }
        #expect(error?.description.hasPrefix("Gave up after 0.001 seconds: waited for rain at ") == true)
    }

    @Test func standstillIsNotCountedAsAWait() async throws {
        var checkCount = 0
        try await waitUntil(within: .milliseconds(100)) {
            checkCount += 1
            // Nothing else happens meanwhile, as on a machine that stands still.
            if checkCount == 1 { usleep(200_000) }
            return checkCount == 2
        }
        #expect(checkCount == 2)
    }
}
