import Foundation
import HTTPTypes
import RunwayJSON
import RunwayTesting
import Testing

@testable import Runway

/// What a sign-out, or a sign-in as somebody else, leaves behind of the calls before it: nothing.
@MainActor
@Suite(.timeLimit(.minutes(5)))
struct AccountSessionTests {
    private let gate = ScriptedGate()
    private let recorder = LandingRecorder()
    private let clock = ManualClock()

    /// A layer whose calls wait at the gate, and then get this response.
    private func layer(_ fields: HTTPFields = [:], tokens: any TokenStore = MemoryTokenStore()) -> NetworkLayer {
        let network = NetworkLayer(
            transport: StubTransport { [gate] request throws(NetworkError) in
                do { try await gate.pass() } catch { throw .cancelled(in: .transporting) }
                let head = HTTPResponse(status: .ok, headerFields: fields)
                let text = #"{"of":"\#(request.head.headerFields[.authorization] ?? "nobody")"}"#
                return Response(head: head, body: .whole(RawData(Array(text.utf8), response: head)))
            }, pipeline: .tested, clock: LayerClock(clock), limits: LayerLimits(admission: .none, retrying: .none),
            tokens: tokens)
        network.configure(Club.self) { $0.cookies = .jar() }
        return network
    }

    private func signIn(_ account: String, to network: NetworkLayer) async throws {
        try await network.signIn(AccessToken("token of \(account)", account: account), to: Club.self)
    }

    @Test func responseAfterASignOutSetsNoCookie() async throws {
        let network = layer([.setCookie: "session=ann"])
        try await signIn("ann", to: network)
        let call = Task { try await network.call(Members()) }
        try await gate.waitForArrivals()
        try await network.signOut(of: Club.self, cancelling: false)
        gate.open()
        #expect(try await call.value["of"].string == "Bearer token of ann", "it was not cancelled")
        try await signIn("ann", to: network)
        #expect(network.cookies(of: Club.self).isEmpty)
    }

    @Test(arguments: [true, false], [true, false])
    func signedOutAccountsResponseDoesNotLand(_ isCancelling: Bool, _ isNextSignedIn: Bool) async throws {
        let network = layer()
        try await signIn("ann", to: network)
        let manager = APIManager<Members>(on: network, delegate: recorder)
        manager.load(Members())
        try await gate.waitForArrivals()
        try await network.signOut(of: Club.self, cancelling: isCancelling)
        if isNextSignedIn { try await signIn("bob", to: network) }
        gate.open()
        try await waitUntil { !manager.isLoading }
        #expect(recorder.landings.isEmpty && manager.rawData == nil && manager.error == nil)
    }

    @Test func responseDoesNotLandOnAnotherAccountsScreen() async throws {
        let network = layer()
        try await signIn("ann", to: network)
        let manager = APIManager<Members>(on: network, delegate: recorder)
        manager.load(Members())
        try await gate.waitForArrivals()
        try await signIn("bob", to: network)
        let own = APIManager<Members>(on: network, delegate: recorder)
        own.load(Members())
        gate.open()
        let landing = try await recorder.landings(count: 1)[0]
        #expect(try landing.result.get()["of"].string == "Bearer token of bob")
        try await waitUntil { !manager.isLoading }
        #expect(recorder.landings.count == 1 && manager.rawData == nil)
    }

