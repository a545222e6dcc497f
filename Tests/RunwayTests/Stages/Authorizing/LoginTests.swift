import Foundation
import HTTPTypes
import RunwayJSON
import RunwayTesting
import Synchronization
import Testing

@testable import Runway

@MainActor
@Suite(.timeLimit(.minutes(5)))
struct LoginTests {
    private let gate = ScriptedGate()
    private let needs = Needs()
    private let recorder = LandingRecorder()

    private func house() -> ClubHouse {
        let house = ClubHouse(refreshGate: gate)
        needs.watch(house.network)
        return house
    }

    @Test func refusedRefreshFailsAllAndNotifiesOnce() async throws {
        let house = house()
        try await house.signIn()
        house.origin.revoke()
        house.origin.respondToRefreshes(.response(.json("{}", status: .badRequest)))
        let managers = (1...3).map { _ in APIManager<Members>(on: house.network, delegate: recorder) }
        let flights = zip(managers, 1...3).map { $0.load(Members(page: $1)) }
        try await house.waitForWaiting(3)
        gate.open()
        let landings = try await recorder.landings(count: 3)
        for landing in landings {
            #expect(throws: NetworkError.self) { try landing.result.get() }
        }
        #expect(managers.allSatisfy { $0.error?.kind == .needsLogin })
        #expect(house.origin.refreshCount == 1)
        // The calls do not wait for the store.
        try await waitUntil { house.stored() == nil }
        let need = try #require(needs.all.first)
        #expect(need.network === house.network && need.service == Club.self && need.account == "ann")
        #expect(need.flights == flights.sorted() && need.endpoints == ["Members"])
        #expect(need.managers.count == 3 && zip(need.managers, managers).allSatisfy { $0 === $1 })

        // Further calls fail at once, without sending and without telling again.
        let sent = house.origin.requests.count
        #expect(try await house.calls(1...1)[0].failure().kind == .needsLogin)
        #expect(house.origin.requests.count == sent)
        await house.settleNotifications()
        #expect(needs.all.count == 1)

        // Continuing after the login is a new flight.
        try await house.signIn()
        house.origin.accept("t1")
        let again = managers[0].load(Members(page: 1))
        try await recorder.landings(count: 4)
        #expect(managers[0].landedFlight == again && managers[0].error == nil)
    }

    @Test func interceptorsGetTheManagerOfTheList() async throws {
        let house = house()
        let list = PagedAPIManager<MemberList>(on: house.network, delegate: recorder)
        let flight = list.load(MemberList())
        try await recorder.landings(count: 1)
        await house.settleNotifications()
        let need = try #require(needs.all.first)
        let manager = try #require(need.managers.first)
        #expect(manager === list && need.managers.count == 1 && need.flights == [flight])
    }

