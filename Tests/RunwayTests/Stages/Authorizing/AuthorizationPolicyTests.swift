import HTTPTypes
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
