import Foundation
import HTTPTypes
import Runway
import RunwayJSON
import RunwayTesting
import RunwayTransport
import Testing

// Runway's half of docs/first-hour.md, line by line. What needs a server of somebody else's is compiled and not run.

private protocol GitHubEndpoint: Endpoint where Service == GitHubAPI.GitHub {}

private enum GitHubAPI {
    enum GitHub: APIService {
        static let environments: [ServiceEnvironment: String] = [.release: "https://api.github.com"]
    }
}

private func firstGet() async throws {
    enum GitHub: APIService {
        static let environments: [ServiceEnvironment: String] = [.release: "https://api.github.com"]
    }
    let network = NetworkLayer(transport: try NIOTransport())
    let repository = try await network.call(GitHub.get("repos/apple/swift-nio"))
    print(repository["stargazers_count"].int ?? 0)
}

private func furtherEndpoint(on network: NetworkLayer) async throws {
    typealias GitHub = GitHubAPI.GitHub
    struct Issue: Decodable { var title: String }
    let issues = try await network.call(
        GitHub.get("repos/apple/swift-nio/issues", ["state": "closed"]), as: [Issue].self)
    print(issues)
}

private func typedEndpoint(on network: NetworkLayer) async throws -> [String] {
    struct Issue: Decodable { var title: String }
    struct IssueList: GitHubEndpoint {
        var path: EndpointPath { "repos/apple/swift-nio/issues" }
        var state: String
    }
    let issues = try await network.call(IssueList(state: "closed"), as: [Issue].self)
    return issues.map(\.title)
}

private enum Screen {
    enum Estate: APIService {
        static let environments: [ServiceEnvironment: String] = [.release: "https://estate.example"]
    }
    struct Homes: Endpoint {
        static let service = Estate.self
        var path: EndpointPath { "homes" }
        var city: String
    }
    struct HomeTitles: Reformer {
        func reform(_ rawData: RawData, from endpoint: any Endpoint) throws -> [String] {
            try rawData.json.elements.map { try $0["title"].require(String.self) }
        }
    }
    @MainActor final class HomesController: APIManagerDelegate {
        let homes: APIManager<Homes>
        var titles: [String] = []
        var message: String?
        var isLoading: Bool { homes.isLoading }
        init(network: NetworkLayer) {
            homes = APIManager(on: network)
            homes.delegate = self
        }
        func open(_ city: String) { homes.load(Homes(city: city)) }
        func retry() { if let failed = homes.landedEndpoint as? Homes { homes.load(failed) } }
        func apiManagerDidSucceed(_ manager: any APIManaging) {
            do { (titles, message) = (try manager.fetch(HomeTitles()), nil) } catch { message = "\(error)" }
        }
        func apiManager(_ manager: any APIManaging, didFailWith error: NetworkError) { message = "\(error)" }
    }
}

private enum Refreshing {
    enum Members: APIService {
        static let environments: [ServiceEnvironment: String] = [.release: "https://members.example"]
        static let credentials: (any Credentials)? = MemberCredentials()
    }
    struct TokenRefresh: Endpoint {
        static let service = Members.self
        static let method = HTTPRequest.Method.post
        static let authorization = AuthorizationPolicy.none
        var path: EndpointPath { "token" }
        var refresh: String
    }
    struct MemberCredentials: Credentials {
        func refresh(_ token: AccessToken, on network: NetworkLayer) async throws -> AccessToken {
            let response = try await network.call(TokenRefresh(refresh: token.refreshToken ?? ""))
            return AccessToken(
                try response["accessToken"].require(), account: token.account,
                refreshToken: try response["refreshToken"].require())
        }
    }

    static func profile(with token: AccessToken, on network: NetworkLayer) async throws -> RawData {
        try await network.signIn(token, to: Members.self)
        let profile = try await network.call(Members.get("profile"))
        return profile
    }
}

private enum Enveloped {
    struct Home: Decodable { var title: String }
    enum Estate: APIService {
        static let environments: [ServiceEnvironment: String] = [.release: "https://estate.example"]
        static func judge(_ head: HTTPResponse, rawData: RawData?) -> Verdict {
            let verdict = Verdict(status: head.status, headerFields: head.headerFields)
            guard verdict == .fine, let rawData else { return verdict }
            guard let code = rawData["code"].int else { return .malformed("There is no code.") }
            if code == 0 { return .fine }
            return .failed(ServiceError(code: "\(code)", message: rawData["message"].string ?? ""), isAbsorbed: false)
        }
    }

    static func titles(on network: NetworkLayer) async throws -> [String] {
        let homes = try await network.call(Estate.get("homes"), as: [Home].self, at: "data")
        return homes.map(\.title)
    }
}

@MainActor private enum Listed {
    typealias Estate = Screen.Estate
    struct HomeList: PagedEndpoint {
        static let service = Estate.self
        static let paging = PageStyle.offset
        var path: EndpointPath { "homes" }
        var city: String
        var offset = 0
        var limit = 20
        mutating func ask(for page: PageRequest) { (offset, limit) = (page.offset, page.size) }
        func read(_ rawData: RawData) throws -> PageContent {
            try PageContent(rows: rawData["rows"], id: "id", total: rawData["total"].int)
        }
    }

    static func rowCount(on network: NetworkLayer) async throws -> Int {
        let list = PagedAPIManager<HomeList>(on: network)
        list.load(HomeList(city: "上海"))
        while try await list.landingOfNextPage() != nil {}
        return list.items.count
    }
}

private enum Downloaded {
    typealias Estate = Screen.Estate
    struct Film: Endpoint {
        static let service = Estate.self
        var path: EndpointPath { "films/\(id)" }
        @Unencoded var id: Int
    }

