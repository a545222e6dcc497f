import Foundation
import Runway
import RunwayTesting
import Testing

struct EndpointPathTests {
    private struct PathCall: Endpoint {
        static let service = Library.self
        @Unencoded var path: EndpointPath
    }

    @Test func anyValueStaysInOneSegment() {
        let value = "a/b?c#d%2F e中"
        let path: EndpointPath = "list/\(value)/photos"
        #expect(path.percentEncoded == "list/a%2Fb%3Fc%23d%252F%20e%E4%B8%AD/photos")
        #expect(("x/\(7)/\(true)/\(2.5)" as EndpointPath).percentEncoded == "x/7/true/2.5")
        #expect(("v\("1")-\("2")" as EndpointPath).percentEncoded == "v1-2")
    }

    @Test func literalPreservesSlashesAndEscapes() {
        #expect(("a/b%20c/上海 (1)/" as EndpointPath).percentEncoded == "a/b%20c/%E4%B8%8A%E6%B5%B7%20(1)/")
    }

    private static let pathsThatGoOn: [(EndpointPath, String)] = [
        ("echo?x=1", "parameters"), ("a/b#top", "fragment"), ("list/\(7)?page=2", "parameters"),
    ]

    @Test(arguments: pathsThatGoOn)
    func literalQueryOrFragmentIsRefused(path: EndpointPath, word: String) async throws {
        let layer = StubbedLayer()
        let error = try await layer.failure(of: PathCall(path: path))
        #expect(error.kind == .invalidParameters && error.step == .assembling && error.detail.contains(word))
        #expect(layer.transport.requests.isEmpty)
    }

    @Test(arguments: ["/list", "//list", "list"])
    func leadingSlashMeansNothing(_ text: String) async throws {
        let path = EndpointPath(stringLiteral: text)
        let request = try await StubbedLayer().request(of: PathCall(path: path))
        #expect(request.url == "https://library.test/v1/list")
    }

    @Test func emptyPathIsTheServicesRoot() async throws {
        let request = try await StubbedLayer().request(of: PathCall(path: ""))
        #expect(request.url == "https://library.test/v1/")
    }

    @Test func emptyValueIsRefusedWhereverItStands() async throws {
        let empty = ""
        for path: EndpointPath in ["list/\(empty)", "\(empty)/list", "a\(empty)b"] {
            let layer = StubbedLayer()
            let error = try await layer.failure(of: PathCall(path: path))
            #expect(error.kind == .invalidParameters)
            #expect(error.step == .assembling)
            #expect(error.detail == "A value in the path \"\(path.percentEncoded)\" is empty.")
            #expect(layer.transport.requests.isEmpty)
        }
    }

    @Test func segmentThatMeansAnotherDirectoryIsRefused() async throws {
        let up = ".."
        let here = "."
        let dot = "."
        for path: EndpointPath in [
            "a/\(up)/b", "\(up)", "a/\(here)", "../a", "a/.\(dot)/b", "%2E%2E/a", "a/%2e", "a/.%2E/",
        ] {
            let error = try await StubbedLayer().failure(of: PathCall(path: path))
            #expect(error.kind == .invalidParameters)
            #expect(error.detail.contains("refers to another directory"), "\(path)")
        }
    }

    @Test func dotsInsideASegmentAreNames() {
        let name = "..."
        for path: EndpointPath in ["a/\(name)", "a/..b/c", "v1.2/x.json", ".well-known/x"] {
            #expect(path.percentEncoded.contains("."))
        }
        #expect(("a/\(name)" as EndpointPath).percentEncoded == "a/...")
    }
}
