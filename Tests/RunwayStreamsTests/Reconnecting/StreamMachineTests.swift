import HTTPTypes
import Runway
import RunwayTesting
import Testing

@testable import RunwayStreams

/// The reconnection of streams, on times that the tests pass.
struct StreamMachineTests {
    private func machine(_ change: (inout StreamOptions) -> Void = { _ in }, seed: UInt64 = 1) -> StreamMachine {
        var options = StreamOptions()
        change(&options)
        return StreamMachine(options, network: "wifi", random: SeededGenerator(seed: seed))
    }

    private func openMachine(
        _ facts: LinkFacts = LinkFacts(heartbeat: .seconds(25)), _ change: (inout StreamOptions) -> Void = { _ in }
    ) -> StreamMachine {
        var machine = machine(change)
        #expect(machine.start() == [.connect])
        #expect(machine.opened(facts, at: .zero).isEmpty)
        #expect(machine.state == .open)
        return machine
    }

    @Test(arguments: [
        (408, true), (425, true), (429, true), (500, true), (599, true), (400, false), (404, false), (409, false),
    ])
    func refusalsFollowTheLayersRetryRule(_ status: Int, _ isTransient: Bool) {
        var error = NetworkError(.refused, in: .checking, "")
        error.status = HTTPResponse.Status(code: status)
        switch LinkFailure(error) {
        case .transient: #expect(isTransient)
        default: #expect(!isTransient)
        }
    }

    @Test func silentLinkIsDeadWithinItsStatedTime() {
        var machine = openMachine()
        #expect(machine.deadline == .seconds(30), "the interval of 25 s and the margin of 5 s")
        #expect(machine.tick(at: .seconds(30), activity: .init(last: .zero)) == [.probe])
        #expect(machine.deadline == .seconds(40))
        #expect(machine.tick(at: .seconds(40), activity: .init(last: .zero)) == [.disconnect(.silent)])
        #expect(machine.state == .waiting)
    }

    @Test func endlessHeartbeatDoesNotHideADeadLink() {
        var machine = openMachine(LinkFacts(heartbeat: .seconds(Int32.max)))
        #expect(machine.deadline == .seconds(55), "the longest interval of 50 s and the margin of 5 s")
        #expect(machine.tick(at: .seconds(55), activity: .init(last: .zero)) == [.probe])
    }

    @Test func shortLifetimesHaveABackoff() throws {
        var machine = machine()
        _ = machine.start()
        var now = Duration.zero
        var longest = Duration.zero
        for _ in 0..<12 {
            _ = machine.opened(LinkFacts(heartbeat: .seconds(25), lifetime: .seconds(1)), at: now)
            now = try #require(machine.deadline)
            #expect(machine.tick(at: now, activity: .init(last: now)) == [.disconnect(.lifetime)])
            let next = try #require(machine.deadline)
            longest = max(longest, next - now)
            now = next
            #expect(machine.tick(at: now, activity: nil) == [.connect])
        }
        #expect(longest > .seconds(10))
    }

    @Test func supersededLinkIsReplacedAtOnce() throws {
        var machine = openMachine()
        #expect(machine.ended(.superseded, at: .seconds(1)).isEmpty)
        #expect(try #require(machine.deadline) <= .milliseconds(1100))
    }

    @Test func anyByteDelaysTheProbe() {
        var machine = openMachine()
        #expect(machine.tick(at: .seconds(30), activity: .init(last: .seconds(20))).isEmpty)
        #expect(machine.deadline == .seconds(50))
    }

    @Test func aByteAfterTheProbeSavesTheLink() {
        var machine = openMachine()
        #expect(machine.tick(at: .seconds(30), activity: .init(last: .zero)) == [.probe])
        #expect(machine.tick(at: .seconds(40), activity: .init(last: .seconds(31))).isEmpty)
        #expect(machine.state == .open)
        #expect(machine.deadline == .seconds(61))
    }

    @Test func aSlowReaderIsNoSilence() {
        var machine = openMachine()
        #expect(machine.tick(at: .seconds(30), activity: .init(last: .zero, isHeld: true)).isEmpty)
        #expect(machine.deadline == .seconds(60))
    }

