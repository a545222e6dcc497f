import Foundation
import HTTPTypes
import RunwayJSON
import RunwayTesting
import Synchronization
import Testing

@testable import Runway

/// Calls that failed for want of a login, made again after it.
@MainActor
@Suite(.timeLimit(.minutes(5)))
struct ResumingTests {
    private let house = ClubHouse()
    private let recorder = LandingRecorder()
    private let needs = LoginNeeds()

    init() { needs.watch(house.network) }

    private func manager(overlap: OverlapPolicy? = nil) -> APIManager<Members> {
        APIManager(on: house.network, delegate: recorder, overlap: overlap)
    }

    /// Makes a call that fails because nobody is signed in, or because the token of `ann` is not renewed.
    private func failing(_ managers: [APIManager<Members>], asAnn: Bool = true) async throws -> NeedsLogin {
        if asAnn {
            try await house.signIn()
            house.origin.revoke()
            house.origin.respondToRefreshes(.response(.json("{}", status: .badRequest)))
        }
        let before = recorder.landings.count
        for (index, manager) in managers.enumerated() { manager.load(Members(page: index + 1)) }
        try await recorder.landings(count: before + managers.count)
        #expect(managers.allSatisfy { $0.error?.kind == .needsLogin })
        try await waitUntil { !needs.all.isEmpty }
        return try #require(needs.all.last)
    }

    private func signInAgain(as account: String = "ann") async throws {
        house.origin.accept("t1")
        try await house.signIn(as: account)
    }

