import Foundation
import Runway
import RunwayTesting
import Testing

@testable import RunwayTransport

/// The choice of addresses and the race together, in simulated time, beside an oracle that knows how every address behaves.
///
/// `RUNWAY_HOST_SCHEDULES` says how many schedules are played, 90 by default. In each, two to six addresses are alive at 5 to 400
/// ms, refusing or silent, and every one changes after 10 to 120 s.
struct HostChoiceOracleTests {
    private static let scheduleCount =
        ProcessInfo.processInfo.environment["RUNWAY_HOST_SCHEDULES"].flatMap { Int($0) } ?? 90

    /// How many times what happens by chance in the other tests is played.
    private static let seedCount = UInt64(max(1, scheduleCount / 5))

    /// How each of several addresses behaves over two minutes, made up by chance.
    private struct Schedule {
        var phases: [IPAddress: [(from: Duration, path: SimulatedPath)]] = [:]
        let addresses: [IPAddress]
        let end = Duration.seconds(120)

        init(using random: inout SeededGenerator) {
            addresses = SimulatedApp.addresses(Int.random(in: 2...6, using: &random))
            for address in addresses {
                var instant = Duration.zero
                while instant < end {
                    phases[address, default: []].append((instant, Self.path(using: &random)))
                    instant += .milliseconds(Int.random(in: 10_000...120_000, using: &random))
                }
            }
        }

        private static func path(using random: inout SeededGenerator) -> SimulatedPath {
            // Times from 5 to 400 ms, as many below 45 as above.
            let roundTrip = Duration.milliseconds(5 * pow(80, Double.random(in: 0...1, using: &random)))
            return switch Int.random(in: 0..<10, using: &random) {
            case 0: .silent
            case 1: .refusing(roundTrip: roundTrip)
            default: .alive(roundTrip: roundTrip)
            }
        }

        func path(_ address: IPAddress, _ now: Duration) -> SimulatedPath {
            phases[address]?.last { $0.from <= now }?.path ?? .silent
        }

        /// The shortest round trip that any address has; `nil` where all are dead.
        func best(at now: Duration) -> Duration? { addresses.compactMap { path($0, now).roundTrip }.min() }
    }

    /// The time of all calls of one schedule, over that of the oracle's.
    private func ratio(seed: UInt64) -> Double {
        var random = SeededGenerator(seed: seed)
        let schedule = Schedule(using: &random)
        let app = SimulatedApp(schedule.addresses, seed: seed)
        var (total, ideal, now) = (Duration.zero, Duration.zero, Duration.zero)
        while now < schedule.end {
            let call = app.call(at: now, over: schedule.path)
            if let best = schedule.best(at: now) {
                total += call.total
                // The oracle dials the best address at once: two round trips for the connection, one for the response.
                ideal += best * (SimulatedHost.handshakeRoundTrips + 1)
            }
            now += call.total + .milliseconds(Int.random(in: 50...2_000, using: &random))
        }
        return total / ideal
    }

    @Test func medianScheduleTakesLittleMoreThanTheOracle() {
        let first: UInt64 = 1
        let ratios = (first..<first + UInt64(Self.scheduleCount)).map { (ratio(seed: $0), $0) }.sorted { $0.0 < $1.0 }
        let median = ratios[ratios.count / 2].0
        let worst = ratios[ratios.count - 1]

        #expect(median <= 1.15, "median \(median); the worst of \(ratios.count) is \(worst.0), seed \(worst.1)")
        // No schedule is beyond all bounds, and none is better than what is possible.
        #expect(ratios[ratios.count * 95 / 100].0 <= 2, "the worst is \(worst.0), seed \(worst.1)")
        #expect(ratios[0].0 >= 0.999, "seed \(ratios[0].1)")
        if ProcessInfo.processInfo.environment["RUNWAY_HOST_SCHEDULES"] != nil {
            print("median \(median), p95 \(ratios[ratios.count * 95 / 100].0), worst \(worst.0) with seed \(worst.1)")
        }
    }

    @Test func deadAddressCostsAtMostOneWait() {
        for seed in 1...Self.seedCount {
            var random = SeededGenerator(seed: seed)
            let addresses = SimulatedApp.addresses(4)
            let app = SimulatedApp(addresses, seed: seed)
            let dead = addresses.randomElement(using: &random)
            let times = Dictionary(
                uniqueKeysWithValues: addresses.map { ($0, Int.random(in: 5...120, using: &random)) })
            let slowest = times.filter { $0.key != dead }.values.max() ?? 0
            var now = Duration.zero
            var waits = 0
            for _ in 0..<50 {
                let call = app.call(at: now) { address, _ in
                    address == dead ? .silent : .alive(roundTrip: .milliseconds(times[address] ?? 0))
                }
                let usual = Duration.milliseconds(slowest) * (SimulatedHost.handshakeRoundTrips + 1)
                #expect(call.total <= .milliseconds(250) + usual, "seed \(seed)")
                if call.total > usual { waits += 1 }
                now += call.total + .milliseconds(Int.random(in: 10...5_000, using: &random))
            }
            // Only the first call can meet it unprepared.
            #expect(waits <= 1, "seed \(seed)")
        }
    }

