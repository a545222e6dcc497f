import Foundation
import Testing

@testable import RunwayStorage

extension FlushSchedule {
    /// As many records of nobody wait.
    fileprivate mutating func noteWaiting(_ count: Int, isUrgent: Bool = false, at now: Duration = .zero) {
        noteWaiting(["": count], isUrgent: isUrgent, at: now)
    }

    /// The batch of the records of nobody is over.
    fileprivate mutating func didSend(_ outcome: Outcome, waiting: Int = 30, ended: Int = 0, jitter: Double = 1) {
        didSend("", outcome, waiting: ["": waiting], ended: ["": ended], at: .zero, jitter: jitter)
    }

    fileprivate func step(at now: Duration = .zero) -> Step { step(isNetworkAllowed: true, at: now) }
}

struct FlushScheduleTests {
    private func schedule(
        waiting: Int = 0, isNetworkAllowed: Bool = true, _ change: (inout ActionLogOptions) -> Void = { _ in }
    ) -> FlushSchedule {
        var options = ActionLogOptions()
        options.gap = .zero
        change(&options)
        var schedule = FlushSchedule(options, isNetworkAllowed: isNetworkAllowed)
        schedule.noteWaiting(waiting)
        return schedule
    }

    private let full = FlushSchedule.Step.send(scope: "", limit: 30)

    @Test func fewRecordsWait() {
        var schedule = schedule(waiting: 29)
        #expect(schedule.step() == .wait(until: nil))
        schedule.noteWaiting(30)
        #expect(schedule.step() == full)
    }

    @Test func urgentRecordIsSentAtOnce() {
        var schedule = schedule()
        schedule.noteWaiting(1, isUrgent: true)
        #expect(schedule.step() == full)
    }

    @Test func intervalSendsTheOldest() {
        var schedule = schedule { $0.interval = .seconds(60) }
        schedule.noteWaiting(1, at: .seconds(10))
        schedule.noteWaiting(2, at: .seconds(50))
        #expect(schedule.step(at: .seconds(50)) == .wait(until: .seconds(70)))
        #expect(schedule.step(at: .seconds(70)) == full)
    }

    @Test func intervalGoesOnWhenABatchIsSent() {
        var schedule = schedule { $0.interval = .seconds(60) }
        schedule.noteWaiting(31, at: .zero)
        schedule.didSend("", .accepted(), waiting: ["": 1], oldest: .seconds(40), at: .seconds(40), jitter: 1)
        #expect(schedule.step(at: .seconds(40)) == .wait(until: .seconds(60)))
    }

    @Test func whatIsLeftOfEnoughRecordsWaits() {
        var schedule = schedule(waiting: 70)
        schedule.didSend(.accepted(), waiting: 40)
        #expect(schedule.step() == full)
        schedule.didSend(.accepted(), waiting: 10)
        #expect(schedule.step() == .wait(until: nil))
        schedule.noteWaiting(30)
        #expect(schedule.step() == full)
    }

    @Test func flushSendsTheLastFew() {
        var schedule = schedule(waiting: 40)
        schedule.flush()
        schedule.didSend(.accepted(), waiting: 10)
        #expect(schedule.step() == full)
        schedule.didSend(.accepted(), waiting: 0)
        schedule.noteWaiting(1)
        #expect(schedule.step() == .wait(until: nil))
    }

    @Test func recordsAfterTheCauseWait() {
        var schedule = schedule()
        schedule.noteWaiting(1, isUrgent: true)
        // Records come during every attempt.
        schedule.didSend(.accepted(), waiting: 1, ended: 1)
        #expect(schedule.step() == .wait(until: nil))
        schedule.didSend(.failed(), waiting: 31, ended: 1)
        schedule.didSend(.accepted(), waiting: 3, ended: 31)
        #expect(schedule.step() == full)
        schedule.didSend(.accepted(), waiting: 2, ended: 34)
        #expect(schedule.step() == .wait(until: nil))
    }

    @Test func suspectedRecordStaysDueBehindNewerOnes() {
        var schedule = schedule()
        schedule.noteWaiting(1, isUrgent: true)
        #expect(schedule.treatLoss("", UUID(), count: 1, isDue: true) == .release(serverIsDown: false))
        schedule.didSend(.failed(), waiting: 1)
        schedule.noteWaiting(2)
        // The server has taken the newer one.
        schedule.didSend(.accepted(), waiting: 1, ended: 1)
        #expect(schedule.step() == .send(scope: "", limit: 1))
    }

    @Test func scopeThatIsNotDueWaits() {
        var schedule = schedule()
        schedule.noteWaiting(["": 5, "ada": 5], isUrgent: true, at: .zero)
        schedule.didSend("", .accepted(), waiting: ["": 2, "ada": 5], ended: ["": 5], at: .zero, jitter: 1)
        #expect(schedule.step() == .send(scope: "ada", limit: 30))
        schedule.didSend("ada", .accepted(), waiting: ["": 2], ended: ["": 5, "ada": 5], at: .zero, jitter: 1)
        #expect(schedule.step() == .wait(until: nil))
    }

    @Test func flushAfterAnUnnotedBatchSendsTheRest() {
        var schedule = schedule(waiting: 40)
        // The file says that the batch in flight is over before its outcome is noted.
        schedule.noteWaiting(["": 10], ended: ["": 30], at: .zero)
        schedule.flush()
        schedule.didSend(.accepted(), waiting: 10, ended: 30)
        #expect(schedule.step() == full)
    }

