import HTTPTypes
import Runway
import RunwayJSON
import RunwayTesting
import Testing

struct RedirectingStageTests {
    /// A layer whose wire responds to a path that is in `targets` with a redirect, and to every other with 200.
    private func layer(_ targets: [String: String], status: HTTPResponse.Status = .found) -> StubbedLayer {
        StubbedLayer { request in
            guard let target = targets[request.url] else { return .json("{\"at\":\"\(request.url)\"}") }
            var head = HTTPResponse(status: status)
            head.headerFields[.location] = target
            return Response(head: head, body: .whole(RawData([], response: head)))
        }
    }

    private let start = "https://library.test/v1/query"

    @Test func followedRedirectsAreRecordedHopByHop() async throws {
        let layer = layer([start: "/a", "https://library.test/a": "https://b.test/c?d=e"])
        #expect(try await layer.network.call(QueryCall())["at"].string == "https://b.test/c?d=e")
        let record = try await layer.record()
        #expect(record.attempts.map(\.url) == [start, "https://library.test/a", "https://b.test/c?d=e"])
        #expect(record.attempts.map(\.status?.code) == [302, 302, 200])
        #expect(
            record.decisions(of: RedirectDecision.self) == [
                .followed(status: 302, hop: 1), .followed(status: 302, hop: 2),
            ])
        #expect(record.outcome.name == "succeeded")
    }

    @Test func theEleventhHopIsInvalid() async throws {
        func chain(_ count: Int) -> [String: String] {
            var targets = [start: "https://library.test/1"]
            for hop in 1..<count { targets["https://library.test/\(hop)"] = "/\(hop + 1)" }
            return targets
        }
        let ten = layer(chain(10))
        #expect(try await ten.network.call(QueryCall())["at"].string == "https://library.test/10")
        let eleven = layer(chain(11))
        let error = try await eleven.failure(of: QueryCall())
        #expect(error.kind == .invalidResponse)
        #expect(error.step == .redirecting)
        #expect(error.detail == "The server redirected more than 10 times.")
        #expect(error.status == .found)
        #expect(error.attempt == 11)
        #expect(eleven.transport.requests.count == 11)
    }

    @Test(arguments: ["", "#top", "query", "//library.test/v1/query", "https://LIBRARY.test:443/v1/query"])
    func redirectToTheSameRequestEndsAtOnce(_ location: String) async throws {
        let layer = layer([start: location])
        let error = try await layer.failure(of: QueryCall())
        #expect(error.kind == .refused && error.status == .found)
        #expect(layer.transport.requests.count == 1)
        #expect(try await layer.record().decisions(of: RedirectDecision.self) == [.alreadySent])
    }

    @Test func loopEndsBeforeItsFirstRepetition() async throws {
        let (a, b) = ("https://library.test/a", "https://library.test/b")
        let layer = layer([start: a, a: b, b: "/a#again"])
        #expect(try await layer.failure(of: QueryCall()).status == .found)
        #expect(layer.transport.requests.map(\.url) == [start, a, b])
    }

    @Test(arguments: [HTTPResponse.Status.temporaryRedirect, .permanentRedirect])
    func redirectNeverRepeatsAnUnsafeMethod(_ status: HTTPResponse.Status) async throws {
        let layer = layer(["https://library.test/v1/json": ""], status: status)
        let error = try await layer.failure(of: JSONCall(given: ["a": 1]))
        #expect(error.kind == .refused && error.status == status)
        #expect(layer.transport.requests.map(\.head.method) == [.post])
    }

    @Test func postThatBecomesGetIsAnotherRequest() async throws {
        let target = "https://library.test/v1/json"
        let layer = StubbedLayer { request in
            if request.head.method == .get { return .json(#"{"done":true}"#) }
            var head = HTTPResponse(status: .seeOther)
            head.headerFields[.location] = ""
            return Response(head: head, body: .whole(RawData([], response: head)))
        }
        #expect(try await layer.network.call(JSONCall(given: ["a": 1]))["done"].bool == true)
        #expect(layer.transport.requests.map(\.url) == [target, target])
    }

    @Test func newCookieMakesARepetitionANewRequest() async throws {
        for (setting, count) in [("a=1", 2), ("a=1; Path=/other", 1), ("a=1; Domain=other.test", 1)] {
            let layer = StubbedLayer { request in
                if request.head.headerFields[.cookie] == "a=1" { return .json("{}") }
                var head = HTTPResponse(status: .temporaryRedirect)
                head.headerFields[.location] = ""
                head.headerFields[.setCookie] = setting
                return Response(head: head, body: .whole(RawData([], response: head)))
            }
            layer.network.configure(QueryCall.service) { $0.cookies = .jar() }
            let isDone = (try? await layer.network.call(QueryCall())) != nil
            #expect(isDone == (count == 2) && layer.transport.requests.count == count, "\(setting)")
        }
    }

    @Test(arguments: ["http://library.test/x", "https://user:hunter2@b.test/", "ftp://b.test/", "https://[::1"])
    func forbiddenRedirectIsRefusedAndNotShown(_ location: String) async throws {
        let layer = layer([start: location])
        let error = try await layer.failure(of: QueryCall())
        #expect(error.kind == .refused)
        #expect(error.status == .found)
        #expect(error.detail == "The server responded with status 302 Found, a redirect that could not be followed.")
        #expect(layer.transport.requests.count == 1)
        let record = try await layer.record()
        #expect(record.decisions(of: RedirectDecision.self) == [.notFollowed])
        #expect(!"\(error) \(record) \(record.attempts)".contains("hunter2"))
    }

    @Test func locationsThatDifferAreNotJoined() async throws {
        for (locations, isFollowed) in [(["/a", "/b"], false), (["/a", "/a"], true), (["/a", "/b", "/a"], false)] {
            let layer = StubbedLayer { request in
                guard request.url == "https://library.test/v1/query" else { return .json("{}") }
                var head = HTTPResponse(status: .found)
                for location in locations { head.headerFields.append(HTTPField(name: .location, value: location)) }
                return Response(head: head, body: .whole(RawData([], response: head)))
            }
            if isFollowed {
                _ = try await layer.network.call(QueryCall())
                #expect(layer.transport.requests.last?.url == "https://library.test/a")
            } else {
                let error = try await layer.failure(of: QueryCall())
                #expect(error.kind == .invalidResponse && error.status == .found)
                #expect(error.detail == "The response has several Location fields that differ.")
                #expect(layer.transport.requests.count == 1)
            }
        }
    }

    @Test func redirectWithoutALocationIsRefused() async throws {
        let layer = StubbedLayer { _ in .json("{}", status: .movedPermanently) }
        let error = try await layer.failure(of: QueryCall())
        #expect(error.kind == .refused && error.status == .movedPermanently)
    }

    @Test func seeOtherTurnsPostIntoGet() async throws {
        let layer = layer(["https://library.test/v1/json": "/done"], status: .seeOther)
        _ = try await layer.network.call(JSONCall(given: ["a": 1]))
        let hops = layer.transport.requests
        #expect(hops.map(\.head.method) == [.post, .get])
        #expect(hops.map(\.body.byteCount) == [7, 0])
        #expect(hops.last?.head.headerFields[.contentType] == nil)
    }

    @Test func statusThatTheServiceAcceptsIsNotFollowed() async throws {
        let targets = ["https://museum.test/api/paintings?app=guide&lang=zh&room=7": "/elsewhere"]
        let layer = layer(targets, status: HTTPResponse.Status(code: 300))
        let error = try await layer.failure(of: PaintingList())
        #expect(error.kind == .refused)
        #expect(layer.transport.requests.count == 1)
    }
}