    @Test func slowedAddressIsLeftWithinThreeCalls() {
        for seed in 1...Self.seedCount {
            var random = SeededGenerator(seed: seed)
            let addresses = SimulatedApp.addresses(4)
            let app = SimulatedApp(addresses, seed: seed)
            let times = Dictionary(
                uniqueKeysWithValues: addresses.map { ($0, Int.random(in: 5...100, using: &random)) })
            let nearest = times.values.min() ?? 0
            let best = addresses.first { times[$0] == nearest }
            var now = Duration.zero
            var slowCalls = 0
            for number in 0..<40 {
                let isSlow = number >= 20
                let call = app.call(at: now) { address, _ in
                    .alive(roundTrip: .milliseconds((times[address] ?? 0) * (isSlow && address == best ? 20 : 1)))
                }
                if isSlow, call.0.winner == best { slowCalls += 1 }
                now += call.total + .milliseconds(Int.random(in: 10...2_000, using: &random))
            }
            #expect(slowCalls <= 3, "seed \(seed)")
        }
    }

    @Test func slowAddressIsLeftWithinThreeResponses() {
        for seed in 1...Self.seedCount {
            var random = SeededGenerator(seed: seed)
            let addresses = SimulatedApp.addresses(3)
            let app = SimulatedApp(addresses, seed: seed)
            var now = Duration.zero
            var winner = addresses[0]
            for _ in 0..<4 {
                let call = app.call(at: now) { address, _ in
                    .alive(roundTrip: .milliseconds(address == addresses[0] ? 20 : 40))
                }
                winner = call.0.winner ?? winner
                now += .seconds(1)
            }
            #expect(winner == addresses[0])
            // The server itself takes 5 to 60 ms; that is no reason to go.
            for _ in 0..<30 {
                let work = Duration.milliseconds(Int.random(in: 5...25, using: &random))
                #expect(!app.responded(by: winner, after: .milliseconds(20) + work, at: now), "seed \(seed)")
                now += .milliseconds(500)
            }
            let isLeft = (0..<3).map { _ in
                now += .milliseconds(500)
                return app.responded(by: winner, after: .milliseconds(320), at: now)
            }
            #expect(isLeft == [false, false, true], "seed \(seed)")
        }
    }

    @Test func aRecoveredAddressIsUsedWithinItsBan() {
        for seed in 1...Self.seedCount {
            var random = SeededGenerator(seed: seed)
            let addresses = SimulatedApp.addresses(4)
            let app = SimulatedApp(addresses, seed: seed)
            let back = Duration.seconds(Int.random(in: 20...100, using: &random))
            let path = { (address: IPAddress, now: Duration) -> SimulatedPath in
                guard address == addresses[2] else { return .alive(roundTrip: .milliseconds(90)) }
                return (.seconds(10)..<back).contains(now) ? .silent : .alive(roundTrip: .milliseconds(15))
            }
            // What was begun before it came back is known by then.
            let settled = back + DialRace.longestMeasurement + .seconds(1)
            var now = Duration.zero
            var last: IPAddress?
            while now < back + .seconds(150) {
                let isBanned = app.isBanned(addresses[2], at: now)
                let call = app.call(at: now, over: path)
                last = call.0.winner
                if now >= settled, !isBanned { #expect(last == addresses[2], "seed \(seed), at \(now)") }
                now += call.total + .milliseconds(Int.random(in: 100...3_000, using: &random))
            }
            #expect(last == addresses[2], "seed \(seed)")
        }
    }

    @Test func twoEqualsDoNotFlap() {
        for seed in 1...Self.seedCount {
            var random = SeededGenerator(seed: seed)
            let addresses = SimulatedApp.addresses(2)
            let app = SimulatedApp(addresses, seed: seed)
            var now = Duration.zero
            var winners: [IPAddress] = []
            for _ in 0..<200 {
                let jitter = addresses.map { _ in Int.random(in: -3...3, using: &random) }
                let call = app.call(at: now) { address, _ in
                    .alive(roundTrip: .milliseconds(60 + jitter[addresses.firstIndex(of: address) ?? 0]))
                }
                if call.0.dialed.count == 1 { winners += [call.0.winner].compactMap { $0 } }
                now += .milliseconds(700)
            }
            let changes = zip(winners, winners.dropFirst()).count { $0 != $1 }
            #expect(changes <= 1, "seed \(seed)")
        }
    }
}