    @Test func theFirstRetryHasJitter() {
        var waits: Set<Duration> = []
        for seed in UInt64(0)..<50 {
            var machine = machine(seed: seed)
            _ = machine.start()
            #expect(machine.ended(.transient(retryAfter: nil), at: .zero).isEmpty)
            let wait = machine.deadline ?? .seconds(99)
            #expect(wait >= .zero && wait <= .seconds(1))
            waits.insert(wait)
        }
        #expect(waits.count == 50)
    }

    @Test func waitsDoubleUpToTheirMaximum() {
        var longest: [Duration] = Array(repeating: .zero, count: 12)
        for seed in UInt64(0)..<200 {
            var machine = machine(seed: seed)
            _ = machine.start()
            var now = Duration.zero
            for failure in longest.indices {
                _ = machine.ended(.transient(retryAfter: nil), at: now)
                let deadline = machine.deadline ?? .zero
                longest[failure] = max(longest[failure], deadline - now)
                now = deadline
                #expect(machine.tick(at: now, activity: nil) == [.connect])
            }
        }
        for (failure, wait) in longest.enumerated() {
            let ceiling = min(Duration.seconds(1 << failure), .seconds(60))
            #expect(wait <= ceiling && wait > ceiling * 0.8, "failure \(failure)")
        }
    }

    @Test func retryFieldIsLimitedToAMinute() {
        var machine = openMachine()
        machine.askedToWait(.seconds(31_536_000))
        _ = machine.ended(.transient(retryAfter: nil), at: .zero)
        let wait = machine.deadline ?? .zero
        #expect(wait >= .seconds(60) && wait <= .seconds(61))
    }

    @Test func retryAfterIsLimitedToTenMinutes() {
        var machine = machine()
        _ = machine.start()
        _ = machine.ended(.transient(retryAfter: .seconds(86_400)), at: .zero)
        let wait = machine.deadline ?? .zero
        #expect(wait >= .seconds(600) && wait <= .seconds(601))
    }

    @Test func aStableLinkForgetsFailures() {
        var machine = machine()
        _ = machine.start()
        var now = Duration.zero
        for _ in 0..<8 {
            _ = machine.ended(.transient(retryAfter: nil), at: now)
            now = machine.deadline ?? now
            _ = machine.tick(at: now, activity: nil)
        }
        _ = machine.opened(LinkFacts(), at: now)
        _ = machine.ended(.transient(retryAfter: nil), at: now + .seconds(10))
        #expect((machine.deadline ?? .zero) <= now + .seconds(11))
    }

    @Test func linkThatEndsAtOnceIsAFailure() {
        var longest = Duration.zero
        var machine = machine()
        _ = machine.start()
        var now = Duration.zero
        for _ in 0..<20 {
            _ = machine.opened(LinkFacts(), at: now)
            _ = machine.ended(.transient(retryAfter: nil), at: now)
            let deadline = machine.deadline ?? now
            longest = max(longest, deadline - now)
            now = deadline
            _ = machine.tick(at: now, activity: nil)
        }
        #expect(longest > .seconds(10))
    }

    @Test func aFinalFailureEndsTheStream() {
        var machine = machine()
        _ = machine.start()
        let refused = NetworkError(.refused, in: .judging, "403")
        #expect(machine.ended(.final(refused), at: .zero) == [.end(refused)])
        #expect(machine.state == .ended)
        #expect(machine.deadline == nil)
    }

    @Test func aPausedStreamOpensWhenItIsResumed() {
        var machine = openMachine()
        #expect(machine.pause() == [.disconnect(.paused)])
        #expect(machine.state == .paused)
        #expect(machine.deadline == nil)
        #expect(machine.resume(at: .seconds(5)) == [.connect])
    }

    @Test func streamPausedBeforeItsStartOpensNoLink() {
        var machine = machine()
        #expect(machine.pause() == [])
        #expect(machine.start() == [])
        #expect(machine.state == .paused)
        #expect(machine.resume(at: .seconds(5)) == [.connect])
    }

    @Test func theForegroundProbesAnOpenLink() {
        var machine = openMachine()
        #expect(machine.resume(at: .seconds(3)) == [.probe])
        #expect(machine.resume(at: .seconds(4)).isEmpty, "one probe at a time")
        #expect(machine.tick(at: .seconds(13), activity: .init(last: .seconds(1))) == [.disconnect(.silent)])
    }

