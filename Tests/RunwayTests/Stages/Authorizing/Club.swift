import Foundation
import HTTPTypes
import RunwayJSON
import RunwayTesting
import Synchronization

@testable import Runway

/// A service with access tokens, which are `t1`, `t2` and so on.
enum Club: APIService {
    static let name = "club"
    static let environments: [ServiceEnvironment: String] = [
        .release: "https://club.test", .development: "https://dev.club.test",
    ]
    static let credentials: (any Credentials)? = ClubCredentials()
    static func judge(_ head: HTTPResponse, rawData: RawData?) -> Verdict {
        head.status == .forbidden ? .loginNeeded : Verdict(status: head.status, headerFields: head.headerFields)
    }
}

struct ClubCredentials: Credentials {
    func refresh(_ token: AccessToken, on network: NetworkLayer) async throws -> AccessToken {
        let response = try await network.call(TokenRefresh(refreshToken: token.refreshToken ?? ""))
        if response["declined"].bool == true {
            throw NetworkError(.loginCancelled, in: .authorizing, "The user declined.")
        }
        let lifetime = response["expires_in"].double
        return AccessToken(
            try response["access_token"].require(), account: token.account,
            expiry: lifetime.map { network.clock.date.addingTimeInterval($0) })
    }
}

struct TokenRefresh: Endpoint {
    static let service = Club.self
    static let method = HTTPRequest.Method.post
    static let authorization = AuthorizationPolicy.none
    var path: EndpointPath { "token" }
    var refreshToken: String
}

struct Members: Endpoint {
    static let service = Club.self
    var path: EndpointPath { "members/\(page)" }
    @Unencoded var page = 1
}

struct MemberList: PagedEndpoint {
    static let service = Club.self
    static let paging = PageStyle.offset
    var path: EndpointPath { "members" }
    var offset = 0
    mutating func ask(for page: PageRequest) { offset = page.offset }
    func read(_ rawData: RawData) throws -> PageContent { try PageContent(rows: rawData["members"], id: "id") }
}

/// What the origin refuses, whatever the token.
struct Strongroom: Endpoint {
    static let service = Club.self
    var path: EndpointPath { "strongroom" }
}

struct OpeningHours: Endpoint {
    static let service = Club.self
    static let authorization = AuthorizationPolicy.none
    var path: EndpointPath { "hours" }
}

struct Portrait: Endpoint {
    static let service = Club.self
    static let method = HTTPRequest.Method.put
    static let encoding = ParameterEncoding.raw(contentType: "image/png")
    var path: EndpointPath { "portrait" }
    var content: RequestBody { .stream(BodyStream([1, 2, 3]), byteCount: 3, isReplayable: false) }
}

/// The other side of ``Club``: knows one good token, and gives new ones as a test says.
final class ClubOrigin: Transport {
    enum RefreshResponse: Sendable {
        case newToken
        case response(Response)
        case failure(NetworkError)
    }

    private struct State {
        var goodToken = "t1"
        var tokenCount = 1
        var refusesRenewed = false
        var refusesPortraits = false
        var strongroomStatus: HTTPResponse.Status?
        var strongroomCount = 0
        var response = RefreshResponse.newToken
        var sent: [Request] = []
        var refreshing = 0
        var mostRefreshing = 0
    }

    /// Guards what is good and what came.
    private let state = Mutex(State())
    /// Where refreshes wait, if a test wants them to.
    let refreshGate: ScriptedGate?
    /// Where other calls wait for their responses, if a test sets it.
    let callGate: ScriptedGate?

    init(refreshGate: ScriptedGate? = nil, callGate: ScriptedGate? = nil) {
        self.refreshGate = refreshGate
        self.callGate = callGate
    }

    var requests: [Request] { state.withLock { $0.sent } }
    var refreshCount: Int { requests.count { $0.head.path == "/token" } }
    var callCount: Int { requests.count { $0.head.path != "/token" } }
    /// The most refreshes that were under way at one time.
    var mostRefreshing: Int { state.withLock { $0.mostRefreshing } }

