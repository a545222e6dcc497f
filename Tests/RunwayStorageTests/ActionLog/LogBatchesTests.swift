import Foundation
import Runway
import Synchronization
import Testing

@testable import RunwayStorage

private typealias Schedule = SendSchedule<LogBatches>

/// Numbers readings, each of which replaces the ones before.
private let readings = Atomic(0)

extension SendSchedule<LogBatches> {
    fileprivate mutating func noteWaiting(
        _ counts: [String: Int], ended: [String: Int] = [:], oldest age: Duration = .zero, isUrgent: Bool = false,
        at now: Duration = .zero
    ) {
        let number = readings.add(1, ordering: .relaxed).newValue
        let reading = LogBatches.Reading(counts: counts, ended: ended, age: age, instant: now, number: number)
        policy.note(reading, isUrgent: isUrgent)
    }

    /// As many records of nobody wait.
    fileprivate mutating func noteWaiting(
        _ count: Int, oldest age: Duration = .zero, isUrgent: Bool = false, at now: Duration = .zero
    ) {
        noteWaiting(["": count], oldest: age, isUrgent: isUrgent, at: now)
    }

    /// A batch is over.
    fileprivate mutating func didSend(
        _ outcome: SendOutcome, of scope: String = "", waiting counts: [String: Int], ended: [String: Int] = [:],
        oldest age: Duration = .zero, at now: Duration = .zero
    ) {
        noteWaiting(counts, ended: ended, oldest: age, at: now)
        didSend(scope, outcome, at: now)
    }

    /// The batch of the records of nobody is over.
    fileprivate mutating func didSend(_ outcome: SendOutcome, waiting: Int = 30, ended: Int = 0) {
        didSend(outcome, waiting: ["": waiting], ended: ["": ended])
    }

    /// A batch of the records of nobody was refused.
    fileprivate mutating func refuse(_ count: Int, isFault: Bool = false, waiting: Int = 30) {
        didSend(policy.refuse("", count: count, isFault: isFault), waiting: waiting)
    }

    fileprivate mutating func step(at now: Duration = .zero, isNetworkAllowed: Bool = true) -> SendStep {
        step(policy.scopes, isNetworkAllowed: isNetworkAllowed, at: now)
    }
}

struct LogBatchesTests {
    private func schedule(
        waiting: Int = 0, isNetworkAllowed: Bool = true, _ change: (inout ActionLogOptions) -> Void = { _ in }
    ) -> Schedule {
        var options = ActionLogOptions()
        options.gap = .zero
        change(&options)
        var schedule = Schedule(
            LogBatches(options), SendPace(gap: options.gap, backoff: options.backoff),
            isNetworkAllowed: isNetworkAllowed, random: ExtremeGenerator(isGreatest: true))
        schedule.noteWaiting(waiting)
        return schedule
    }

    private let sent = SendStep.send("")

    @Test func olderReadingReplacesNoNewerOne() {
        var batches = LogBatches(ActionLogOptions())
        batches.note(LogBatches.Reading(counts: ["ada": 1], instant: .zero, number: 2), isUrgent: true)
        // It was read before ada signed in, and arrives after that.
        batches.note(LogBatches.Reading(counts: [:], instant: .zero, number: 1))
        #expect(batches.scopes == ["ada"])
        #expect(batches.start(of: "ada", from: .zero, isSuspected: false, at: .zero) == .zero)
    }

    @Test func fewRecordsWait() {
        var schedule = schedule(waiting: 29)
        #expect(schedule.step() == .wait(until: nil))
        schedule.noteWaiting(30)
        #expect(schedule.step() == sent)
    }

    @Test func urgentRecordIsSentAtOnce() {
        var schedule = schedule()
        schedule.noteWaiting(1, isUrgent: true)
        #expect(schedule.step() == sent)
    }

    @Test func intervalSendsTheOldest() {
        var schedule = schedule { $0.interval = .seconds(60) }
        schedule.noteWaiting(1, at: .seconds(10))
        schedule.noteWaiting(2, oldest: .seconds(40), at: .seconds(50))
        #expect(schedule.step(at: .seconds(50)) == .wait(until: .seconds(70)))
        #expect(schedule.step(at: .seconds(70)) == sent)
    }

    @Test func intervalGoesOnWhenABatchIsSent() {
        var schedule = schedule { $0.interval = .seconds(60) }
        schedule.noteWaiting(31, at: .zero)
        schedule.didSend(.settled(), waiting: ["": 1], oldest: .seconds(40), at: .seconds(40))
        #expect(schedule.step(at: .seconds(40)) == .wait(until: .seconds(60)))
    }

    @Test func whatIsLeftOfEnoughRecordsWaits() {
        var schedule = schedule(waiting: 70)
        schedule.didSend(.settled(), waiting: 40)
        #expect(schedule.step() == sent)
        schedule.didSend(.settled(), waiting: 10)
        #expect(schedule.step() == .wait(until: nil))
        schedule.noteWaiting(30)
        #expect(schedule.step() == sent)
    }

    @Test func flushSendsTheLastFew() {
        var schedule = schedule(waiting: 40)
        schedule.prompt()
        schedule.didSend(.settled(), waiting: 10)
        #expect(schedule.step() == sent)
        schedule.didSend(.settled(), waiting: 0)
        schedule.noteWaiting(1)
        #expect(schedule.step() == .wait(until: nil))
    }

    @Test func recordsAfterTheCauseWait() {
        var schedule = schedule()
        schedule.noteWaiting(1, isUrgent: true)
        // Records come during every attempt.
        schedule.didSend(.settled(), waiting: 1, ended: 1)
        #expect(schedule.step() == .wait(until: nil))
        schedule.didSend(.failed(), waiting: 31, ended: 1)
        schedule.didSend(.settled(), waiting: 3, ended: 31)
        #expect(schedule.step() == sent)
        schedule.didSend(.settled(), waiting: 2, ended: 34)
        #expect(schedule.step() == .wait(until: nil))
    }

