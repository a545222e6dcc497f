import Foundation
import RunwayTesting
import Testing

@testable import Runway

struct HedgeRaceTests {
    /// How many races are run; `RUNWAY_HEDGE_RACES` asks for more.
    private static let count =
        ProcessInfo.processInfo.environment["RUNWAY_HEDGE_RACES"].flatMap { Int($0) } ?? 3000

    /// What becomes of an attempt that nobody calls off, in time since it left.
    private struct Course {
        var head: Double?
        var isGood: Bool
        var end: Double
        var ending: HedgeRace.Ending

        init(using random: inout some RandomNumberGenerator) {
            let times = [Double.random(in: 0..<10, using: &random), .random(in: 0..<10, using: &random)].sorted()
            end = times[1]
            switch Int.random(in: 0..<4, using: &random) {
            case 0: (head, isGood, ending) = (times[0], true, .good)
            case 1: (head, isGood, ending) = (times[0], true, .failed)
            case 2: (head, isGood, ending) = (times[0], false, .poor)
            default: (head, isGood, ending) = (nil, false, .failed)
            }
        }

        /// When it would win.
        var goodHead: Double { isGood ? head ?? .infinity : .infinity }
    }

    private struct Verdict: Equatable {
        var settled: HedgeDecision.Contender
        var time: Double
        var cancelled: Set<HedgeDecision.Contender> = []
        var hasSecond = false
    }

    /// Works the end out from both courses at once.
    private func expected(_ first: Course, _ second: Course, _ delay: Double) -> Verdict {
        guard first.goodHead > delay, first.end > delay else { return Verdict(settled: .first, time: first.end) }
        let secondHead = delay + second.goodHead
        let secondEnd = delay + second.end
        if first.goodHead < secondHead {
            return Verdict(
                settled: .first, time: first.end, cancelled: secondEnd < first.goodHead ? [] : [.second],
                hasSecond: true)
        }
        if secondHead < .infinity {
            return Verdict(
                settled: .second, time: secondEnd, cancelled: first.end < secondHead ? [] : [.first], hasSecond: true)
        }
        let saysMore = first.ending == .failed && second.ending == .poor
        return Verdict(settled: saysMore ? .second : .first, time: max(first.end, secondEnd), hasSecond: true)
    }

    @Test func everyRaceEndsOnceAsWorkedOutBeforehand() throws {
        for seed in 1...UInt64(Self.count) {
            var random = SeededGenerator(seed: seed)
            let (first, second) = (Course(using: &random), Course(using: &random))
            let delay = Double.random(in: 0..<10, using: &random)

            var events: [(time: Double, play: (inout HedgeRace) -> [HedgeRace.Action])] = []
            func enter(_ course: Course, _ contender: HedgeDecision.Contender, from start: Double) {
                if let head = course.head {
                    events.append((start + head, { $0.headReceived(to: contender, isGood: course.isGood) }))
                }
                events.append((start + course.end, { $0.ended(contender, as: course.ending) }))
            }
            enter(first, .first, from: 0)
            var race = HedgeRace()
            var found: Verdict?
            var cancelled: Set<HedgeDecision.Contender> = []
            var wins = 0
            var isDelayOver = false
            while let index = events.indices.min(by: { events[$0].time < events[$1].time }) {
                if !isDelayOver, events[index].time > delay {
                    isDelayOver = true
                    if race.startSecond() { enter(second, .second, from: delay) }
                    continue
                }
                let event = events.remove(at: index)
                for action in event.play(&race) {
                    try #require(found == nil, "seed \(seed): something follows the end")
                    switch action {
                    case .win: wins += 1
                    case .cancel(let contender): cancelled.insert(contender)
                    case .settle(let contender): found = Verdict(settled: contender, time: event.time)
                    }
                }
            }
            found?.cancelled = cancelled
            found?.hasSecond = race.hasSecond
            try #require(found == expected(first, second, delay), "seed \(seed): \(first), \(second), delay \(delay)")
            try #require(wins <= 1 && race.isOver, "seed \(seed)")
        }
    }

    @Test func leavingCancelsAllAttempts() {
        var race = HedgeRace()
        let hasStarted = race.startSecond()
        #expect(hasStarted && race.abandon() == [.cancel(.first), .cancel(.second)])
        #expect(race.ended(.first, as: .good).isEmpty && race.abandon().isEmpty && !race.mayStartSecond)

        var won = HedgeRace()
        _ = won.startSecond()
        #expect(won.headReceived(to: .second, isGood: true) == [.win(.second), .cancel(.first)])
        #expect(won.abandon() == [.cancel(.second)])
    }

    @Test func theBudgetOfManyHostsIsNeverExceeded() throws {
        for seed in 1...UInt64(300) {
            var random = SeededGenerator(seed: seed)
            let limits = AttemptLimits(
                callsPerAttempt: .random(in: 1...30, using: &random), reserve: .random(in: 0...6, using: &random))
            let control = HedgeControl(limits: limits)
            let subjects = (0..<3).map {
                HedgeControl.Subject(
                    origin: Origin(scheme: "https", host: "h\($0)", port: 443),
                    endpoint: ObjectIdentifier(SlowRead.self))
            }
            // From any moment on, no more than the reserve and what the calls since then have earned.
            var hedges: [[Int]] = [[], [], []]
            var calls = [0, 0, 0]
            for _ in 0..<200 {
                let host = Int.random(in: 0..<3, using: &random)
                _ = control.begin(subjects[host], .after(.zero))
                calls[host] += 1
                guard Bool.random(using: &random), control.withdraw(for: subjects[host].origin) else { continue }
                if Int.random(in: 0..<5, using: &random) == 0 {
                    control.refund(for: subjects[host].origin)
                } else {
                    hedges[host].append(calls[host])
                }
                for since in hedges[host] {
                    let count = hedges[host].count { $0 >= since }
                    let earned = (calls[host] - since) / limits.callsPerAttempt
                    try #require(count <= limits.reserve + earned, "seed \(seed), \(limits)")
                }
            }
        }
    }
}
