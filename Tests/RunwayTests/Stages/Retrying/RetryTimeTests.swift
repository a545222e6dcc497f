import Foundation
import HTTPTypes
import RunwayTesting
import Testing

@testable import Runway

/// When another attempt is made, and what bounds the waits.
@Suite(.timeLimit(.minutes(10)))
struct RetryTimeTests {
    private func decision(_ retryAfter: String, status: Int = 503) async throws -> (RetryDecision?, FlakyLayer) {
        let flaky = FlakyLayer([.status(status, retryAfter: retryAfter), .fine])
        _ = await flaky.call(QueryCall())
        return (try await flaky.decisions().first, flaky)
    }

    @Test(arguments: [
        ("0", 0), ("7", 7), ("Thu, 01 Jan 2026 00:00:12 GMT", 12), ("Thursday, 01-Jan-26 00:00:03 GMT", 3),
    ])
    func retryAfterIsRespected(_ retryAfter: String, _ seconds: Int) async throws {
        for status in [429, 503] {
            let (decision, flaky) = try await decision(retryAfter, status: status)
            guard case .again(2, let wait, .overloaded, .seconds(Int64(seconds))) = decision else {
                Issue.record("\(String(describing: decision))")
                continue
            }
            // The jitter of an ordinary wait comes on top, so that not everybody comes back in one moment.
            #expect(wait >= .seconds(seconds) && wait <= .seconds(seconds) + .milliseconds(250))
            #expect(flaky.layer.clock.now.offset == wait)
            #expect(flaky.attemptCount == 2)
        }
    }

    @Test(arguments: ["Thu, 01 Jan 1970 00:00:00 GMT", "Wed, 31 Dec 2025 23:59:59 GMT"])
    func dateThatHasPassedIsNow(_ retryAfter: String) async throws {
        guard case .again(2, let wait, .overloaded, Duration.zero) = try await decision(retryAfter).0 else {
            Issue.record("not tried again")
            return
        }
        #expect(wait <= .milliseconds(250))
    }

    @Test(arguments: ["", "-5", "soon", "5, 6", "1.5", "Thu, 32 Jan 2026 00:00:00 GMT"])
    func invalidRetryAfterIsIgnored(_ retryAfter: String) async throws {
        guard case .again(2, let wait, .overloaded, nil) = try await decision(retryAfter).0 else {
            Issue.record("not tried again")
            return
        }
        #expect(wait <= .milliseconds(250))
    }

    @Test(arguments: ["61", "3600", "99999999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT"])
    func waitBeyondTheDeadlineFailsAtOnce(_ retryAfter: String) async throws {
        let (decision, flaky) = try await decision(retryAfter)
        guard case .gaveUp(.deadline(let wait), .overloaded) = decision else {
            Issue.record("\(String(describing: decision))")
            return
        }
        #expect(wait >= .seconds(60))
        #expect(flaky.layer.clock.now.offset == .zero)
        #expect(flaky.attemptCount == 1)
        guard let error = try await flaky.layer.record().outcome.error else {
            Issue.record("no failure")
            return
        }
        #expect(error.kind == .overloaded && error.status == .serviceUnavailable)
    }

    @Test func noWaitEndsAtOrAfterTheDeadline() async throws {
        for seed in 1...20 {
            let flaky = FlakyLayer([.lost()])
            flaky.layer.network.configure(Library.self) { $0.deadline = .milliseconds(900) }
            let policy = RetryPolicy(maximumAttempts: 9, baseWait: .milliseconds(seed * 45))
            let error = await flaky.call(
                QueryCall(), options: CallOptions(retry: policy), within: .milliseconds(900)
            ).failure
            #expect(error?.kind == .noNetwork)
            #expect(flaky.layer.clock.now.offset < .milliseconds(900))
            guard case .gaveUp = try await flaky.decisions().last else {
                Issue.record("the record does not say why")
                return
            }
        }
    }

    @Test func callCancelledWhileWaitingEndsAtOnce() async throws {
        let flaky = FlakyLayer([.lost()])
        let call = Task { [network = flaky.layer.network] in try await network.call(QueryCall()) }
        // One sleeps until the deadline, the other until the next attempt.
        try await flaky.layer.clock.waitForSleepers(count: 2)
        call.cancel()
        let error = await #expect(throws: NetworkError.self) { try await call.value }
        #expect(error?.kind == .cancelled)
        #expect(flaky.attemptCount == 1)
        #expect(flaky.layer.clock.now.offset == .zero)
        #expect(try await flaky.layer.record().outcome.name == "cancelled")
    }

    @Test func outageRetriesStayWithinTheHostsBudget() async throws {
        let flaky = FlakyLayer([.lost()])
        for _ in 0..<100 {
            _ = await flaky.call(QueryCall(), options: CallOptions(retry: RetryPolicy(baseWait: .zero)))
        }
        // A hundred calls, ten of reserve, and one for every ten calls.
        #expect(flaky.attemptCount <= 100 + 10 + 10)
        #expect(flaky.attemptCount >= 100 + 10 + 8)
        await flaky.layer.network.flushRecords()
        let last = flaky.layer.records.records.flatMap { $0.decisions(of: RetryDecision.self) }
        #expect(last.contains(.gaveUp(.budgetSpent, cause: .noNetwork(.unknown))))
    }

    @Test func hostsHaveBudgetsOfTheirOwn() async throws {
        let flaky = FlakyLayer([.lost()])
        let options = CallOptions(retry: RetryPolicy(baseWait: .zero))
        for _ in 0..<20 { _ = await flaky.call(QueryCall(), options: options) }
        let before = flaky.attemptCount
        _ = await flaky.call(PaintingList(), options: options)
        #expect(flaky.attemptCount == before + 3)
    }

    @Test func decisionsReadAsSentences() {
        #expect(
            RetryDecision.again(attempt: 2, wait: .milliseconds(130), cause: .noNetwork(.notSent), retryAfter: nil)
                .description
                == "no connection: attempt 2 in 130 ms")
        #expect(
            RetryDecision.again(attempt: 3, wait: .milliseconds(5130), cause: .overloaded, retryAfter: .seconds(5))
                .description
                == "overloaded: attempt 3 in 5.13 s, of which the server asked for 5 s")
        #expect(
            RetryDecision.gaveUp(.deadline(wait: .seconds(9000)), cause: .status(502)).description
                == "status 502: not retried, 9000 s of waiting would end after the deadline")
        #expect(
            RetryDecision.gaveUp(.notRepeatable, cause: .timedOut(.unknown)).description
                == "no response in time: not retried, the request may have had its effect")
        #expect(
            RetryDecision.gaveUp(.attemptsUsed(3), cause: .overloaded).description
                == "overloaded: given up after 3 attempts")
    }
}