    @Test func suspectedRecordStaysDueBehindNewerOnes() {
        var schedule = schedule()
        schedule.noteWaiting(1, isUrgent: true)
        #expect(schedule.treatLoss(of: UUID(), in: "", isDue: true) == .release(serverIsDown: false))
        schedule.didSend(.failed(), waiting: 1)
        schedule.noteWaiting(2)
        // The server has taken the newer one.
        schedule.didSend(.settled(), waiting: 1, ended: 1)
        #expect(schedule.step() == sent)
    }

    @Test func scopeThatIsNotDueWaits() {
        var schedule = schedule()
        schedule.noteWaiting(["": 5, "ada": 5], isUrgent: true, at: .zero)
        schedule.didSend(.settled(), waiting: ["": 2, "ada": 5], ended: ["": 5])
        #expect(schedule.step() == .send("ada"))
        schedule.didSend(.settled(), of: "ada", waiting: ["": 2], ended: ["": 5, "ada": 5])
        #expect(schedule.step() == .wait(until: nil))
    }

    @Test func flushAfterAnUnnotedBatchSendsTheRest() {
        var schedule = schedule(waiting: 40)
        // The file says that the batch in flight is over before its outcome is noted.
        schedule.noteWaiting(["": 10], ended: ["": 30], at: .zero)
        schedule.prompt()
        schedule.didSend(.settled(), waiting: 10, ended: 30)
        #expect(schedule.step() == sent)
    }

    @Test func failureMakesAllThatWaitsDue() {
        var schedule = schedule(waiting: 40)
        schedule.refuse(30, waiting: 40)
        schedule.didSend(.settled(), waiting: 25)
        #expect(schedule.step() == sent)
    }

    @Test func flushEndsABackoffButNotRetryAfter() {
        var schedule = schedule(waiting: 30)
        schedule.didSend(.failed())
        schedule.prompt()
        #expect(schedule.step() == sent)
        schedule.didSend(.failed(retryAfter: .seconds(90)))
        schedule.prompt()
        #expect(schedule.step() == .wait(until: .seconds(90)))
        #expect(schedule.isPaused([""], at: .seconds(89)) && !schedule.isPaused([""], at: .seconds(90)))
    }

    @Test func refusedBatchIsHalvedAndGrowsAgain() {
        var schedule = schedule(waiting: 30)
        var limits: [Int] = []
        for count in [30, 15, nil, nil, nil] {
            if let count { schedule.refuse(count, waiting: 100) } else { schedule.didSend(.settled(), waiting: 100) }
            #expect(schedule.step() == sent)
            limits.append(schedule.policy.limit(""))
        }
        #expect(limits == [15, 7, 14, 28, 30])
    }

    @Test func secondRecordRefusedInARowBacksOff() {
        var schedule = schedule(waiting: 30)
        schedule.refuse(1, waiting: 29)
        #expect(schedule.step() == sent)
        schedule.refuse(1, waiting: 28)
        #expect(schedule.step() == .wait(until: .seconds(1)))
        #expect(!schedule.policy.isRefusingAll)
        schedule.refuse(1, waiting: 27)
        #expect(schedule.policy.isRefusingAll)
        schedule.didSend(.settled(), waiting: 26)
        #expect(!schedule.policy.isRefusingAll)
    }

    @Test func batchIsRepeatedBeforeItIsHalved() {
        var schedule = schedule(waiting: 30) { $0.maximumServerFaults = 3 }
        let first = UUID()
        func treat(_ count: Int) -> LogBatches.Treatment {
            schedule.policy.treatment("", count: count, faults: schedule.countFault(of: first, in: ""))
        }
        #expect([treat(30), treat(30), treat(30)] == [.repeat, .repeat, .halve])
        schedule.end(first, in: "")
        schedule.refuse(30, isFault: true)
        // Halves are halved at once, and one record alone has as many attempts as a batch.
        #expect(treat(15) == .halve)
        schedule.end(first, in: "")
        schedule.refuse(2, isFault: true)
        #expect([treat(1), treat(1), treat(1)] == [.repeat, .repeat, .setAside])
        #expect(schedule.policy.treatment("", count: 30, faults: nil) == .halve)
        #expect(schedule.policy.treatment("", count: 1, faults: nil) == .setAside)
    }

    @Test func networkThatReturnsEndsTheWait() {
        var schedule = schedule(waiting: 2, isNetworkAllowed: false)
        schedule.prompt()
        #expect(schedule.step(isNetworkAllowed: false) == .wait(until: SendPace.checkInterval))
        schedule.networkDidChange(isAllowed: true)
        #expect(schedule.step() == sent)
    }

    @Test func scopesBackOffSeparatelyAndTakeTurns() {
        var schedule = schedule()
        let counts = ["": 40, "ada": 40]
        schedule.noteWaiting(counts, isUrgent: true, at: .zero)
        #expect(schedule.step() == sent)
        schedule.didSend(.unauthorized, waiting: counts)
        #expect(schedule.step() == .send("ada"))
        schedule.didSend(.settled(), of: "ada", waiting: counts)
        #expect(schedule.step() == .send("ada"))
        schedule.prompt()
        #expect(schedule.step() == sent)
        // What the server asks for holds for all.
        schedule.didSend(.failed(retryAfter: .seconds(9)), waiting: counts)
        #expect(schedule.step() == .wait(until: .seconds(9)))
    }
}
