import Foundation
import Runway
import RunwayTesting
import Testing

@testable import RunwayStorage

/// A generator whose numbers lie at one end of every range.
struct ExtremeGenerator: RandomNumberGenerator, Sendable {
    let isGreatest: Bool

    mutating func next() -> UInt64 { isGreatest ? .max : 1 }
}

/// What a queue and a log have in common: backoff, pauses of servers, turns, the network, entries without a response.
struct SendScheduleTests {
    /// Every scope with entries is due, and has a server of its own.
    private typealias Schedule = SendSchedule<ChangeDelays>

    private func schedule(
        gap: Duration = .zero, interval: Duration? = nil, longest: Duration = .seconds(600), jitter: Bool = true,
        isNetworkAllowed: Bool = true
    ) -> Schedule {
        let backoff = Backoff(base: .seconds(1), longest: longest, certainPart: 0.5)
        return Schedule(
            ChangeDelays(), SendPace(gap: gap, backoff: backoff, interval: interval),
            isNetworkAllowed: isNetworkAllowed, random: ExtremeGenerator(isGreatest: jitter))
    }

    private func step(
        _ schedule: inout Schedule, _ scopes: [String] = ["a"], others: Bool = false, network: Bool = true,
        at now: Duration = .zero
    ) -> SendStep {
        schedule.step(scopes, hasOthers: others, isNetworkAllowed: network, at: now)
    }

    @Test func whatWaitsIsSentAtOnce() {
        var schedule = schedule()
        #expect(step(&schedule) == .send("a"))
        #expect(step(&schedule, []) == .wait(until: nil))
    }

    @Test(arguments: [nil, Duration.seconds(60)]) func networkIsCheckedAgain(_ interval: Duration?) {
        var schedule = schedule(interval: interval)
        let check = Duration.seconds(5) + (interval ?? SendPace.checkInterval)
        #expect(step(&schedule, network: false, at: .seconds(5)) == .wait(until: check))
        #expect(step(&schedule, [], others: true, at: .seconds(5)) == .wait(until: check))
    }

    @Test func backoffDoublesUpToAJitteredBound() {
        for (isGreatest, waits) in [(true, [1000, 2000, 3000, 3000]), (false, [500, 1000, 1500, 1500])] {
            var schedule = schedule(longest: .seconds(3), jitter: isGreatest)
            for wait in waits {
                schedule.didSend("a", .failed(), at: .zero)
                #expect(step(&schedule) == .wait(until: .milliseconds(wait)))
                #expect(step(&schedule, at: .milliseconds(wait)) == .send("a"))
            }
        }
    }

    @Test func intervalLooksSoonerThanALongBackoff() {
        var schedule = schedule(interval: .seconds(300))
        for _ in 0..<14 { schedule.didSend("a", .failed(), at: .zero) }
        #expect(step(&schedule) == .wait(until: .seconds(300)))
        #expect(step(&schedule, at: .seconds(599)) == .wait(until: .seconds(600)))
        #expect(step(&schedule, at: .seconds(600)) == .send("a"))
    }

    @Test func successEndsTheFailures() {
        var schedule = schedule()
        for outcome in [SendOutcome.failed(), .failed(), .settled(), .failed()] {
            schedule.didSend("a", outcome, at: .zero)
        }
        #expect(step(&schedule) == .wait(until: .seconds(1)))
    }

    @Test func backoffOutlastsAnEmptyScope() {
        var schedule = schedule()
        schedule.didSend("a", .failed(), at: .zero)
        #expect(step(&schedule, []) == .wait(until: nil))
        #expect(step(&schedule) == .wait(until: .seconds(1)))
        #expect(step(&schedule, [], at: .seconds(2)) == .wait(until: nil))
        schedule.didSend("a", .failed(), at: .seconds(2))
        #expect(step(&schedule, at: .seconds(2)) == .wait(until: .seconds(3)), "what is over is forgotten")
    }

    @Test func onlyServerPausesOfAllScopesCount() {
        var schedule = schedule()
        schedule.didSend("a", .failed(retryAfter: .seconds(100)), at: .zero)
        schedule.didSend("b", .failed(), at: .zero)
        #expect(schedule.isPaused(["a"], at: .seconds(99)) && !schedule.isPaused(["a"], at: .seconds(100)))
        #expect(!schedule.isPaused(["a", "b"], at: .zero) && !schedule.isPaused(["a", "c"], at: .zero))
        #expect(!schedule.isPaused([], at: .zero))
    }