    static func byteCount(to file: URL, on network: NetworkLayer) async throws -> Int {
        let film = try await network.download(Film(id: 7), to: file)
        return film.byteCount
    }
}

/// The tasks of docs/first-hour.md: that Runway's lines do what the page says, and how many they are.
struct FirstHourTests {
    private static func layer(_ respond: @escaping @Sendable (Request) -> Response) -> NetworkLayer {
        NetworkLayer(transport: StubTransport { request in respond(request) }, clock: LayerClock(ManualClock()))
    }

    @Test func endpointsOfAServiceNameItOnce() async throws {
        let transport = StubTransport { _ in .json(#"[{"title":"a"}]"#) }
        let network = NetworkLayer(transport: transport, clock: LayerClock(ManualClock()))
        #expect(try await typedEndpoint(on: network) == ["a"])
        try await furtherEndpoint(on: network)
        #expect(Set(transport.requests.map { $0.head.path }) == ["/repos/apple/swift-nio/issues?state=closed"])
        #expect(Set(transport.requests.map { $0.head.authority }) == ["api.github.com"])
    }

    @MainActor @Test func screenShowsTheErrorAndThenTheRows() async throws {
        let transport = StubTransport { request in
            request.head.path == "/homes?city=a" ? .json(#"[{"title":"x"}]"#) : .json("{}", status: .notFound)
        }
        let screen = Screen.HomesController(
            network: NetworkLayer(transport: transport, clock: LayerClock(ManualClock())))
        screen.open("b")
        #expect(screen.isLoading)
        await #expect(throws: NetworkError.self) { try await screen.homes.landing(of: Screen.Homes(city: "b")) }
        #expect(screen.message != nil && screen.titles.isEmpty && !screen.isLoading)
        screen.retry()
        await #expect(throws: NetworkError.self) { try await screen.homes.landing(of: Screen.Homes(city: "b")) }
        try await screen.homes.landing(of: Screen.Homes(city: "a"))
        #expect(screen.titles == ["x"] && screen.message == nil)
        #expect(transport.requests.map(\.head.path) == ["/homes?city=b", "/homes?city=b", "/homes?city=a"])
    }

    @Test func refusedTokenIsRenewed() async throws {
        let transport = StubTransport { request in
            if request.head.path == "/token" { return .json(#"{"accessToken":"t2","refreshToken":"r2"}"#) }
            let isRenewed = request.head.headerFields[.authorization] == "Bearer t2"
            return .json(#"{"name":"ada"}"#, status: isRenewed ? .ok : .unauthorized)
        }
        let token = AccessToken("t1", account: "ada", refreshToken: "r")
        let profile = try await Refreshing.profile(
            with: token, on: NetworkLayer(transport: transport, clock: LayerClock(ManualClock())))
        #expect(profile["name"].string == "ada" && transport.requests.count == 3)
    }

    @Test func errorInTheEnvelopeIsTheServices() async throws {
        let fine = Self.layer { _ in .json(#"{"code":0,"data":[{"title":"x"}]}"#) }
        #expect(try await Enveloped.titles(on: fine) == ["x"])
        let failing = Self.layer { _ in .json(#"{"code":7,"message":"no"}"#) }
        let error = await #expect(throws: NetworkError.self) { try await Enveloped.titles(on: failing) }
        #expect(error?.kind == .service && error?.serviceError?.message == "no")
    }

    @Test func everyPageIsLoaded() async throws {
        let network = Self.layer { request in
            let query = URLComponents(string: request.head.path ?? "")?.queryItems ?? []
            let (offset, limit) = (Self.number("offset", in: query), Self.number("limit", in: query))
            let rows = (offset..<max(offset, min(offset + limit, 45))).map { #"{"id":"\#($0)"}"# }
            return .json(#"{"total":45,"rows":[\#(rows.joined(separator: ","))]}"#)
        }
        #expect(try await Listed.rowCount(on: network) == 45)
    }

    private static func number(_ name: String, in query: [URLQueryItem]) -> Int {
        query.first { $0.name == name }?.value.flatMap { Int($0) } ?? 0
    }

    @Test func linesOfThePageAreCounted() throws {
        let page = try Project.file("docs/first-hour.md").text
        let table = page.matches(of: /\| \[(.+?)\]\(.+?\) \| (\d+) \| (\d+) \|/)
        let counts = Dictionary(
            uniqueKeysWithValues: table.map { (String($0.output.1), [Int($0.output.2), Int($0.output.3)]) })
        let sections = page.split(separator: "\n## ").dropFirst()
        #expect(sections.count == table.count && table.count == 8)
        for section in sections {
            let name = section.prefix { $0 != "\n" }.lowercased()
            let blocks = section.split(separator: "```", omittingEmptySubsequences: false).enumerated()
                .filter { !$0.offset.isMultiple(of: 2) }.map(\.element)
            let lines = [false, true].map { isRunway in
                blocks.filter { $0.hasPrefix("swift\n") == isRunway }.reduce(0) { $0 + Self.lineCount($1) }
            }
            let stated = counts.first { $0.key.lowercased() == name }?.value
            #expect(stated == lines, "\(name) has \(lines) lines")
        }
        #expect(try #require(counts["first GET"]?[1]) <= 6)
        #expect(try #require(counts["a further endpoint"]?[1]) <= 3)
    }

    /// The lines of a block that are code. Its first line is the language.
    private static func lineCount(_ block: Substring) -> Int {
        block.split(separator: "\n", omittingEmptySubsequences: false).dropFirst().map { $0.drop { $0 == " " } }
            .count { !$0.isEmpty && !$0.hasPrefix("//") && !$0.hasPrefix("import ") }
    }
}
