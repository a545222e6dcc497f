import Runway
import RunwayTesting
import Testing

@testable import RunwayStreams

/// What the silences of links teach about a network.
struct HeartbeatTests {
    private let memory = HeartbeatMemory()

    private func machine(_ options: StreamOptions = StreamOptions(), network: String = "wifi") -> StreamMachine {
        StreamMachine(options, network: network, heartbeats: memory, random: SeededGenerator(seed: 1))
    }

    /// Opens a link with the interval that is wanted, under a limit of the server, and has it survive silences of that length.
    private func survive(_ count: Int, _ machine: inout StreamMachine, from now: inout Duration) {
        if machine.state == .idle { _ = machine.start() }
        let heartbeat = machine.wantedHeartbeat
        _ = machine.opened(LinkFacts(heartbeat: heartbeat, heartbeatLimit: .seconds(60)), at: now)
        for _ in 0..<count {
            now += heartbeat
            #expect(machine.tick(at: now, activity: .init(last: now, longestSilence: heartbeat)).isEmpty)
        }
    }

    private func reopen(_ machine: inout StreamMachine, from now: inout Duration) {
        _ = machine.ended(.transient(retryAfter: nil), at: now)
        now = machine.deadline ?? now
        #expect(machine.tick(at: now, activity: nil) == [.connect])
    }

    @Test func intervalGrowsInStepsToTheServersLimit() {
        var machine = machine()
        _ = machine.start()
        var now = Duration.zero
        for expected in [25, 25, 30, 30, 30, 35, 35, 35, 35] as [Int64] {
            _ = machine.opened(LinkFacts(heartbeat: machine.wantedHeartbeat, heartbeatLimit: .seconds(35)), at: now)
            let silence = machine.wantedHeartbeat
            now += silence
            _ = machine.tick(at: now, activity: .init(last: now, longestSilence: silence))
            reopen(&machine, from: &now)
            #expect(machine.wantedHeartbeat == .seconds(expected))
        }
    }

    @Test func oneLongLinkTeachesOnlyItsOwnInterval() {
        var machine = machine()
        var now = Duration.zero
        survive(100, &machine, from: &now)
        #expect(machine.wantedHeartbeat == .seconds(30), "30 s are tried next; nothing longer was survived")
        reopen(&machine, from: &now)
        survive(2, &machine, from: &now)
        #expect(machine.wantedHeartbeat == .seconds(30))
        survive(1, &machine, from: &now)
        #expect(machine.wantedHeartbeat == .seconds(35))
    }

    @Test func streamsOfALayerLearnTogether() {
        var (one, other, now) = (machine(), machine(), Duration.zero)
        survive(3, &one, from: &now)
        _ = other.start()
        _ = other.opened(LinkFacts(heartbeat: .seconds(25), heartbeatLimit: .seconds(60)), at: now)
        #expect(other.wantedHeartbeat == .seconds(30))
    }

    @Test func manyStreamsOnOneConnectionCountOnce() {
        var now = Duration.zero
        var machines = (0..<10).map { _ in machine() }
        for index in machines.indices {
            _ = machines[index].start()
            _ = machines[index].opened(LinkFacts(heartbeat: .seconds(25), heartbeatLimit: .seconds(60)), at: now)
        }
        now += .seconds(25)
        for index in machines.indices {
            _ = machines[index].tick(at: now, activity: .init(last: now, longestSilence: .seconds(25)))
        }
        #expect(machines[0].wantedHeartbeat == .seconds(25))
    }

    @Test func deadLinkShortensTheNextLinksInterval() {
        var (machine, now) = (machine(), Duration.zero)
        for _ in 0..<4 {
            survive(3, &machine, from: &now)
            reopen(&machine, from: &now)
        }
        #expect(machine.wantedHeartbeat == .seconds(45))
        survive(0, &machine, from: &now)
        now = machine.deadline ?? now
        #expect(machine.tick(at: now, activity: .init(last: now - .seconds(50))) == [.probe])
        now = machine.deadline ?? now
        #expect(machine.tick(at: now, activity: .init(last: now - .seconds(60))) == [.disconnect(.silent)])
        #expect(machine.wantedHeartbeat == .seconds(35), "40 s worked last; 5 s less is the margin")
    }

    @Test func aCutInASilenceIsAFailure() {
        var (machine, now) = (machine(), Duration.zero)
        survive(3, &machine, from: &now)
        reopen(&machine, from: &now)
        survive(0, &machine, from: &now)
        let quiet = StreamMachine.Activity(last: now)
        now += .seconds(30)
        _ = machine.ended(.transient(retryAfter: nil), activity: quiet, at: now)
        #expect(machine.wantedHeartbeat == .seconds(25))
    }

