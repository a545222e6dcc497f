import AsyncHTTPClient
import Hummingbird
import NIOCore
import NIOHTTP1
import RunwayServer
import Testing

@Suite(.timeLimit(.minutes(10)))
struct SiteAssociationRouteTests {
    private static let document = #"{"applinks":{"details":[{"appIDs":["A.b"],"components":[{"/":"/o/*"}]}]}}"#

    @Test func theDocumentIsServedWithoutRedirect() async throws {
        let router = Router()
        try SiteAssociationRoute(Array(Self.document.utf8)).add(to: router)
        try await serving(router) { port in
            let request = HTTPClientRequest(url: "http://127.0.0.1:\(port)/.well-known/apple-app-site-association")
            let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
            let body = try await response.body.collect(upTo: 1 << 20)
            #expect(response.status == .ok && String(buffer: body) == Self.document)
            #expect(response.headers["content-type"] == ["application/json"])
        }
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"applinks":[]}"#, #"{"applinks":{"#,
        #"{"applinks":{"a":"\#(String(repeating: "a", count: 128 << 10))"}}"#,
    ])
    func invalidDocumentsAreRefused(document: String) {
        #expect(throws: SiteAssociationRoute.InvalidDocument.self) { try SiteAssociationRoute(Array(document.utf8)) }
    }
}
