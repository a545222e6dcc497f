import Foundation
import HTTPTypes
import RunwayTesting
import Testing

@testable import Runway

struct AssemblyTests {
    @Test func queryStandsInTheTargetWithoutABody() async throws {
        let request = try await StubbedLayer().request(of: BookSearch(title: "Die unendliche Geschichte", page: 2))
        #expect(request.url == "https://library.test/v1/books?page=2&title=Die%20unendliche%20Geschichte")
        #expect(request.head.method == .get)
        #expect(request.body.byteCount == 0)
        #expect(request.head.headerFields.isEmpty)
        #expect(request.delivery == .whole(maximumByteCount: 16 << 20))
    }

    @Test func noParametersMakeNoQuestionMark() async throws {
        #expect(try await StubbedLayer().request(of: QueryCall()).url == "https://library.test/v1/query")
    }

    @Test func formStandsInTheBodyBySameRules() async throws {
        let request = try await StubbedLayer().request(of: FormCall(given: ["b": "x y", "a": ["1", "+"]]))
        #expect(request.url == "https://library.test/v1/form")
        #expect(request.head.headerFields[.contentType] == "application/x-www-form-urlencoded")
        #expect(request.body.text == "a=1&a=%2B&b=x%20y")
    }

    @Test func codePointsSortJSONAtEveryDepth() async throws {
        let request = try await StubbedLayer().request(
            of: JSONCall(given: [
                "b": ["z": 1, "a": [true, nil, 1.5, "\"\n中"]], "a": .bytes([0, 255]), "B": .unsigned(.max), "é": -1,
                "d": .date(Date(timeIntervalSince1970: 0)),
                "n": .decimal(Decimal(string: "12345678901234567890.10") ?? 0),
                "e": [:], "l": [],
            ]))
        #expect(request.head.headerFields[.contentType] == "application/json")
        #expect(
            request.body.text == #"{"B":18446744073709551615,"a":"AP8=","b":{"a":[true,null,1.5,"\"\n中"],"z":1},"#
                + #""d":"1970-01-01T00:00:00Z","e":{},"l":[],"n":12345678901234567890.1,"é":-1}"#)
    }

    @Test func jsonWritesDatesInItsStyle() async throws {
        struct Seconds: Endpoint {
            static let service = Library.self
            static let encoding = ParameterEncoding.json(dates: .secondsSince1970)
            var path: EndpointPath { "s" }
            var at = Date(timeIntervalSince1970: 1.5)
        }
        struct Milliseconds: Endpoint {
            static let service = Library.self
            static let encoding = ParameterEncoding.json(dates: .millisecondsSince1970)
            var path: EndpointPath { "m" }
            var at = Date(timeIntervalSince1970: 1_772_353_800.25)
        }
        let layer = StubbedLayer()
        #expect(try await layer.request(of: Seconds()).body.text == #"{"at":1.5}"#)
        #expect(try await layer.request(of: Milliseconds()).body.text == #"{"at":1772353800250}"#)
    }

    @Test func rawBodiesLeaveParametersToTheQuery() async throws {
        let request = try await StubbedLayer().request(of: RawCall(given: ["n": "a b"], bytes: .bytes([0, 255, 10])))
        #expect(request.url == "https://library.test/v1/raw?n=a%20b")
        #expect(request.head.method == .put)
        #expect(request.head.headerFields[.contentType] == "image/png")
        guard case .bytes([0, 255, 10]) = request.body else { throw WrongBody() }
    }

    @Test func streamedBodyReachesTheTransportUnread() async throws {
        let body = RequestBody.stream(BodyStream([1, 2]), byteCount: 2, isReplayable: false)
        let request = try await StubbedLayer().request(of: RawCall(bytes: body))
        guard case .stream(let stream, 2, false) = request.body else { throw WrongBody() }
        #expect(try await stream.collect(upTo: 2) == [1, 2])
    }

    @Test func methodDecidesTheDefaultPlaceOfParameters() {
        struct Deleted: Endpoint {
            static let service = Library.self
            static let method = HTTPRequest.Method.delete
            var path: EndpointPath { "d" }
        }
        struct Patched: Endpoint {
            static let service = Library.self
            static let method = HTTPRequest.Method.patch
            var path: EndpointPath { "p" }
        }
        #expect(BookSearch.encoding == .query())
        #expect(Deleted.encoding == .query())
        #expect(Patched.encoding == .json())
    }

    @Test func endpointParametersAndHeadersWinOverCommonOnes() async throws {
        struct English: Endpoint {
            static let service = Museum.self
            static let method = HTTPRequest.Method.post
            var path: EndpointPath { "e" }
            var lang = "en"
            var headers: [String: String] { ["accept-language": "en"] }
        }
        let layer = StubbedLayer { _ in .json(#"{"code":0}"#) }
        let common = try await layer.request(of: PaintingList())
        #expect(common.url == "https://museum.test/api/paintings?app=guide&lang=zh&room=7")
        #expect(common.head.headerFields[.acceptLanguage] == "zh")
        #expect(common.head.headerFields[try #require(HTTPField.Name("X-App"))] == "guide")
        let own = try await layer.request(of: English())
        #expect(own.body.text == #"{"app":"guide","lang":"en"}"#)
        #expect(own.head.headerFields[values: .acceptLanguage] == ["en"])
    }

    @Test func endpointsContentTypeWinsOverTheEncodings() async throws {
        let call = JSONCall(fields: ["content-type": "application/vnd.api+json"])
        let request = try await StubbedLayer().request(of: call)
        #expect(request.head.headerFields[values: .contentType] == ["application/vnd.api+json"])
    }

    @Test(arguments: ["", "a b", "a:b", ":path", "名", "a\r\nb", "a\u{0}"])
    func illegalHeaderNameIsRefusedByName(_ name: String) async throws {
        let error = try await StubbedLayer().failure(of: QueryCall(fields: [name: "hunter2"]))
        #expect(error.kind == .invalidParameters)
        #expect(error.step == .assembling)
        #expect(error.detail == "\"\(name.oneLine)\" is not the name of a header field.")
    }

    @Test(arguments: ["hunter2\r\nX-Evil: 1", "hunter2\n", "hunter2\u{0}", "\rhunter2"])
    func illegalHeaderValueIsRefusedAndNotShown(_ value: String) async throws {
        let layer = StubbedLayer()
        let error = try await layer.failure(of: QueryCall(fields: ["Authorization": value]))
        #expect(error.kind == .invalidParameters)
        #expect(error.detail.contains("\"Authorization\""))
        #expect(!"\(error) \(String(describing: error.underlying))".contains("hunter2"))
        #expect(layer.transport.requests.isEmpty)
    }

    @Test func illegalCommonHeaderAndContentTypeAreRefused() async throws {
        struct BadType: Endpoint {
            static let service = Library.self
            static let encoding = ParameterEncoding.raw(contentType: "text/plain\r\nX-Evil: 1")
            var path: EndpointPath { "t" }
        }
        let layer = StubbedLayer()
        let type = try await layer.failure(of: BadType())
        #expect(type.kind == .invalidParameters && type.detail.contains("\"Content-Type\""))
        layer.network.configure(Library.self) { $0.commonHeaders = ["X-Common": "a\nb"] }
        let common = try await layer.failure(of: BookSearch())
        #expect(common.kind == .invalidParameters && common.detail.contains("\"X-Common\""))
        #expect(layer.transport.requests.isEmpty)
    }

    private struct WrongBody: Error {}
}
