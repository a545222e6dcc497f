import HTTPTypes
import RunwayJSON
import RunwayTesting
import Testing

@testable import Runway

/// Which calls carry a token, and what happens if the service wants one that was not sent.
@Suite(.timeLimit(.minutes(5)))
struct AuthorizationPolicyTests {
    private let house = ClubHouse()

    private var tokens: [String?] { house.origin.requests.map { $0.head.headerFields[.authorization] } }

    @Test func theServicePolicyIsTheDefault() {
        #expect(Members.authorization == .required && OpeningHours.authorization == .none)
        #expect(BookSearch.authorization == .none)
        #expect(Lounge.Guests.authorization == .ifSignedIn && Lounge.Bills.authorization == .required)
    }

    @Test func optionalAuthorizationUsesTheAccountsToken() async throws {
        _ = try await house.network.call(Timetable())
        try await house.signIn()
        _ = try await house.network.call(Timetable())
        try await house.network.signOut(of: Club.self)
        _ = try await house.network.call(Timetable())
        #expect(tokens == [nil, "Bearer t1", nil])
        let unsigned = try await house.records.records(count: 3).map { record in
            record.decisions.contains { $0.name == "unsigned" }
        }
        #expect(unsigned == [true, false, true])
    }

    @Test func aCallIfSignedInRenewsItsToken() async throws {
        try await house.signIn()
        house.origin.revoke()
        _ = try await house.network.call(MembersOrGuests())
        #expect(house.origin.refreshCount == 1 && tokens == ["Bearer t1", nil, "Bearer t2"])
    }

    @Test func unrenewableTokenIsNotLeftOut() async throws {
        try await house.signIn()
        house.origin.revoke()
        house.origin.respondToRefreshes(.response(.json("{}", status: .badRequest)))
        #expect(try await failure(of: MembersOrGuests()).kind == .needsLogin)
        // The account is still that of the calls, and has no token.
        #expect(try await failure(of: MembersOrGuests()).kind == .needsLogin)
        let calls = house.origin.requests.filter { $0.head.path == "/members/1" }
        #expect(calls.map { $0.head.headerFields[.authorization] } == ["Bearer t1"])
    }

    @MainActor @Test func refusalOfAnUnsignedCallNeedsALogin() async throws {
        let needs = LoginNeeds()
        needs.watch(house.network)
        let recorder = LandingRecorder()
        let manager = APIManager<MembersOrGuests>(on: house.network, delegate: recorder)
        let flight = manager.load(MembersOrGuests())
        try await recorder.landings(count: 1)
        #expect(manager.error?.kind == .needsLogin && manager.error?.status == .unauthorized)
        #expect(manager.error?.rawData != nil)
        try await waitUntil { !needs.all.isEmpty }
        let need = try #require(needs.all.first)
        #expect(need.account == nil && need.flights == [flight] && house.origin.refreshCount == 0)

        try await house.signIn()
        #expect(need.resume().count == 1)
        try await recorder.landings(count: 2)
        #expect(manager.error == nil && tokens == [nil, "Bearer t1"])
    }

    @Test func signInDoesNotReachCallsInFlight() async throws {
        let gate = ScriptedGate()
        let house = ClubHouse(callGate: gate)
        let call = Task { try await house.network.call(MembersOrGuests()) }
        try await waitUntil { house.origin.requests.count == 1 }
        try await house.signIn()
        gate.open()
        #expect(try await call.failure().kind == .needsLogin)
        #expect(house.origin.requests.map { $0.head.headerFields[.authorization] } == [nil])
        _ = try await house.network.call(MembersOrGuests())
        #expect(house.origin.requests.last?.head.headerFields[.authorization] == "Bearer t1")
    }

    @Test func aRefusalUnderNoneRenewsNothing() async throws {
        try await house.signIn()
        let error = try await failure(of: MembersWithoutToken())
        #expect(error.kind == .needsAccessToken && error.status == .unauthorized)
        #expect(tokens == [nil] && house.origin.refreshCount == 0 && house.stored()?.value == "t1")
    }

    @Test(arguments: [true, false])
    func aServiceWithoutCredentialsCannotAuthorize(isRequired: Bool) async throws {
        let layer = StubbedLayer()
        let error =
            try await isRequired ? layer.failure(of: Lounge.Bills()) : layer.failure(of: Lounge.Guests())
        #expect(error.kind == .invalidConfiguration && layer.transport.requests.isEmpty)
        #expect(error.detail.contains("has no credentials"))
    }

    // MARK: - For one call

    private let unsigned = CallOptions(authorization: AuthorizationPolicy.none)