    /// Invalidates every issued token.
    func revoke() { state.withLock { $0.goodToken = "none" } }
    /// Makes a token good, as a login on another path would.
    func accept(_ token: String) { state.withLock { $0.goodToken = token } }
    /// Issues invalid tokens from now on.
    func refuseRenewedTokens() { state.withLock { $0.refusesRenewed = true } }
    /// Responds to every second call of the strongroom with a status, and refuses the others.
    func failStrongroomOnce(with status: HTTPResponse.Status) {
        state.withLock { ($0.strongroomStatus, $0.strongroomCount) = (status, 0) }
    }
    /// Refuses portraits, whatever the token.
    func refusePortraits() { state.withLock { $0.refusesPortraits = true } }
    func respondToRefreshes(_ response: RefreshResponse) { state.withLock { $0.response = response } }

    func endsInTime(_ request: Request) -> Bool { true }

    func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
        state.withLock { $0.sent.append(request) }
        if request.head.path == "/token" { return try await refresh() }
        if let callGate {
            do { try await callGate.pass() } catch { throw NetworkError(.cancelled, in: .transporting, "gone") }
        }
        let isGood = state.withLock { request.head.headerFields[.authorization] == "Bearer \($0.goodToken)" }
        let isStrongroom = request.head.path == "/strongroom"
        if isStrongroom, let status = strongroomFailure() { return .json("{}", status: status) }
        let isRefused = isStrongroom || isRefusedPortrait(request)
        if isRefused { return .json("{}", status: .unauthorized) }
        if request.head.path == "/hours" || isGood { return .json("{}") }
        return .json("{}", status: .unauthorized)
    }

    private func strongroomFailure() -> HTTPResponse.Status? {
        state.withLock { state in
            state.strongroomCount += 1
            return state.strongroomCount.isMultiple(of: 2) ? state.strongroomStatus : nil
        }
    }

    private func isRefusedPortrait(_ request: Request) -> Bool {
        request.head.path == "/portrait" && state.withLock { $0.refusesPortraits }
    }

    private func refresh() async throws(NetworkError) -> Response {
        state.withLock { state in
            state.refreshing += 1
            state.mostRefreshing = max(state.mostRefreshing, state.refreshing)
        }
        defer { state.withLock { $0.refreshing -= 1 } }
        if let refreshGate {
            do { try await refreshGate.pass() } catch { throw NetworkError(.cancelled, in: .transporting, "gone") }
        }
        let (response, token) = state.withLock { state in
            if case .newToken = state.response {
                state.tokenCount += 1
                if !state.refusesRenewed { state.goodToken = "t\(state.tokenCount)" }
            }
            return (state.response, "t\(state.tokenCount)")
        }
        switch response {
        case .newToken: return .json(#"{"access_token":"\#(token)","expires_in":100}"#)
        case .response(let response): return response
        case .failure(let error): throw error
        }
    }
}

/// A layer in front of ``ClubOrigin``, whose clock a test drives.
struct ClubHouse {
    let origin: ClubOrigin
    let store = MemoryTokenStore()
    let records = RecordCollector()
    let clock = ManualClock()
    let network: NetworkLayer

    init(
        refreshGate: ScriptedGate? = nil, callGate: ScriptedGate? = nil, limits: LayerLimits = LayerLimits()
    ) {
        origin = ClubOrigin(refreshGate: refreshGate, callGate: callGate)
        var limits = limits
        (limits.admission, limits.retrying) = (.none, .none)
        network = NetworkLayer(
            transport: origin, pipeline: .tested, clock: LayerClock(clock), sinks: [records],
            limits: limits, tokens: store)
        network.configure(Club.self) { $0.deadline = .seconds(1000) }
    }

    /// Signs in with the token that the origin finds good.
    func signIn(as account: String = "ann", lifetime: Double? = nil) async throws {
        let expiry = lifetime.map { network.clock.date.addingTimeInterval($0) }
        try await network.signIn(
            AccessToken("t1", account: account, expiry: expiry, refreshToken: "r1"), to: Club.self)
    }

    /// Starts calls of different pages.
    func calls(_ pages: ClosedRange<Int>) -> [Task<RawData, any Error>] {
        pages.map { page in Task { [network] in try await network.call(Members(page: page)) } }
    }

    /// Waits until so many calls wait for a renewal.
    func waitForWaiting(_ count: Int) async throws {
        try await waitUntil { waitingCount == count }
    }

    /// How many calls wait for renewals.
    var waitingCount: Int { network.waitingForTokenCount }

    func stored(_ account: String = "ann", in environment: String = "release") -> AccessToken? {
        store.load(
            TokenKey(network: network.name, service: "club", environment: environment, account: account))
    }
}

extension NetworkLayer {
    /// How many calls wait for a new token.
    var waitingForTokenCount: Int { tokens.renewals.waitingCount }
}