    @Test func signOutCancelsOnlyTheAccountsCalls() async throws {
        let network = layer()
        let anonymous = Task { try await network.call(OpeningHours()) }
        try await gate.waitForArrivals()
        try await signIn("ann", to: network)
        let calls = [
            Task { try await network.call(Members()) }, Task { try await network.call(Members()) },
            Task { try await network.call(Members(page: 2), options: CallOptions(priority: .low)) },
        ]
        try await gate.waitForArrivals(count: 3)
        try await network.signOut(of: Club.self)
        for call in calls { #expect(try await call.failure().kind == .cancelled) }
        gate.open()
        _ = try await anonymous.value
    }

    @Test func signOutEndsAStreamedBody() async throws {
        let network = NetworkLayer(
            transport: StubTransport { [gate] _ in
                // A body that is silent until the gate opens.
                let body = BodyStream {
                    return {
                        try await gate.pass()
                        return nil
                    }
                }
                return Response(head: HTTPResponse(status: .ok), body: .stream(body))
            }, pipeline: .tested, clock: LayerClock(clock))
        try await signIn("ann", to: network)
        let response = try await network.stream(Members())
        let reading = Task<Void, any Error> { for try await _ in response.body {} }
        try await gate.waitForArrivals()
        try await network.signOut(of: Club.self)
        let error = await #expect(throws: NetworkError.self) { try await reading.value }
        #expect(error?.kind == .cancelled)
    }

    @Test func priorAccountsWaitingCallDemandsNoLogin() async throws {
        let house = ClubHouse(refreshGate: gate)
        let demands = LoginDemands(house.network)
        try await house.signIn()
        house.origin.revoke()
        house.origin.respondToRefreshes(.response(.json("{}", status: .badRequest)))
        let call = house.calls(1...1)[0]
        try await house.waitForWaiting(1)
        try await house.network.signIn(AccessToken("t9", account: "bob"), to: Club.self)
        gate.open()
        #expect(try await call.failure().kind == .needsLogin)
        await demands.settle()
        #expect(demands.accounts.isEmpty)
    }

    @Test func renewalFailingAfterSignInFailsNoCall() async throws {
        let house = ClubHouse(refreshGate: gate)
        let demands = LoginDemands(house.network)
        try await house.signIn()
        house.origin.revoke()
        house.origin.respondToRefreshes(.response(.json("{}", status: .badRequest)))
        let call = house.calls(1...1)[0]
        try await gate.waitForArrivals()
        // A sign-in up to where it holds the token, but has not ended the renewal of the last one yet.
        house.origin.accept("t9")
        let identity = TokenIdentity(service: Club.self, environment: .release, account: "ann")
        let session = house.network.services.configuration(of: Club.self).session
        _ = house.network.tokens.hold(
            AccessToken("t9", account: "ann"), of: identity, in: session, leeway: .zero, clock: house.network.clock)
        gate.open()
        _ = try await call.value
        await demands.settle()
        #expect(demands.accounts.isEmpty)
        // The next real demand is made.
        house.origin.revoke()
        #expect(try await house.calls(1...1)[0].failure().kind == .needsLogin)
        await demands.settle()
        #expect(demands.accounts == ["ann"])
    }

    @Test func signedOutTokenDoesNotReturnAfterEviction() async throws {
        var limits = LayerLimits()
        limits.maximumAccounts = 1
        let house = ClubHouse(limits: limits)
        try await house.signIn()
        let (tokens, services) = (house.network.tokens, house.network.services)
        let identity = TokenIdentity(service: Club.self, environment: .release, account: "ann")
        let session = services.configuration(of: Club.self).session
        let version = tokens.knowledge(of: identity).version
        try await house.network.signOut(of: Club.self)
        try await house.signIn(as: "bob")
        // What a renewal of before the sign-out brings, after the mark of the sign-out had to make room.
        let late = tokens.hold(
            AccessToken("t7", account: "ann"), of: identity, in: session, leeway: .zero, clock: house.network.clock,
            renewing: version)
        #expect(late == nil && house.stored() == nil)
    }

    @Test func refreshSetsNoCookieForTheNextAccount() async throws {
        let network = NetworkLayer(
            transport: StubTransport { _ in
                let head = HTTPResponse(status: .ok, headerFields: [.setCookie: "session=ann"])
                return Response(head: head, body: .whole(RawData(Array("{}".utf8), response: head)))
            }, pipeline: .tested, clock: LayerClock(clock), limits: LayerLimits(admission: .none, retrying: .none))
        network.configure(Lounge.self) { $0.cookies = .jar() }
        let expiry = network.clock.date.addingTimeInterval(1)
        try await network.signIn(AccessToken("t", account: "ann", expiry: expiry), to: Lounge.self)
        clock.advance(by: .seconds(2))
        let call = Task { try await network.call(Lounge.Chair()) }
        // The refresh makes its call after somebody else has signed in.
        try await Lounge.refreshes.waitForArrivals()
        try await network.signIn(AccessToken("b", account: "bob"), to: Lounge.self)
        Lounge.refreshes.open()
        _ = try await call.value
        #expect(network.cookies(of: Lounge.self).isEmpty)
        network.configure(Lounge.self) { $0.account = "ann" }
        #expect(network.cookies(of: Lounge.self).map(\.name) == ["session"])
    }

    @Test func signOutRemovesAnEarlierSessionsToken() async throws {
        let house = ClubHouse()
        for environment in [ServiceEnvironment.development, .release] {
            house.network.configure(Club.self) { $0.environment = environment }
            try await house.signIn()
        }
        try await house.network.signOut(of: Club.self)
        house.network.configure(Club.self) { settings in
            settings.environment = .development
            settings.account = "ann"
        }
        try await house.network.signOut(of: Club.self)
        #expect(house.stored() == nil && house.stored(in: "development") == nil)
    }

    @Test func loginCookiesDoNotOutliveTheSignOut() async throws {
        gate.open()
        let network = layer([.setCookie: "session=ann"])
        _ = try await network.call(OpeningHours())
        #expect(network.cookies(of: Club.self).count == 1)
        try await signIn("ann", to: network)
        try await network.signOut(of: Club.self)
        #expect(network.cookies(of: Club.self).isEmpty)
    }

    @Test func loginOutlastingASignOutSetsNoCookie() async throws {
        let network = layer([.setCookie: "session=ann"])
        let login = Task { try await network.call(OpeningHours()) }
        try await gate.waitForArrivals()
        try await signIn("ann", to: network)
        try await network.signOut(of: Club.self)
        gate.open()
        _ = try await login.value
        #expect(network.cookies(of: Club.self).isEmpty)
        _ = try await network.call(OpeningHours())
        #expect(network.cookies(of: Club.self).count == 1, "calls after the sign-out set theirs")
    }

    @Test func pageDoesNotLandOnAnotherAccountsScreen() async throws {
        let network = pageLayer()
        try await signIn("ann", to: network)
        let switching = Switching { network.configure(Club.self) { $0.account = "bob" } }
        let list = PagedAPIManager<MemberList>(on: network, delegate: recorder)
        // The account changes when the response has come and its rows are still to be read.
        network.add(switching, for: MemberList.self)
        list.load(MemberList())
        try await waitUntil { switching.isDone && !list.isLoading }
        #expect(recorder.landings.isEmpty && list.items.isEmpty)
    }

    @Test func pagesOfTwoAccountsStayApart() async throws {
        let network = pageLayer()
        try await signIn("ann", to: network)
        let list = PagedAPIManager<MemberList>(on: network, delegate: recorder)
        list.load(MemberList())
        _ = try await recorder.landings(count: 1)
        #expect(list.items.count == 20)
        try await network.signOut(of: Club.self)
        try await signIn("bob", to: network)
        list.loadNextPage()
        _ = try await recorder.landings(count: 2)
        #expect(list.items.count == 20)
        #expect(list.items.allSatisfy { $0["of"].string == "Bearer token of bob" })
    }

    /// A layer whose service has a list of members for each token.
    private func pageLayer() -> NetworkLayer {
        NetworkLayer(
            transport: StubTransport { request in
                let query = URLComponents(string: request.url)?.queryItems ?? []
                let offset = query.first { $0.name == "offset" }?.value.flatMap { Int($0) } ?? 0
                let name = request.head.headerFields[.authorization] ?? "nobody"
                let rows = (offset..<offset + 20).map { #"{"id":\#($0),"of":"\#(name)"}"# }
                return .json(#"{"members":[\#(rows.joined(separator: ","))]}"#)
            }, pipeline: .tested, clock: LayerClock(clock), limits: LayerLimits(admission: .none, retrying: .none))
    }
}

/// Does something once, when a response has come.
@MainActor
private final class Switching: Interceptor {
    private(set) var isDone = false
    private let action: () -> Void

    init(_ action: @escaping () -> Void) { self.action = action }

    func afterSuccess(_ rawData: RawData, of call: InterceptedCall, by manager: (any APIManaging)?) {
        action()
        isDone = true
    }
}

/// A service whose refreshes wait until the test lets them go on.
private enum Lounge: APIService {
    static let environments: [ServiceEnvironment: String] = [.release: "https://lounge.test"]
    static let credentials: (any Credentials)? = SlowCredentials()
    static let refreshes = ScriptedGate()

    struct SlowCredentials: Credentials {
        func refresh(_ token: AccessToken, on network: NetworkLayer) async throws -> AccessToken {
            try await Lounge.refreshes.pass()
            _ = try await network.call(Key())
            return AccessToken("new", account: token.account)
        }
    }
    struct Key: Endpoint {
        static let service = Lounge.self
        static let authorization = AuthorizationPolicy.none
        var path: EndpointPath { "key" }
    }
    struct Chair: Endpoint {
        static let service = Lounge.self
        var path: EndpointPath { "chair" }
    }
}

/// The logins that a layer demanded of the app.
@MainActor
final class LoginDemands {
    private(set) var accounts: [String?] = []
    private let network: NetworkLayer

    init(_ network: NetworkLayer) {
        self.network = network
        _ = NotificationCenter.default.addObserver(
            forName: NetworkLayer.needsLoginNotification, object: network, queue: nil
        ) { [weak self] notification in
            guard let need = NeedsLogin(notification) else { return }
            MainActor.assumeIsolated { self?.accounts.append(need.account) }
        }
    }

    /// Waits until notifications that are on their way have come.
    func settle() async {
        await network.flushRecords()
        for _ in 0..<20 { await Task { @MainActor in }.value }
    }
}