    @Test func linkWithoutContinuityIsNotProbed() {
        var machine = openMachine(LinkFacts(heartbeat: .seconds(25), statesContinuity: true))
        #expect(machine.deadline == .seconds(40), "the interval, the margin and the time of a probe")
        #expect(machine.resume(at: .seconds(3)).isEmpty)
        machine.continued()
        #expect(machine.resume(at: .seconds(5)) == [.probe])
    }

    @Test func resumptionLimitsTheWaitForTheContinuity() {
        var machine = openMachine(LinkFacts(heartbeat: .seconds(25), statesContinuity: true))
        #expect(machine.resume(at: .seconds(3)).isEmpty)
        #expect(
            machine.networkDidChange(to: "cable", isReachable: true, isElsewhere: true, at: .seconds(4)).isEmpty)
        #expect(machine.deadline == .seconds(13))
        #expect(machine.tick(at: .seconds(13), activity: .init(last: .seconds(1))) == [.disconnect(.unopened)])
    }

    @Test func resumptionDoesNotPostponeTheOpeningDeadline() {
        var machine = openMachine(LinkFacts(heartbeat: .seconds(25), statesContinuity: true))
        #expect(machine.resume(at: .seconds(35)).isEmpty)
        #expect(machine.deadline == .seconds(40))
    }

    @Test func linkWithoutContinuityIsDroppedAlthoughBytesCome() {
        var machine = openMachine(LinkFacts(heartbeat: .seconds(25), statesContinuity: true))
        #expect(machine.tick(at: .seconds(39), activity: .init(last: .seconds(39))).isEmpty)
        #expect(machine.tick(at: .seconds(40), activity: .init(last: .seconds(39))) == [.disconnect(.unopened)])
    }

    @Test func aNewNetworkWakesAWaitingStream() {
        var machine = machine()
        _ = machine.start()
        var now = Duration.zero
        for _ in 0..<9 {
            _ = machine.ended(.transient(retryAfter: nil), at: now)
            now = machine.deadline ?? now
            _ = machine.tick(at: now, activity: nil)
        }
        _ = machine.ended(.transient(retryAfter: .seconds(500)), at: now)
        #expect(machine.networkDidChange(to: "cable", isReachable: true, isElsewhere: true, at: now).isEmpty)
        #expect((machine.deadline ?? .seconds(9999)) <= now + .seconds(1))
    }

    @Test func newNetworkReplacesAnAttempt() {
        var machine = machine()
        _ = machine.start()
        #expect(machine.networkDidChange(to: "wifi", isReachable: true, isElsewhere: false, at: .zero).isEmpty)
        #expect(machine.networkDidChange(to: "", isReachable: false, isElsewhere: true, at: .zero).isEmpty)
        #expect(machine.state == .connecting)
        let now = Duration.seconds(3)
        #expect(
            machine.networkDidChange(to: "cable", isReachable: true, isElsewhere: true, at: now)
                == [.disconnect(.network)])
        #expect((machine.deadline ?? .seconds(9999)) <= now + .seconds(1))
        #expect(machine.tick(at: machine.deadline ?? now, activity: nil) == [.connect])
    }

    @Test func aNewNetworkProbesAnOpenLink() {
        var machine = openMachine()
        #expect(
            machine.networkDidChange(to: "cable", isReachable: true, isElsewhere: true, at: .seconds(2)) == [.probe])
    }

    @Test func linkIsSuspectedUntilItsProbeIsConfirmed() {
        var machine = openMachine()
        #expect(!machine.isSuspected)
        #expect(machine.resume(at: .seconds(3)) == [.probe])
        #expect(machine.isSuspected)
        #expect(machine.tick(at: .seconds(4), activity: .init(last: .seconds(3))).isEmpty)
        #expect(machine.isSuspected, "the byte may have come before the probe")
        #expect(machine.tick(at: .seconds(5), activity: .init(last: .seconds(5))).isEmpty)
        #expect(!machine.isSuspected)
    }

    @Test func silenceMakesTheLinkSuspected() {
        var machine = openMachine()
        #expect(machine.tick(at: .seconds(30), activity: .init(last: .zero)) == [.probe])
        #expect(machine.isSuspected)
    }

    @Test func lossOfTheNetworkMakesTheLinkSuspected() {
        var machine = openMachine()
        #expect(machine.networkDidChange(to: "", isReachable: false, isElsewhere: false, at: .seconds(1)).isEmpty)
        #expect(machine.isSuspected)
        #expect(
            machine.networkDidChange(to: "wifi", isReachable: true, isElsewhere: true, at: .seconds(2)) == [.probe])
        #expect(machine.isSuspected)
        #expect(machine.tick(at: .seconds(3), activity: .init(last: .seconds(3))).isEmpty)
        #expect(!machine.isSuspected)
    }

    @Test func withoutANetworkNothingIsTried() {
        var machine = machine()
        _ = machine.start()
        _ = machine.networkDidChange(to: "", isReachable: false, isElsewhere: false, at: .zero)
        _ = machine.ended(.transient(retryAfter: nil), at: .zero)
        #expect(machine.state == .offline)
        #expect(machine.deadline == nil)
        _ = machine.networkDidChange(to: "wifi", isReachable: true, isElsewhere: true, at: .seconds(90))
        #expect(machine.state == .waiting)
        #expect((machine.deadline ?? .zero) <= .seconds(91))
    }

    @Test func aLinkIsReplacedBeforeItsTokenEnds() {
        var machine = openMachine(LinkFacts(heartbeat: .seconds(25), lifetime: .seconds(20)))
        let end = machine.deadline ?? .zero
        #expect(end >= .seconds(18) && end <= .seconds(20))
        #expect(machine.tick(at: end, activity: .init(last: end)) == [.disconnect(.lifetime)])
        #expect((machine.deadline ?? .seconds(99)) <= end + .milliseconds(100))
    }

    @Test(arguments: [(nil, 15), (20, 15), (12, 11)] as [(Int?, Int)])
    func linkEndsWhenItsTokenCanBeRenewed(_ lifetime: Int?, _ last: Int) throws {
        var ends: Set<Duration> = []
        for seed in UInt64(0)..<50 {
            var machine = machine(seed: seed)
            _ = machine.start()
            let facts = LinkFacts(
                lifetime: lifetime.map { Duration.seconds($0) },
                tokenRenewalWindow: Duration.seconds(10)..<Duration.seconds(20))
            _ = machine.opened(facts, at: .zero)
            let end = try #require(machine.deadline)
            #expect(end >= .seconds(10) && end <= .seconds(last))
            #expect(machine.tick(at: end, activity: nil) == [.disconnect(.lifetime)])
            ends.insert(end)
        }
        #expect(ends.count == 50)
    }

    @Test func lifetimeBeforeTheTokensRenewalHolds() {
        let machine = openMachine(
            LinkFacts(lifetime: .seconds(20), tokenRenewalWindow: Duration.seconds(20)..<Duration.seconds(25)))
        let end = machine.deadline ?? .zero
        #expect(end >= .seconds(18) && end <= .seconds(20))
    }

    @Test(arguments: [(-100, -50), (0, 0), (1, 2)]) func shortLivedTokensHaveABackoff(_ start: Int, _ end: Int) throws {
        var machine = machine()
        _ = machine.start()
        var (now, longest) = (Duration.zero, Duration.zero)
        for _ in 0..<12 {
            let (first, last) = (now + .seconds(start), now + .seconds(end))
            _ = machine.opened(LinkFacts(tokenRenewalWindow: first..<last), at: now)
            let close = try #require(machine.deadline)
            #expect(close >= now + .seconds(1) && close <= now + .seconds(2))
            #expect(machine.tick(at: close, activity: nil) == [.disconnect(.lifetime)])
            now = try #require(machine.deadline)
            longest = max(longest, now - close)
            #expect(machine.tick(at: now, activity: nil) == [.connect])
        }
        #expect(longest > .seconds(10))
    }

    @Test func longLivedTokenDoesNotEndTheLink() {
        let years = Duration.seconds(1_000_000_000)
        let machine = openMachine(
            LinkFacts(heartbeat: .seconds(25), tokenRenewalWindow: years - .seconds(30)..<years))
        #expect(machine.deadline == .seconds(30))
    }

    @Test func aStoppedStreamDoesNothing() {
        var machine = openMachine()
        #expect(machine.stop() == [.disconnect(.stopped), .end(nil)])
        #expect(machine.stop().isEmpty)
        #expect(machine.tick(at: .seconds(100), activity: nil).isEmpty)
        #expect(machine.resume(at: .seconds(100)).isEmpty)
    }
}
