import HTTPTypes
import Runway
import RunwayJSON
import RunwayTesting
import Testing

/// The GET of a path of a service, without a type of its own.
@Suite(.timeLimit(.minutes(5)))
struct GetEndpointTests {
    private let layer = StubbedLayer { request in .json("{\"path\":\"\(request.head.path ?? "")\"}") }

    @Test func pathAndParametersAreSent() async throws {
        let id = "a/b"
        let response = try await layer.network.call(Library.get("books/\(id)", ["page": 2, "title": "a b"]))
        #expect(response["path"].string?.hasSuffix("books/a%2Fb?page=2&title=a%20b") == true)
        #expect(try #require(layer.transport.requests.first).head.method == .get)
    }

    @Test func queryInThePathIsAnError() async throws {
        let error = await #expect(throws: NetworkError.self) {
            try await layer.network.call(Library.get("books?page=2"))
        }
        #expect(error?.kind == .invalidParameters && error?.detail.contains("second argument of get") == true)
        #expect(layer.transport.requests.isEmpty)
    }

    @Test func recordNamesTheService() async throws {
        _ = try await layer.network.call(Library.get("books"))
        #expect(try await layer.record().endpoint == "GET \(Library.name)")
    }
}