    @Test func serverPauseOutlastsAFlush() {
        var schedule = schedule()
        schedule.didSend("a", .failed(retryAfter: .seconds(100)), at: .zero)
        schedule.prompt()
        schedule.networkDidChange(isAllowed: false)
        schedule.networkDidChange(isAllowed: true)
        #expect(step(&schedule, at: .seconds(99)) == .wait(until: .seconds(100)))
        #expect(step(&schedule, at: .seconds(100)) == .send("a"))
    }

    @Test func serverCannotPauseForLongerThanADay() {
        for outcome in [SendOutcome.settled(pause: .seconds(1_000_000_000)), .failed(retryAfter: .seconds(1_000_000))] {
            var schedule = schedule()
            schedule.didSend("a", outcome, at: .zero)
            #expect(step(&schedule) == .wait(until: .seconds(86_400)))
        }
    }

    @Test func networkThatReturnsEndsTheBackoff() {
        var schedule = schedule()
        schedule.didSend("a", .failed(), at: .zero)
        schedule.networkDidChange(isAllowed: false)
        schedule.networkDidChange(isAllowed: true)
        #expect(step(&schedule) == .send("a"))
    }

    @Test func scopesTakeTurnsWithoutBlockingEachOther() {
        var schedule = schedule()
        schedule.didSend("a", .settled(), at: .zero)
        #expect(step(&schedule, ["a", "b"]) == .send("b"))
        schedule.didSend("b", .failed(retryAfter: .seconds(60)), at: .zero)
        #expect(step(&schedule, ["a", "b"]) == .send("a"))
    }

    @Test func missingLoginPausesUntilSomebodySignsIn() {
        var schedule = schedule()
        schedule.didSend("a", .unauthorized, at: .zero)
        #expect(step(&schedule, at: .seconds(299)) == .wait(until: .seconds(300)))
        schedule.prompt()
        #expect(step(&schedule, at: .seconds(1)) == .send("a"))
    }

    @Test func gapSeparatesTwoAttempts() {
        var schedule = schedule(gap: .milliseconds(50))
        schedule.didSend("a", .settled(), at: .zero)
        #expect(step(&schedule) == .wait(until: .milliseconds(50)))
        #expect(step(&schedule, at: .milliseconds(50)) == .send("a"))
    }

    @Test func secondRefusalInARowBacksOff() {
        var schedule = schedule()
        schedule.didSend("a", .refused(inRow: 1), at: .zero)
        #expect(step(&schedule) == .send("a"))
        for (count, wait) in [(2, 1), (3, 2), (4, 4)] {
            schedule.didSend("a", .refused(inRow: count), at: .zero)
            #expect(step(&schedule) == .wait(until: .seconds(wait)))
        }
    }

    @Test func faultsAreCountedUntilTheEntryIsOver() {
        var schedule = schedule()
        let (one, other) = (UUID(), UUID())
        #expect([one, one, other].map { schedule.countFault(of: $0, in: "a") } == [1, 2, 1])
        // Another entry without a response does not end the count.
        #expect(step(&schedule, []) == .wait(until: nil))
        schedule.end(one, in: "a")
        #expect([one, other].map { schedule.countFault(of: $0, in: "a") } == [1, 2])
    }

    @Test func suspectedEntryIsSetAsideAfterThreeProbes() {
        var schedule = schedule()
        let (suspect, probe) = (UUID(), UUID())
        #expect(schedule.treatLoss(of: suspect, in: "a", isDue: false) == .repeat)
        #expect(schedule.treatLoss(of: suspect, in: "a", isDue: true) == .release(serverIsDown: false))
        for count in 1...3 {
            #expect(schedule.skipped(in: "a") == [suspect] && schedule.isProbe(probe, in: "a"))
            schedule.end(probe, in: "a")
            #expect(schedule.skipped(in: "a").isEmpty && schedule.isSuspected("a"))
            let treatment = schedule.treatLoss(of: suspect, in: "a", isDue: true)
            #expect(treatment == (count == 3 ? .setAside : .release(serverIsDown: false)))
        }
        schedule.end(suspect, in: "a")
        #expect(!schedule.isSuspected("a"))
    }

    @Test func lostProbeShowsThatTheServerIsDown() {
        var schedule = schedule()
        let suspect = UUID()
        #expect(schedule.treatLoss(of: suspect, in: "a", isDue: true) == .release(serverIsDown: false))
        #expect(schedule.treatLoss(of: UUID(), in: "a", isDue: false) == .release(serverIsDown: true))
        #expect(schedule.skipped(in: "a").isEmpty)
    }

    @Test func suspectedEntryIsSentIfNoOtherWaits() {
        var schedule = schedule()
        _ = schedule.treatLoss(of: UUID(), in: "a", isDue: true)
        schedule.hasNoProbe(in: "a")
        #expect(schedule.skipped(in: "a").isEmpty)
    }
}