    @Test func publicPathNeedsNoLogin() async throws {
        _ = try await house.network.call(Club.get("hours"), options: unsigned)
        _ = try await house.network.stream(Club.get("hours"), options: unsigned)
        try await house.signIn()
        _ = try await house.network.call(Club.get("hours"), options: unsigned)
        _ = try await house.network.call(Club.get("members/1"))
        #expect(tokens == [nil, nil, nil, "Bearer t1"])
    }

    @MainActor @Test func managerMakesAPublicCall() async throws {
        let manager = APIManager<GetEndpoint<Club>>(on: house.network)
        try await manager.landing(of: Club.get("hours"), options: unsigned)
        #expect(tokens == [nil])
    }

    @Test func refusalOfAPublicCallRenewsNothing() async throws {
        try await house.signIn()
        let error = await #expect(throws: NetworkError.self) {
            try await house.network.call(Members(), options: unsigned)
        }
        #expect(error?.kind == .needsAccessToken && house.origin.refreshCount == 0 && tokens == [nil])
    }

    @Test func oneCallCarriesTheToken() async throws {
        try await house.signIn()
        for policy in [AuthorizationPolicy.required, .ifSignedIn] {
            _ = try await house.network.call(OpeningHours(), options: CallOptions(authorization: policy))
        }
        #expect(tokens == ["Bearer t1", "Bearer t1"])
    }

    /// The request may be for any server.
    @Test func exchangesNeverGetAToken() async throws {
        try await house.signIn()
        let head = HTTPRequest(method: .get, scheme: "https", authority: "elsewhere.test", path: "/hours")
        _ = try await house.network.exchange(
            Request(head: head), with: Club.self, options: CallOptions(authorization: .required))
        #expect(tokens == [nil])
    }

    @Test(arguments: [CachePolicy.http(), .timeToLive()])
    func responsesWithoutATokenAreStoredApart(_ policy: CachePolicy) async throws {
        let transport = StubTransport { request in
            var response = Response.json(#"{"for":"\#(request.head.headerFields[.authorization] ?? "all")"}"#)
            response.head.headerFields[.cacheControl] = "max-age=600"
            return response
        }
        let network = NetworkLayer(transport: transport, pipeline: .tested)
        try await network.signIn(AccessToken("t1", account: "ann"), to: Club.self)
        for _ in 1...2 {
            let own = try await network.call(Members(), options: CallOptions(cache: policy))
            let publicOne = try await network.call(
                Members(), options: CallOptions(cache: policy, authorization: AuthorizationPolicy.none))
            #expect(own["for"].string == "Bearer t1" && publicOne["for"].string == "all")
        }
        #expect(transport.requests.count == 2)
    }

    @Test func readsWithoutATokenAreNotShared() async throws {
        let gate = ScriptedGate()
        let house = ClubHouse(callGate: gate)
        try await house.signIn()
        let calls = [CallOptions.standard, unsigned].map { options in
            Task { _ = try await house.network.call(Club.get("hours"), options: options) }
        }
        try await gate.waitForArrivals(count: 2)
        gate.open()
        for call in calls { try await call.value }
        #expect(Set(house.origin.requests.map { $0.head.headerFields[.authorization] }) == ["Bearer t1", nil])
    }

    @Test func missingLoginNamesTheSettings() async throws {
        let detail = try await failure(of: Members()).detail
        #expect(detail.hasPrefix("Nobody is signed in to club: call signIn(_:to:), or set the account"))
        #expect(detail.contains("authorization none") && !detail.hasSuffix(".."))
    }

    private func failure<E: Endpoint>(of endpoint: E) async throws -> NetworkError {
        let error = await #expect(throws: NetworkError.self) { try await house.network.call(endpoint) }
        return try #require(error)
    }
}

/// What the origin sends to everybody.
private struct Timetable: Endpoint {
    static let service = Club.self
    static let authorization = AuthorizationPolicy.ifSignedIn
    var path: EndpointPath { "hours" }
}

/// What the origin refuses without a token.
private struct MembersOrGuests: Endpoint {
    static let service = Club.self
    static let authorization = AuthorizationPolicy.ifSignedIn
    var path: EndpointPath { "members/1" }
}

private struct MembersWithoutToken: Endpoint {
    static let service = Club.self
    static let authorization = AuthorizationPolicy.none
    var path: EndpointPath { "members/1" }
}

/// A service that wants tokens and has none.
private enum Lounge: APIService {
    static let environments: [ServiceEnvironment: String] = [.release: "https://lounge.test"]
    static let authorization = AuthorizationPolicy.ifSignedIn

    struct Guests: Endpoint {
        static let service = Lounge.self
        var path: EndpointPath { "guests" }
    }
    struct Bills: Endpoint {
        static let service = Lounge.self
        static let authorization = AuthorizationPolicy.required
        var path: EndpointPath { "bills" }
    }
}
