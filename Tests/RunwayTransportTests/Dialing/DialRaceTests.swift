import Runway
import Testing

@testable import RunwayTransport

/// The race alone, in simulated time.
struct DialRaceTests {
    private let a = (IPAddress("192.0.2.1") ?? IPAddress(v4: 0))
    private let b = (IPAddress("192.0.2.2") ?? IPAddress(v4: 0))
    private let c = (IPAddress("2001:db8::3") ?? IPAddress(v4: 0))
    private let d = (IPAddress("192.0.2.4") ?? IPAddress(v4: 0))
    private let near = SimulatedPath.alive(roundTrip: .milliseconds(20))

    private func host(_ paths: [IPAddress: SimulatedPath], lookup: ([IPAddress], Duration)? = nil) -> SimulatedHost {
        SimulatedHost(lookup: lookup.map { (addresses: $0.0, time: $0.1) }) { address, _ in paths[address] ?? .silent }
    }

    @Test func firstAddressAloneIsDialledIfItResponds() {
        let outcome = host([a: near, b: near]).dial(HostPlan(order: [a, b]), lookup: .onFailure, at: .zero)

        #expect(outcome.winner == a)
        #expect(outcome.dialed == [a])
        #expect(outcome.elapsed == .milliseconds(40))
        #expect(outcome.lookups == 0)
    }

    @Test func silentAddressCostsAQuarterOfASecond() {
        let outcome = host([b: near]).dial(HostPlan(order: [a, b]), lookup: .never, at: .zero)

        #expect(outcome.winner == b)
        #expect(outcome.elapsed == .milliseconds(290))
    }

    @Test func anAddressThatRefusesCostsOneRoundTrip() {
        let outcome = host([a: .refusing(roundTrip: .milliseconds(30)), b: near])
            .dial(HostPlan(order: [a, b]), lookup: .never, at: .zero)

        #expect(outcome.elapsed == .milliseconds(70))
    }

