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
