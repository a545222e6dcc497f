import RunwayTesting
import Testing

@testable import Runway

/// Which address is the best, network by network.
struct HostSelectorTests {
    private let a = (IPAddress("192.0.2.1") ?? IPAddress(v4: 0))
    private let b = (IPAddress("192.0.2.2") ?? IPAddress(v4: 0))
    private let c = (IPAddress("2001:db8::3") ?? IPAddress(v4: 0))
    private let host = "api.example.com"
    private let clock = ManualClock()
    private let status = SettableNetworkStatus(.wifi)

    private func makeSelector(_ limits: HostSelectionLimits = HostSelectionLimits()) -> HostSelector {
        HostSelector(
            limits: limits, status: status, clock: LayerClock(clock), randomness: SeededGenerator(seed: 1))
    }

    @Test func unmeasuredAddressesStayInOrderWithAlternatingFamilies() {
        let d = (IPAddress("2001:db8::4") ?? IPAddress(v4: 0))
        #expect(makeSelector().plan([a, b, c, d], of: host).order == [a, c, b, d])
    }

    @Test func theLowestLatencyWins() {
        let selector = makeSelector()
        selector.note(.dialed(roundTrip: .milliseconds(90)), of: a, of: host)
        selector.note(.dialed(roundTrip: .milliseconds(30)), of: b, of: host)
        #expect(selector.plan([a, b], of: host).order == [b, a])
        #expect(selector.latency(of: b, of: host) == .milliseconds(30))
        // What is learned of one host says nothing of another, at the same address.
        #expect(selector.plan([a, b], of: "other.example.com").order == [a, b])
    }

    @Test func aLittleLessIsNoReasonToChange() {
        let selector = makeSelector()
        selector.note(.dialed(roundTrip: .milliseconds(50)), of: a, of: host)
        #expect(selector.plan([a, b], of: host).order.first == a)
        selector.note(.dialed(roundTrip: .milliseconds(45)), of: b, of: host)
        #expect(selector.plan([a, b], of: host).order.first == a)
        selector.note(.dialed(roundTrip: .milliseconds(20)), of: b, of: host)
        selector.note(.dialed(roundTrip: .milliseconds(20)), of: b, of: host)
        #expect(selector.plan([a, b], of: host).order.first == b)
    }

    @Test func oneMeasurementFarOffIsChance() {
        let selector = makeSelector()
        for _ in 0..<3 { selector.note(.dialed(roundTrip: .milliseconds(20)), of: a, of: host) }
        selector.note(.dialed(roundTrip: .milliseconds(50)), of: b, of: host)
        selector.note(.dialed(roundTrip: .seconds(3)), of: a, of: host)
        #expect(selector.plan([a, b], of: host).order.first == a)
        selector.note(.dialed(roundTrip: .seconds(3)), of: a, of: host)
        #expect(selector.plan([a, b], of: host).order.first == b)
    }