    @Test func failureMakesAllThatWaitsDue() {
        var schedule = schedule(waiting: 40)
        schedule.didSend(.refused(count: 30), waiting: 40)
        schedule.didSend(.accepted(), waiting: 25)
        #expect(schedule.step() == full)
    }

    @Test func batchesHaveAGapBetweenThem() {
        var schedule = schedule(waiting: 60) { $0.gap = .milliseconds(20) }
        schedule.didSend(.accepted())
        #expect(schedule.step() == .wait(until: .milliseconds(20)))
        #expect(schedule.step(at: .milliseconds(20)) == full)
    }

    @Test func backoffDoublesWithJitterAfterTheBound() {
        var schedule = schedule(waiting: 30) { $0.longestWait = .seconds(3) }
        var waits: [Duration] = []
        for _ in 0..<4 {
            schedule.didSend(.failed())
            guard case .wait(let instant?) = schedule.step() else { continue }
            waits.append(instant)
        }
        #expect(waits == [.seconds(1), .seconds(2), .seconds(3), .seconds(3)])
        schedule.didSend(.failed(), jitter: 0)
        #expect(schedule.step() == .wait(until: .milliseconds(1500)))
    }

    @Test func flushEndsABackoffButNotRetryAfter() {
        var schedule = schedule(waiting: 30)
        schedule.didSend(.failed())
        schedule.flush()
        #expect(schedule.step() == full)
        schedule.didSend(.failed(retryAfter: .seconds(90)))
        schedule.flush()
        #expect(schedule.step() == .wait(until: .seconds(90)))
        #expect(schedule.isPaused(at: .seconds(89)) && !schedule.isPaused(at: .seconds(90)))
    }

    @Test func serverCannotPauseForLongerThanADay() {
        var schedule = schedule(waiting: 30)
        schedule.didSend(.accepted(gap: .seconds(1_000_000_000)))
        #expect(schedule.step() == .wait(until: .seconds(86_400)))
    }

    @Test func refusedBatchIsHalvedAndGrowsAgain() {
        var schedule = schedule(waiting: 30)
        var limits: [Int] = []
        for outcome in [
            FlushSchedule.Outcome.refused(count: 30), .refused(count: 15), .accepted(), .accepted(), .accepted(),
        ] {
            schedule.didSend(outcome, waiting: 100)
            if case .send(_, let limit) = schedule.step() { limits.append(limit) }
        }
        #expect(limits == [15, 7, 14, 28, 30])
    }

    @Test func secondRecordRefusedInARowBacksOff() {
        var schedule = schedule(waiting: 30)
        schedule.didSend(.refused(count: 1), waiting: 29)
        #expect(schedule.step() == full)
        schedule.didSend(.refused(count: 1), waiting: 28)
        #expect(schedule.step() == .wait(until: .seconds(1)))
        #expect(!schedule.isRefusingAll)
        schedule.didSend(.refused(count: 1), waiting: 27)
        #expect(schedule.isRefusingAll)
        schedule.didSend(.accepted(), waiting: 26)
        #expect(!schedule.isRefusingAll)
    }

    @Test func batchIsRepeatedBeforeItIsHalved() {
        var schedule = schedule(waiting: 30) { $0.maximumServerFaults = 3 }
        func treat(_ count: Int) -> FlushSchedule.Treatment { schedule.treat("", count: count, isFault: true) }
        #expect([treat(30), treat(30), treat(30)] == [.repeat, .repeat, .halve])
        schedule.didSend(.refused(count: 30, isFault: true))
        // Halves are halved at once, and one record alone has as many attempts as a batch.
        #expect(treat(15) == .halve)
        schedule.didSend(.refused(count: 2, isFault: true))
        #expect([treat(1), treat(1), treat(1)] == [.repeat, .repeat, .setAside])
        #expect(schedule.treat("", count: 30, isFault: false) == .halve)
        #expect(schedule.treat("", count: 1, isFault: false) == .setAside)
    }

    @Test func networkThatReturnsEndsTheWait() {
        var schedule = schedule(waiting: 2, isNetworkAllowed: false)
        schedule.flush()
        #expect(schedule.step(isNetworkAllowed: false, at: .zero) == .wait(until: FlushSchedule.checkInterval))
        schedule.networkDidChange(isAllowed: true)
        #expect(schedule.step() == full)
    }

    @Test func missingAccountPausesUntilOneSignsIn() {
        var schedule = schedule(waiting: 30)
        schedule.didSend(.unauthorized)
        #expect(schedule.step() == .wait(until: .seconds(300)))
        schedule.flush()
        #expect(schedule.step() == full)
    }

    @Test func scopesBackOffSeparatelyAndTakeTurns() {
        var schedule = schedule()
        let counts = ["": 40, "ada": 40]
        schedule.noteWaiting(counts, isUrgent: true, at: .zero)
        #expect(schedule.step() == full)
        schedule.didSend("", .unauthorized, waiting: counts, at: .zero, jitter: 1)
        #expect(schedule.step() == .send(scope: "ada", limit: 30))
        schedule.didSend("ada", .accepted(), waiting: counts, at: .zero, jitter: 1)
        #expect(schedule.step() == .send(scope: "ada", limit: 30))
        schedule.flush()
        #expect(schedule.step() == full)
        // What the server asks for holds for all.
        schedule.didSend("", .failed(retryAfter: .seconds(9)), waiting: counts, at: .zero, jitter: 1)
        #expect(schedule.step() == .wait(until: .seconds(9)))
    }
}
