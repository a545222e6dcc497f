import Testing

@testable import RunwayStorage

struct FlushScheduleTests {
    private func schedule(
        waiting: Int = 0, isNetworkAllowed: Bool = true, _ change: (inout ActionLogOptions) -> Void = { _ in }
    ) -> FlushSchedule {
        var options = ActionLogOptions()
        change(&options)
        var schedule = FlushSchedule(options, isNetworkAllowed: isNetworkAllowed)
        schedule.noteWaiting(waiting, at: .zero)
        return schedule
    }

    @Test func fewRecordsWait() {
        var schedule = schedule(waiting: 29)
        #expect(schedule.step(at: .zero) == .wait(until: nil))
        schedule.noteWaiting(30, at: .zero)
        #expect(schedule.step(at: .zero) == .send(limit: 30))
    }

    @Test func urgentRecordIsSentAtOnce() {
        var schedule = schedule()
        schedule.noteWaiting(1, isUrgent: true, at: .zero)
        #expect(schedule.step(at: .zero) == .send(limit: 30))
    }

    @Test func intervalSendsTheOldest() {
        var schedule = schedule { $0.interval = .seconds(60) }
        schedule.noteWaiting(1, at: .seconds(10))
        schedule.noteWaiting(2, at: .seconds(50))
        #expect(schedule.step(at: .seconds(50)) == .wait(until: .seconds(70)))
        #expect(schedule.step(at: .seconds(70)) == .send(limit: 30))
    }

    @Test func drainingSendsTheLastFew() {
        var schedule = schedule(waiting: 40)
        schedule.didSend(.accepted(), waiting: 10, at: .zero, jitter: 0)
        #expect(schedule.step(at: .zero) == .send(limit: 30))
        schedule.didSend(.accepted(), waiting: 0, at: .zero, jitter: 0)
        schedule.noteWaiting(1, at: .zero)
        #expect(schedule.step(at: .zero) == .wait(until: nil))
    }

    @Test func backoffDoublesWithJitterAfterTheBound() {
        var schedule = schedule(waiting: 30) { $0.longestWait = .seconds(3) }
        var waits: [Duration] = []
        for _ in 0..<4 {
            schedule.didSend(.failed(), waiting: 30, at: .zero, jitter: 1)
            guard case .wait(let instant?) = schedule.step(at: .zero) else { continue }
            waits.append(instant)
        }
        #expect(waits == [.seconds(1), .seconds(2), .seconds(3), .seconds(3)])
        schedule.didSend(.failed(), waiting: 30, at: .zero, jitter: 0)
        #expect(schedule.step(at: .zero) == .wait(until: .milliseconds(1500)))
    }

    @Test func flushEndsABackoffButNotTheServersWait() {
        var schedule = schedule(waiting: 30)
        schedule.didSend(.failed(), waiting: 30, at: .zero, jitter: 1)
        schedule.flush()
        #expect(schedule.step(at: .zero) == .send(limit: 30))
        schedule.didSend(.failed(retryAfter: .seconds(90)), waiting: 30, at: .zero, jitter: 1)
        schedule.flush()
        #expect(schedule.step(at: .zero) == .wait(until: .seconds(90)))
    }

    @Test func serverCannotPauseForLongerThanADay() {
        var schedule = schedule(waiting: 30)
        schedule.didSend(.failed(retryAfter: .seconds(1_000_000_000)), waiting: 30, at: .zero, jitter: 1)
        #expect(schedule.step(at: .zero) == .wait(until: .seconds(86_400)))
    }

    @Test func refusedBatchIsHalvedAndGrowsAgain() {
        var schedule = schedule(waiting: 30)
        var limits: [Int] = []
        for outcome in [
            FlushSchedule.Outcome.refused(count: 30), .refused(count: 15), .accepted(), .accepted(), .accepted(),
        ] {
            schedule.didSend(outcome, waiting: 100, at: .zero, jitter: 1)
            if case .send(let limit) = schedule.step(at: .zero) { limits.append(limit) }
        }
        #expect(limits == [15, 7, 14, 28, 30])
    }

    @Test func secondRecordRefusedInARowBacksOff() {
        var schedule = schedule(waiting: 30)
        schedule.didSend(.refused(count: 1), waiting: 29, at: .zero, jitter: 1)
        #expect(schedule.step(at: .zero) == .send(limit: 30))
        schedule.didSend(.refused(count: 1), waiting: 28, at: .zero, jitter: 1)
        #expect(schedule.step(at: .zero) == .wait(until: .seconds(1)))
    }

    @Test func networkThatReturnsEndsTheWait() {
        var schedule = schedule(waiting: 2, isNetworkAllowed: false)
        schedule.flush()
        #expect(schedule.step(at: .zero) == .wait(until: nil))
        schedule.networkDidChange(isAllowed: true)
        #expect(schedule.step(at: .zero) == .send(limit: 30))
    }

    @Test func missingAccountPausesUntilOneSignsIn() {
        var schedule = schedule(waiting: 30)
        schedule.didSend(.unauthorized, waiting: 30, at: .zero, jitter: 1)
        #expect(schedule.step(at: .zero) == .wait(until: .seconds(300)))
        schedule.accountDidChange()
        #expect(schedule.step(at: .zero) == .send(limit: 30))
    }
}