    @Test func callsThatSharedTheRequestAreNamedToo() async throws {
        let house = house()
        try await house.signIn()
        house.origin.revoke()
        house.origin.respondToRefreshes(.response(.json("{}", status: .unauthorized)))
        let calls = (1...3).map { _ in Task { [network = house.network] in try await network.call(Members()) } }
        try await waitUntil { house.network.reads.waitingCount == 3 }
        gate.open()
        for call in calls { #expect(try await call.failure().kind == .needsLogin) }
        await house.settleNotifications()
        #expect(needs.all.map(\.flights.count) == [3])
    }

    @Test func missingTokenNotifiesOncePerSignIn() async throws {
        gate.open()
        let house = house()
        for _ in 0..<5 { #expect(try await house.calls(1...1)[0].failure().kind == .needsLogin) }
        house.network.configure(Club.self) { $0.account = "bob" }
        for _ in 0..<5 { #expect(try await house.calls(1...1)[0].failure().kind == .needsLogin) }
        await house.settleNotifications()
        #expect(needs.all.map(\.account) == [nil, "bob"])
        #expect(house.origin.requests.isEmpty)
        try await house.signIn()
        try await house.network.signOut(of: Club.self)
        #expect(try await house.calls(1...1)[0].failure().kind == .needsLogin)
        await house.settleNotifications()
        #expect(needs.all.map(\.account) == [nil, "bob", nil])
    }

    @Test(
        arguments: [
            (.failure(NetworkError(.noNetwork, in: .transporting, "gone")), .noNetwork),
            (.failure(NetworkError(.timedOut, in: .transporting, "slow")), .timedOut),
            (.response(.json("{}", status: .internalServerError)), .refused),
            (.response(.json("{}", status: .serviceUnavailable)), .overloaded),
            (.response(.json(#"{"declined":true}"#)), .loginCancelled),
        ] as [(ClubOrigin.RefreshResponse, NetworkError.Kind)])
    func unrelatedErrorsSignNobodyOut(
        _ response: ClubOrigin.RefreshResponse, _ kind: NetworkError.Kind
    ) async throws {
        let house = house()
        try await house.signIn()
        house.origin.revoke()
        house.origin.respondToRefreshes(response)
        let calls = house.calls(1...3)
        try await house.waitForWaiting(3)
        gate.open()
        for call in calls { #expect(try await call.failure().kind == kind) }
        #expect(house.stored()?.value == "t1")
        await house.settleNotifications()
        #expect(needs.all.isEmpty)
        house.origin.respondToRefreshes(.newToken)
        _ = try await house.network.call(Members())
        #expect(house.origin.refreshCount == 2)
    }

    @Test(arguments: ["<html>", "{}", #"{"access_token":""}"#, #"{"access_token":"a\nb"}"#, #"{"access_token":7}"#, ""])
    func invalidRefreshNeedsALoginWithoutRemovingTokens(_ garbage: String) async throws {
        gate.open()
        let house = house()
        try await house.signIn()
        house.origin.revoke()
        house.origin.respondToRefreshes(.response(.json(garbage)))
        #expect(try await house.calls(1...1)[0].failure().kind == .needsLogin)
        #expect(house.stored()?.value == "t1")
        await house.settleNotifications()
        #expect(needs.all.count == 1)
    }

    @Test func demandToLogInNotifiesWithoutARefresh() async throws {
        gate.open()
        let house = ClubHouse()
        needs.watch(house.network)
        let network = NetworkLayer(
            transport: StubTransport { _ in .json("{}", status: .forbidden) }, pipeline: .tested,
            clock: LayerClock(house.clock),
            limits: LayerLimits(admission: .none, retrying: .none))
        needs.watch(network)
        try await network.signIn(AccessToken("t1", account: "ann"), to: Club.self)
        for _ in 0..<3 {
            let error = await #expect(throws: NetworkError.self) { try await network.call(Members()) }
            #expect(error?.kind == .needsLogin && error?.status == .forbidden)
        }
        await house.settleNotifications()
        #expect(needs.all.map(\.account) == ["ann"])
    }

    @Test func cancelledLoginEndsTheWaitingCalls() async throws {
        let house = house()
        try await house.signIn()
        house.origin.revoke()
        let calls = house.calls(1...2)
        try await house.waitForWaiting(2)
        #expect(house.network.cancelLogin(of: Club.self))
        for call in calls { #expect(try await call.failure().kind == .loginCancelled) }
        #expect(!house.network.cancelLogin(of: Club.self))
        #expect(house.stored()?.value == "t1")
        await house.settleNotifications()
        #expect(needs.all.isEmpty)
    }

    @Test func signOutEndsWaitingCallsAndDiscardsRefreshes() async throws {
        let house = house()
        try await house.signIn()
        house.origin.revoke()
        let calls = house.calls(1...2)
        try await house.waitForWaiting(2)
        try await house.network.signOut(of: Club.self)
        for call in calls { #expect(try await call.failure().kind == .cancelled) }
        #expect(house.network.settings(of: Club.self).account == nil)
        gate.open()
        house.network.configure(Club.self) { $0.account = "ann" }
        #expect(try await house.calls(1...1)[0].failure().kind == .needsLogin)
        #expect(house.stored() == nil)
    }

    @Test func waitingCallsContinueAfterASignIn() async throws {
        let house = house()
        try await house.signIn()
        house.origin.revoke()
        let calls = house.calls(1...2)
        try await house.waitForWaiting(2)
        house.origin.accept("t9")
        try await house.network.signIn(AccessToken("t9", account: "ann"), to: Club.self)
        for call in calls { _ = try await call.value }
        gate.open()
        _ = try await house.network.call(Members())
        #expect(house.stored()?.value == "t9", "what the older refresh brought came too late")
    }

    @Test func signingOutClosesTheReadsOfTheAccount() async throws {
        let house = house()
        try await house.signIn()
        house.origin.revoke()
        let call = house.calls(1...1)[0]
        try await house.waitForWaiting(1)
        house.network.cache.clear(account: "ann", of: Club.self)
        let other = house.calls(1...1)[0]
        try await house.waitForWaiting(2)
        gate.open()
        _ = try await (call.value, other.value)
        #expect(house.origin.callCount == 3, "no call joined a read of before, which alone was refused")
    }

    @Test func everyEnvironmentHasTokensOfItsOwn() async throws {
        gate.open()
        let house = house()
        try await house.signIn()
        house.network.configure(Club.self) { $0.environment = .development }
        #expect(try await house.calls(1...1)[0].failure().kind == .needsLogin)
        try await house.signIn()
        try await house.network.signOut(of: Club.self)
        #expect(house.stored(in: "development") == nil && house.stored()?.value == "t1")
    }
}

/// The notifications of a layer.
@MainActor
private final class Needs {
    private(set) var all: [NeedsLogin] = []
    private var observers: [any NSObjectProtocol] = []

    func watch(_ network: NetworkLayer) {
        observers.append(
            NotificationCenter.default.addObserver(
                forName: NetworkLayer.needsLoginNotification, object: network, queue: nil
            ) { notification in
                guard let need = NeedsLogin(notification) else { return }
                MainActor.assumeIsolated { self.all.append(need) }
            })
    }
}

extension ClubHouse {
    /// Waits until notifications that are on their way have come.
    @MainActor
    fileprivate func settleNotifications() async {
        await network.flushRecords()
        for _ in 0..<20 { await Task { @MainActor in }.value }
    }
}