    @Test func slowEndpointDoesNotMakeItsPathSlow() {
        let selector = makeSelector()
        selector.note(.dialed(roundTrip: .milliseconds(20)), of: a, of: host)
        selector.note(.dialed(roundTrip: .milliseconds(40)), of: b, of: host)
        func hasLost(after time: Duration, endpoint: Int) -> Bool {
            selector.note(.responded(firstByte: time, endpoint: endpoint), of: a, of: host)
            return selector.hasLost(a, among: [a, b], of: host)
        }
        for _ in 0..<20 { #expect(!hasLost(after: .milliseconds(30), endpoint: 1)) }
        // A report takes the server two seconds, each time.
        for _ in 0..<5 { #expect(!hasLost(after: .seconds(2), endpoint: 2)) }
        // The listing never did: it is the path that takes them now, whatever else is asked for the first time meanwhile.
        #expect(!hasLost(after: .seconds(2), endpoint: 1))
        #expect(!hasLost(after: .seconds(2), endpoint: 3))
        #expect(!hasLost(after: .seconds(2), endpoint: 1))
        #expect(hasLost(after: .seconds(2), endpoint: 1))
    }

    @Test func bansGrowUpToTheirBoundAndEnd() {
        let selector = makeSelector(HostSelectionLimits(firstBan: .seconds(5), longestBan: .seconds(60)))
        var bans: [Duration] = []
        for _ in 0..<8 {
            selector.note(.failed, of: a, of: host)
            // The calls that it took down with it are one failure.
            selector.note(.failed, of: a, of: host)
            let ban = selector.ban(of: a, of: host) ?? .zero
            bans.append(ban)
            #expect(selector.plan([a, b], of: host).banned == [a])
            clock.advance(by: ban)
            #expect(selector.ban(of: a, of: host) == nil)
        }
        for (ban, longest) in zip(bans, [5, 10, 20, 40, 60, 60, 60, 60]) {
            #expect(ban <= .seconds(longest) && ban >= .seconds(longest) * 0.8)
        }
    }

    @Test func bannedAddressesAreTestedInParallel() {
        let selector = makeSelector()
        selector.note(.dialed(roundTrip: .milliseconds(10)), of: a, of: host)
        selector.note(.dialed(roundTrip: .milliseconds(80)), of: b, of: host)
        selector.note(.failed, of: a, of: host)
        #expect(selector.plan([a, b], of: host) == HostPlan(order: [b], banned: [a], stagger: .milliseconds(240)))
        clock.advance(by: .seconds(6))
        let plan = selector.plan([a, b], of: host)
        #expect(plan.order == [b, a])
        #expect(plan.explored == a)
        // While somebody looks, nobody else does.
        #expect(selector.plan([a, b], of: host).explored == nil)
        selector.note(.dialed(roundTrip: .milliseconds(10)), of: a, of: host)
        #expect(selector.plan([a, b], of: host).order == [a, b])
    }

    @Test func silentAddressesAreLastUntilMeasured() {
        let selector = makeSelector()
        selector.note(.dialed(roundTrip: .milliseconds(20)), of: a, of: host)
        selector.note(.dialed(roundTrip: .milliseconds(80)), of: b, of: host)
        #expect(selector.plan([a, b], of: host).order == [a, b])
        selector.note(.silent(for: .milliseconds(260)), of: a, of: host)
        // It may only be slow: so it is not banned, and its measurement is the only one.
        #expect(selector.ban(of: a, of: host) == nil)
        #expect(selector.hasLost(a, among: [a, b, c], of: host))
        let plan = selector.plan([a, b, c], of: host)
        #expect(plan.order == [b, c, a])
        #expect(plan.explored == c)
        selector.note(.dialed(roundTrip: .milliseconds(20)), of: a, of: host)
        #expect(selector.plan([a, b, c], of: host).order.first == a)
        // One that always took longer is as good as before.
        selector.note(.silent(for: .milliseconds(10)), of: a, of: host)
        #expect(selector.plan([a, b, c], of: host).order.first == a)
    }

    @Test func whatNobodyKnowsGoesBeforeWhatWasSilent() {
        let selector = makeSelector()
        selector.note(.silent(for: .milliseconds(260)), of: a, of: host)
        #expect(selector.plan([a, b], of: host).order == [b, a])
    }

    @Test func threeSuccessesResetTheFailures() {
        let selector = makeSelector()
        for _ in 0..<4 {
            selector.note(.failed, of: a, of: host)
            clock.advance(by: .seconds(600))
        }
        for _ in 0..<3 { selector.note(.dialed(roundTrip: .milliseconds(10)), of: a, of: host) }
        selector.note(.failed, of: a, of: host)
        #expect(selector.ban(of: a, of: host).map { $0 <= .seconds(5) } == true)
    }

    @Test func everyNetworkHasItsOwnBest() {
        let selector = makeSelector()
        selector.note(.dialed(roundTrip: .milliseconds(10)), of: a, of: host)
        selector.note(.dialed(roundTrip: .milliseconds(50)), of: b, of: host)
        status.set(.cellular)
        selector.note(.dialed(roundTrip: .milliseconds(80)), of: b, of: host)
        selector.note(.dialed(roundTrip: .milliseconds(300)), of: a, of: host)
        #expect(selector.plan([a, b], of: host).order == [b, a])
        status.set(.wifi)
        #expect(selector.plan([a, b], of: host).order == [a, b])
        status.set(NetworkStatus(.wifi, identity: "192.168.7.1"))
        #expect(selector.latency(of: a, of: host) == nil)
    }

    @Test func aChangeOfNetworkEndsBans() {
        let selector = makeSelector()
        selector.note(.failed, of: a, of: host)
        status.set(.none)
        status.set(.wifi)
        #expect(selector.ban(of: a, of: host) == nil)
    }

    @Test func bannedAddressesAreNotEvicted() {
        var ranking = HostRanking(HostSelectionLimits())
        ranking.note(.failed, of: a, at: .zero, chance: 0)
        for number in 0..<100 {
            let address = IPAddress(v4: 0x0A00_0000 + UInt32(number))
            ranking.note(.dialed(roundTrip: .milliseconds(1)), of: address, at: .milliseconds(number), chance: 0)
        }
        #expect(ranking.count == HostSelectionLimits.maximumAddressesPerHost)
        #expect(ranking.record(of: a)?.isBanned(at: .milliseconds(100)) == true)
    }

    @Test func memoryIsBounded() {
        var ranking = HostRanking(HostSelectionLimits())
        for number in 0..<1000 {
            let address = (IPAddress("10.0.\(number / 250).\(number % 250)") ?? IPAddress(v4: 0))
            ranking.note(.dialed(roundTrip: .milliseconds(1)), of: address, at: .seconds(number), chance: 0)
        }
        #expect(ranking.count == HostSelectionLimits.maximumAddressesPerHost)
        // A name whose addresses change all the time is only dialled.
        for number in 0..<1000 {
            let addresses = [UInt32(2 * number), UInt32(2 * number + 1)].map { IPAddress(v4: 0x0B00_0000 + $0) }
            _ = ranking.plan(addresses, at: .seconds(1000 + number))
        }
        #expect(ranking.count == HostSelectionLimits.maximumAddressesPerHost)
        let selector = makeSelector(HostSelectionLimits(maximumHosts: 3))
        for number in 0..<10 {
            selector.note(.dialed(roundTrip: .milliseconds(1)), of: a, of: "h\(number).example")
        }
        #expect(selector.latency(of: a, of: "h6.example") == nil)
        #expect(selector.latency(of: a, of: "h7.example") != nil)
    }
}