    @Test func silentHandshakeCostsOneMoreRoundTrip() {
        var race = DialRace(HostPlan(order: [a, b]), lookup: .never)
        #expect(race.start(at: .zero) == [.connect(a), .wake(at: .milliseconds(250))])
        #expect(race.connected(a, at: .milliseconds(100)) == [.wake(at: .milliseconds(350))])
        #expect(race.timerFired(at: .milliseconds(250)) == [.wake(at: .milliseconds(350))])
        #expect(race.timerFired(at: .milliseconds(350)) == [.connect(b)])
        let end = race.secured(b, at: .milliseconds(400))
        #expect(
            end == [
                .succeed(b), .note(.slowerThanWinner(roundTripAbove: .milliseconds(200)), a),
                .measure(a, for: .seconds(2)),
            ])
        #expect(race.secured(a, at: .milliseconds(401)).isEmpty)
    }

    @Test func aSilentLoserIsMeasuredBeforeItFails() {
        var race = DialRace(HostPlan(order: [a, b, d]), lookup: .never)
        _ = race.start(at: .zero)
        _ = race.timerFired(at: .milliseconds(250))
        _ = race.timerFired(at: .milliseconds(500))

        let end = race.secured(b, at: .milliseconds(510))

        #expect(
            end == [
                .succeed(b), .note(.silent(for: .milliseconds(510)), a), .measure(a, for: .seconds(2)),
                .cancel(d), .note(.abandoned, d),
            ])
    }

    @Test func slowNetworkGivesLosersMoreTime() {
        var race = DialRace(HostPlan(order: [a, b]), lookup: .never)
        _ = race.start(at: .zero)
        _ = race.timerFired(at: .milliseconds(250))
        _ = race.connected(b, at: .milliseconds(1_750))
        #expect(
            race.secured(b, at: .milliseconds(3_250)) == [
                .succeed(b), .note(.silent(for: .milliseconds(3_250)), a), .measure(a, for: .seconds(3)),
            ])
    }

    @Test func theExploredAddressIsMeasuredInParallel() {
        var race = DialRace(HostPlan(order: [a, b, d], explored: d), lookup: .never)
        #expect(race.start(at: .zero) == [.connect(a), .connect(d), .wake(at: .milliseconds(250))])
        let end = race.secured(a, at: .milliseconds(40))
        #expect(
            end == [
                .succeed(a), .note(.slowerThanWinner(roundTripAbove: .milliseconds(40)), d),
                .measure(d, for: .seconds(2)),
            ])
    }

    @Test func whatIsExploredAndFailsHurriesNobody() {
        var race = DialRace(HostPlan(order: [a, b, d], explored: d), lookup: .never)
        _ = race.start(at: .zero)
        #expect(race.failed(d, at: .milliseconds(5)) == [.note(.failed, d)])
    }

    @Test func deadListedAddressesFallBackToTheLookup() {
        let outcome = host([d: near], lookup: ([d], .milliseconds(30)))
            .dial(HostPlan(order: [a, b, c]), lookup: .onFailure, at: .zero)

        #expect(outcome.winner == d)
        // The lookup starts when the first is late; its address does not wait behind those that are in doubt.
        #expect(outcome.dialed == [a, b, d])
        #expect(outcome.elapsed == .milliseconds(540))
    }

    @Test func resolverThatIsSilentLeavesTheListedOnes() {
        let outcome = host([b: near]).dial(HostPlan(order: [a, b]), lookup: .onFailure, at: .zero)

        #expect(outcome.winner == b)
        #expect(outcome.lookups == 1)
        #expect(outcome.elapsed == .milliseconds(290))
    }

    @Test func bannedAddressesAreALastResort() {
        let listed = HostPlan(banned: [a])
        let fine = host([a: near, b: near], lookup: ([b], .milliseconds(10)))
        #expect(fine.dial(listed, lookup: .onFailure, at: .zero).dialed == [b])
        // The resolver is silent: what is banned is better than nothing.
        let outcome = host([a: near]).dial(listed, lookup: .onFailure, at: .zero)
        #expect(outcome.winner == a)
        #expect(outcome.elapsed == .milliseconds(290))
    }

    @Test func aRaceWithoutAnyAddressFails() {
        var race = DialRace(HostPlan(), lookup: .atOnce)
        #expect(race.start(at: .zero) == [.lookUp])
        #expect(race.lookupFailed(at: .milliseconds(5)) == [.fail])
        #expect(race.lookedUp(HostPlan(order: [a]), at: .milliseconds(6)).isEmpty)
    }

    @Test func theLastFailureEndsTheRace() {
        var race = DialRace(HostPlan(order: [a, b]), lookup: .onFailure)
        _ = race.start(at: .zero)
        #expect(race.failed(a, at: .zero) == [.note(.failed, a), .lookUp, .connect(b)])
        #expect(race.failed(b, at: .milliseconds(1)) == [.note(.failed, b)])
        #expect(race.lookupFailed(at: .milliseconds(2)) == [.fail])
    }

    @Test func theDeadlineClosesOpenConnections() {
        var race = DialRace(HostPlan(order: [a, b]), lookup: .never)
        _ = race.start(at: .zero)
        _ = race.timerFired(at: .milliseconds(250))
        #expect(
            race.end(at: .milliseconds(300)) == [
                .cancel(a), .note(.silent(for: .milliseconds(300), isMeasured: false), a), .cancel(b),
                .note(.abandoned, b), .fail,
            ])
        #expect(race.timerFired(at: .milliseconds(500)).isEmpty)
        #expect(race.end(at: .milliseconds(500)).isEmpty)
    }

    @Test func whatIsSilentUntilTheDeadlineHasFailed() {
        var race = DialRace(HostPlan(order: [a, b]), lookup: .never)
        _ = race.start(at: .zero)
        _ = race.connected(a, at: .milliseconds(100))
        _ = race.timerFired(at: .milliseconds(350))
        #expect(
            race.end(at: .milliseconds(2_350)) == [
                .cancel(a), .note(.abandoned, a), .cancel(b), .note(.failed, b), .fail,
            ])
    }

    @Test func noMoreThanSixteenAddressesAreTried() {
        let many = (0..<40).map { (IPAddress("192.0.2.\($0)") ?? IPAddress(v4: 0)) }
        let outcome = host([:]).dial(HostPlan(order: many), lookup: .never, at: .zero, deadline: .seconds(60))
        #expect(outcome.winner == nil)
        #expect(outcome.dialed == Array(many.prefix(16)))
    }
}