    @Test(arguments: [true, false]) func callsAreMadeAgainWithTheirOwnParameters(asAnn: Bool) async throws {
        let managers = [manager(), manager()]
        let need = try await failing(managers, asAnn: asAnn)
        let failed = try managers.map { try #require($0.landedFlight) }
        if !asAnn { #expect(need.resume().isEmpty && managers.allSatisfy { $0.error != nil }) }
        try await signInAgain()
        let sent = house.origin.requests.count
        let resumed = need.resume()
        try await recorder.landings(count: 4)
        #expect(managers.allSatisfy { $0.error == nil } && managers.map(\.landedFlight) == resumed)
        #expect(managers.map { ($0.landedEndpoint as? Members)?.page } == [1, 2])
        #expect(Set(house.origin.requests.dropFirst(sent).map(\.head.path)) == ["/members/1", "/members/2"])
        #expect(need.resume().isEmpty)
        await house.network.flushRecords()
        let record = try #require(house.records.records.first { $0.id == resumed[0] })
        #expect(record.decisions(of: CallDecision.self) == [.resumed(failed[0])])
    }

    @Test func callsFailedAfterTheNotificationAreResumed() async throws {
        let (first, later) = (manager(), manager())
        let need = try await failing([first])
        later.load(Members(page: 9))
        try await recorder.landings(count: 2)
        #expect(later.error?.kind == .needsLogin && needs.all.count == 1)
        try await signInAgain()
        #expect(need.resume().count == 2)
        try await recorder.landings(count: 4)
        #expect(later.error == nil && (later.landedEndpoint as? Members)?.page == 9)
    }

    @Test func anotherAccountsCallFailsUnsent() async throws {
        let manager = manager()
        let need = try await failing([manager])
        try await signInAgain(as: "ben")
        let sent = house.origin.requests.count
        need.resume()
        try await recorder.landings(count: 2)
        #expect(manager.error?.kind == .loginCancelled && house.origin.requests.count == sent)
        #expect(
            manager.error?.detail
                == "The call was made for ann, and is not sent for ben, who is signed in to club now.")
        #expect(need.resume().isEmpty)
    }

    @Test func callIsResumableOnlyForItsTime() async throws {
        let limit = LayerLimits.resumptionTime
        for (wait, count) in [(limit - .seconds(1), 1), (limit, 0)] {
            let test = ResumingTests()
            let manager = test.manager()
            let need = try await test.failing([manager])
            test.house.clock.advance(by: wait)
            try await test.signInAgain()
            #expect(need.resume().count == count)
            manager.cancelAll()
        }
    }

    @Test(arguments: ["cancelled", "cancelledAll", "cleared", "replaced", "released"])
    func callIsNotResumedWithoutItsOwner(how: String) async throws {
        var held: APIManager<Members>? = manager()
        let need = try await failing([try #require(held)])
        switch how {
        case "cancelled": if let failed = held?.landedFlight { held?.cancel(failed) }
        case "cancelledAll": held?.cancelAll()
        case "cleared": held?.clear()
        case "replaced":
            held?.load(Members(page: 5))
            held?.cancelAll()
        default: held = nil
        }
        try await signInAgain()
        #expect(need.resume().isEmpty)
    }

    @Test func callWhoseNewTokenWasRefusedIsResumed() async throws {
        let manager = manager()
        try await house.signIn()
        house.origin.revoke()
        house.origin.refuseRenewedTokens()
        manager.load(Members(page: 3))
        try await recorder.landings(count: 1)
        #expect(manager.error?.kind == .needsAccessToken)
        try await signInAgain()
        let resumed = house.network.resumeCalls(of: Club.self)
        try await recorder.landings(count: 2)
        #expect(manager.error == nil && resumed == [manager.landedFlight])
        #expect((manager.landedEndpoint as? Members)?.page == 3)
    }

    @Test func loginResumesACallWithARefusedToken() async throws {
        let (refused, later) = (manager(), manager())
        try await house.signIn()
        house.origin.revoke()
        house.origin.refuseRenewedTokens()
        refused.load(Members(page: 3))
        try await recorder.landings(count: 1)
        #expect(refused.error?.kind == .needsAccessToken)
        house.clock.advance(by: RenewalBackoff.delays.bound(after: 1))
        house.origin.respondToRefreshes(.response(.json("{}", status: .badRequest)))
        later.load(Members(page: 4))
        try await recorder.landings(count: 2)
        #expect(later.error?.kind == .needsLogin)
        try await waitUntil { !needs.all.isEmpty }
        // The refused token itself caused no notification.
        #expect(needs.all.map(\.flights) == [[later.landedFlight].compactMap(\.self)])
        try await signInAgain()
        #expect(needs.all[0].resume().count == 2)
        try await recorder.landings(count: 4)
        #expect(refused.error == nil && later.error == nil)
    }

    @Test func concurrentCallsAreAllResumed() async throws {
        let manager = manager(overlap: .concurrent)
        for page in 1...3 { manager.load(Members(page: page)) }
        try await recorder.landings(count: 3)
        try await waitUntil { !needs.all.isEmpty }
        try await signInAgain()
        #expect(needs.all[0].resume().count == 3)
        try await recorder.landings(count: 6)
        #expect(Set(recorder.landings.suffix(3).compactMap { ($0.endpoint as? Members)?.page }) == [1, 2, 3])
    }

    @Test func listContinuesWhereItFailed() async throws {
        let transport = StubTransport { request in
            if request.head.path == "/token" { return .json("{}", status: .badRequest) }
            let isFirst = request.head.path?.hasSuffix("offset=0") == true
            // The first token is good for the first page alone.
            let isRefused = !isFirst && request.head.headerFields[.authorization] == "Bearer t1"
            if isRefused { return .json("{}", status: .unauthorized) }
            let rows = (isFirst ? 1...20 : 20...25).map { #"{"id":\#($0)}"# }.joined(separator: ",")
            return .json(#"{"members":[\#(rows)]}"#)
        }
        let network = NetworkLayer(transport: transport, pipeline: .tested, clock: LayerClock(ManualClock()))
        needs.watch(network)
        try await network.signIn(AccessToken("t1", account: "ann", refreshToken: "r1"), to: Club.self)
        let list = PagedAPIManager<MemberList>(on: network, delegate: recorder)
        list.load(MemberList())
        try await recorder.landings(count: 1)
        list.loadNextPage()
        try await recorder.landings(count: 2)
        #expect(list.error?.kind == .needsLogin && list.items.count == 20)
        try await waitUntil { !needs.all.isEmpty }
        try await network.signIn(AccessToken("t2", account: "ann"), to: Club.self)
        let resumed = needs.all[0].resume()
        try await recorder.landings(count: 3)
        #expect(list.error == nil && resumed == [list.landedFlight])
        // A page begins with the last row of the page before it.
        #expect(transport.requests.last?.head.path?.hasSuffix("offset=19") == true)
        #expect(list.items.compactMap { $0["id"].int } == Array(1...25))
    }

    @Test func callsAreResumedWhenTheNetworkIsBack() async throws {
        let status = SettableNetworkStatus(.none)
        let network = NetworkLayer(
            transport: StubTransport { _ in .json("{}") }, pipeline: .tested, clock: LayerClock(ManualClock()),
            status: status)
        let manager = APIManager<Refresh>(on: network, delegate: recorder)
        manager.load(Refresh(page: 4))
        try await recorder.landings(count: 1)
        #expect(manager.error?.kind == .noNetwork)
        status.set(.wifi)
        let resumed = network.resumeCalls(of: Estates.self)
        try await recorder.landings(count: 2)
        #expect(manager.error == nil && resumed == [manager.landedFlight])
        #expect((manager.landedEndpoint as? Refresh)?.page == 4)
    }

    @Test func loginResumesNoCallThatLostItsNetwork() async throws {
        let status = SettableNetworkStatus(.none)
        let network = NetworkLayer(
            transport: ClubOrigin(), pipeline: .tested, clock: LayerClock(ManualClock()), status: status)
        needs.watch(network)
        let offline = APIManager<Members>(on: network, delegate: recorder)
        let refused = APIManager<Members>(on: network, delegate: recorder)
        offline.load(Members(page: 1))
        try await recorder.landings(count: 1)
        status.set(.wifi)
        refused.load(Members(page: 2))
        try await recorder.landings(count: 2)
        #expect(offline.error?.kind == .noNetwork && refused.error?.kind == .needsLogin)
        try await waitUntil { !needs.all.isEmpty }
        try await network.signIn(AccessToken("t1", account: "ann"), to: Club.self)
        let resumed = needs.all[0].resume()
        try await recorder.landings(count: 3)
        #expect(resumed == [refused.landedFlight] && refused.error == nil && !offline.isLoading)
        #expect(network.resumeCalls(of: Club.self).count == 1 && offline.isLoading)
        offline.cancelAll()
    }

    /// Makes a call whose connection is lost, and returns how many calls the app can resume then.
    private func resumableCount<E: Endpoint>(_ endpoint: E, losing sending: SendState) async -> Int {
        let transport = StubTransport { _ throws(NetworkError) in
            throw NetworkError(.noNetwork, in: .transporting, "The connection was lost.", sending: sending)
        }
        let network = NetworkLayer(
            transport: transport, pipeline: .tested, clock: LayerClock(ManualClock()),
            limits: LayerLimits(retrying: .none))
        let manager = APIManager<E>(on: network)
        let error = await #expect(throws: NetworkError.self) { try await manager.landing(of: endpoint) }
        #expect(error?.kind == .noNetwork && error?.sending == sending)
        defer { manager.cancelAll() }
        return network.resumeCalls(of: Estates.self).count
    }

    @Test(arguments: [SendState.sent, .unknown])
    func possiblyEffectiveChangeIsNotResumed(_ sending: SendState) async throws {
        #expect(await resumableCount(Booking(), losing: sending) == 0)
        // The new call would have another key.
        #expect(await resumableCount(KeyedBooking(), losing: sending) == 0)
        #expect(await resumableCount(PostedSearch(), losing: sending) == 1)
        #expect(await resumableCount(Renaming(), losing: sending) == 1)
        #expect(await resumableCount(Refresh(), losing: sending) == 1)
    }

    @Test(arguments: ["refused", "lost, then refused", "lost, then without a token"])
    func changeWithALostAttemptIsNotResumed(_ end: String) async throws {
        let clock = ManualClock()
        let sentCount = Mutex(0)
        let transport = StubTransport { request throws(NetworkError) in
            guard request.head.path == "/entries" else { return .json("{}", status: .badRequest) }
            let number = sentCount.withLock { count in
                count += 1
                return count
            }
            if end != "refused", number == 1 {
                if end.hasSuffix("token") { clock.advance(by: .seconds(600)) }
                throw NetworkError(.noNetwork, in: .transporting, "The connection was lost.", sending: .sent)
            }
            return .json("{}", status: .forbidden)
        }
        let network = NetworkLayer(
            transport: transport, pipeline: .tested, clock: LayerClock(clock), limits: LayerLimits(admission: .none))
        network.configure(Club.self) { $0.deadline = .seconds(1000) }
        let expiry = network.clock.date.addingTimeInterval(500)
        try await network.signIn(AccessToken("t1", account: "ann", expiry: expiry, refreshToken: "r1"), to: Club.self)
        let manager = APIManager<Entry>(on: network)
        manager.load(Entry())
        try await waitUntil("the refusal") {
            manager.error != nil
        } meanwhile: {
            if clock.now < .init(offset: .seconds(700)) { clock.advance(by: .seconds(1)) }
        }
        #expect(manager.error?.kind == .needsLogin)
        #expect(sentCount.withLock { $0 } == (end == "lost, then refused" ? 2 : 1))
        try await network.signIn(AccessToken("t2", account: "ann"), to: Club.self)
        #expect(network.resumeCalls(of: Club.self).count == (end == "refused" ? 1 : 0))
        manager.cancelAll()
    }

    @Test func changeThatWasNotSentIsResumed() async throws {
        #expect(await resumableCount(Booking(), losing: .notSent) == 1)
    }
}

private struct Booking: Endpoint {
    static let service = Estates.self
    static let method = HTTPRequest.Method.post
    var path: EndpointPath { "bookings" }
}

private struct KeyedBooking: Endpoint {
    static let service = Estates.self
    static let method = HTTPRequest.Method.post
    static let sendsIdempotencyKey = true
    var path: EndpointPath { "bookings" }
}

private struct PostedSearch: Endpoint {
    static let service = Estates.self
    static let method = HTTPRequest.Method.post
    static let retry = RetryPolicy(isRepeatable: true)
    var path: EndpointPath { "search" }
}

private struct Entry: Endpoint {
    static let service = Club.self
    static let method = HTTPRequest.Method.post
    static let sendsIdempotencyKey = true
    var path: EndpointPath { "entries" }
}

private struct Renaming: Endpoint {
    static let service = Estates.self
    static let method = HTTPRequest.Method.put
    var path: EndpointPath { "name" }
}

/// The notifications of a layer that the user has to log in.
@MainActor
final class LoginNeeds {
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