    @Test func aSilenceThatAProbeEndedWasSurvived() {
        var (machine, now) = (machine(), Duration.zero)
        _ = machine.start()
        _ = machine.opened(LinkFacts(heartbeat: .seconds(25), heartbeatLimit: .seconds(60)), at: now)
        for _ in 0..<3 {
            let silent = StreamMachine.Activity(last: now)
            now += .seconds(30)
            #expect(machine.tick(at: now, activity: silent) == [.probe])
            #expect(machine.wantedHeartbeat == .seconds(25), "a silence that lasts is not survived yet")
            let activity = StreamMachine.Activity(last: now + .milliseconds(100))
            now += .seconds(10)
            #expect(machine.tick(at: now, activity: activity).isEmpty)
        }
        #expect(machine.wantedHeartbeat == .seconds(30))
    }

    @Test func linkWithoutContinuityTeachesNothing() {
        var (machine, now) = (machine(), Duration.zero)
        survive(3, &machine, from: &now)
        reopen(&machine, from: &now)
        _ = machine.opened(
            LinkFacts(heartbeat: .seconds(30), heartbeatLimit: .seconds(60), statesContinuity: true), at: now)
        now = machine.deadline ?? now
        #expect(machine.tick(at: now, activity: .init(last: now)) == [.disconnect(.unopened)])
        #expect(machine.wantedHeartbeat == .seconds(30))
    }

    @Test func probeAfterAResumptionTeachesNothing() {
        var (machine, now) = (machine(), Duration.zero)
        _ = machine.start()
        _ = machine.opened(LinkFacts(heartbeat: .seconds(25), heartbeatLimit: .seconds(60)), at: now)
        for _ in 0..<3 {
            now += .seconds(29)
            #expect(machine.resume(at: now) == [.probe])
            let activity = StreamMachine.Activity(last: now + .milliseconds(1))
            now += .seconds(10)
            #expect(machine.tick(at: now, activity: activity).isEmpty)
        }
        #expect(machine.wantedHeartbeat == .seconds(25))
    }
}

struct HeartbeatLearnerTests {
    private let bounds = HeartbeatLearner.Bounds(StreamOptions())
    private var learner = HeartbeatLearner()
    private var now = Duration.zero

    private mutating func interval(on network: String = "wifi", limit: Duration? = .seconds(60)) -> Duration {
        learner.interval(on: network, limit: limit, bounds)
    }

    /// As many links survive their interval.
    private mutating func survive(_ count: Int) {
        for _ in 0..<count {
            let interval = interval()
            now += interval
            learner.survived(interval, on: "wifi", at: now, bounds)
        }
    }

    private mutating func fail(_ interval: Duration) {
        now += .seconds(60)
        learner.failed(interval, on: "wifi", at: now, bounds)
    }

    @Test mutating func aFailureFallsBackBelowWhatWorked() {
        survive(9)
        #expect(interval() == .seconds(40))
        fail(.seconds(40))
        #expect(interval() == .seconds(30))
        survive(9)
        #expect(interval() == .seconds(30), "it stays")
        for _ in 0..<3 { fail(.seconds(30)) }
        #expect(interval() == .seconds(25))
        survive(3)
        #expect(interval() == .seconds(30), "it is learned anew")
    }

    @Test mutating func onlyThePresentIntervalCounts() {
        survive(3)
        for _ in 0..<9 {
            now += .seconds(25)
            learner.survived(.seconds(25), on: "wifi", at: now, bounds)
        }
        #expect(interval() == .seconds(30))
        fail(.seconds(45))
        #expect(interval() == .seconds(30), "that a longer one fails is known")
    }

    @Test mutating func failuresAtOnceAreOne() {
        survive(9)
        now += .seconds(60)
        for _ in 0..<10 { learner.failed(.seconds(40), on: "wifi", at: now, bounds) }
        #expect(interval() == .seconds(30))
    }

    @Test mutating func networksAreLearnedSeparately() {
        survive(3)
        #expect(interval() == .seconds(30))
        #expect(interval(on: "cellular") == .seconds(25))
    }

    @Test mutating func withoutALimitNothingLongerIsTried() {
        survive(9)
        #expect(interval(limit: nil) == .seconds(25))
    }

    @Test mutating func streamsWithOtherBoundsStayWithinThem() {
        survive(9)
        var options = StreamOptions()
        options.maximumHeartbeat = .seconds(35)
        #expect(learner.interval(on: "wifi", limit: .seconds(60), .init(options)) == .seconds(35))
    }

    @Test mutating func leastRecentlyUsedNetworkIsForgotten() {
        survive(3)
        for number in 0..<HeartbeatLearner.maximumNetworks { _ = interval(on: "\(number)") }
        #expect(interval() == .seconds(25))
    }
}
