import Foundation
import HTTPTypes
import Runway
import RunwayJSON
import RunwayTesting
import Testing

// The examples of the article "Getting started", line by line, and its test.

enum Bookshop: APIService {
    static let environments: [ServiceEnvironment: String] = [.release: "https://books.example"]
}

struct BookList: Endpoint {
    static let service = Bookshop.self
    var path: EndpointPath { "books" }
    var author: String
}

struct BookTitles: Reformer {
    func reform(_ rawData: RawData, from endpoint: any Endpoint) throws -> [String] {
        try rawData["books"].elements.map { try $0["title"].require(String.self) }
    }
}

@MainActor final class BookListController: APIManagerDelegate {
    let network: NetworkLayer
    lazy var books = APIManager<BookList>(on: network, delegate: self)
    var titles: [String] = []
    var message: String?

    init(network: NetworkLayer) { self.network = network }

    func apiManagerDidSucceed(_ manager: any APIManaging) {
        do { titles = try manager.fetch(BookTitles()) } catch { message = "\(error)" }
    }

    func apiManager(_ manager: any APIManaging, didFailWith error: NetworkError) {
        message = error.kind == .noNetwork ? "No connection." : "Something went wrong."
    }
}

struct GettingStartedTests {
    @Test @MainActor func titlesOfAnAuthorAreShown() async throws {
        let transport = StubTransport { _ in .json(#"{"books":[{"title":"Notes"},{"title":"Letters"}]}"#) }
        let controller = BookListController(network: NetworkLayer(transport: transport))
        try await controller.books.landing(of: BookList(author: "Ada"))
        #expect(controller.titles == ["Notes", "Letters"])
        #expect(transport.requests.map(\.head.path) == ["/books?author=Ada"])
    }
}

extension Bookshop {
    static let credentials: (any Credentials)? = BookshopCredentials()
    static let authorization = AuthorizationPolicy.ifSignedIn
}

struct LoginRequest: Endpoint {
    static let service = Bookshop.self
    static let method = HTTPRequest.Method.post
    static let authorization = AuthorizationPolicy.none
    var path: EndpointPath { "token" }
    var name: String?
    var password: String?
    var refreshToken: String?
}

struct BookshopCredentials: Credentials {
    func refresh(_ token: AccessToken, on network: NetworkLayer) async throws -> AccessToken {
        let response = try await network.call(LoginRequest(refreshToken: token.refreshToken))
        return AccessToken(
            try response["token"].require(), account: token.account, refreshToken: response["refresh"].string)
    }
}

/// One launch of the app: it signs in if nobody is, and reads.
func launch(
    over transport: any Transport, _ folder: URL, as name: String, _ password: String
) async throws -> (orders: RawData, news: RawData) {
    let network = NetworkLayer(transport: transport, tokens: FileTokenStore(folder: folder))
    if network.settings(of: Bookshop.self).account == nil {
        let response = try await network.call(LoginRequest(name: name, password: password))
        let token = AccessToken(
            try response["token"].require(), account: name, refreshToken: response["refresh"].string)
        try await network.signIn(token, to: Bookshop.self)
    }
    let orders = try await network.call(Bookshop.get("orders"))
    let news = try await network.call(
        Bookshop.get("news"), options: CallOptions(authorization: AuthorizationPolicy.none))
    return (orders, news)
}

/// The article's promise: the next launch needs no login.
struct RelaunchTests {
    @Test func secondLaunchIsSignedIn() async throws {
        let folder = URL(fileURLWithPath: NSTemporaryDirectory() + "runway-books-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let transport = StubTransport { _ in .json(#"{"token":"t1","refresh":"r1"}"#) }
        for _ in 1...2 { _ = try await launch(over: transport, folder, as: "ada", "hunter2") }
        #expect(transport.requests.map(\.head.path) == ["/token", "/orders", "/news", "/orders", "/news"])
        let tokens = transport.requests.map { $0.head.headerFields[.authorization] }
        #expect(tokens == [nil, "Bearer t1", nil, "Bearer t1", nil])
    }
}
