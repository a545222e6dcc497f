import Foundation
import HTTPTypes
import Runway
import RunwayJSON
import RunwayTesting
import RunwayTransport
import Testing

/// Whatever a call says arrives at httpbin as it was said, by every method and in every encoding.
@Suite(.enabled(if: IntegrationServers.areExpected), .timeLimit(.minutes(10)), .overEveryTransport)
struct EchoTests {
    /// What a text can hold that an encoding could spoil.
    static let texts = [
        "上海", "价格 ≤ 5000 元", "😀👨‍👩‍👧‍👦🏳️‍🌈", "a b+c&d=e;f", "%41 100%", "/?#[]@!$&'()*+,;=:", "\"quoted\" \\ back", "é e\u{301}",
        "line\nbreak\r\n\ttab", "\u{0}\u{1}\u{7F}", "<&>'", "", " ", "\u{FEFF}bom", String(repeating: "长", count: 100),
    ]

    /// A call that puts its parameters where its encoding type says.
    struct Echo<Method: TestMethod, Place: TestEncoding>: Endpoint {
        static var service: TestService.Type { TestService.self }
        static var method: HTTPRequest.Method { Method.method }
        static var encoding: ParameterEncoding { Place.encoding }
        var path: EndpointPath { "anything" }
        let parameters: Parameters
        func encode(to encoder: any Encoder) {}
    }

    protocol TestEncoding: Sendable { static var encoding: ParameterEncoding { get } }
    enum Query: TestEncoding { static let encoding = ParameterEncoding.query() }
    enum BracketQuery: TestEncoding {
        static let encoding = ParameterEncoding.query(
            QueryStyle(arrays: .brackets, writesDigits: true, writesNulls: true))
    }
    enum Form: TestEncoding { static let encoding = ParameterEncoding.form() }
    enum JSON: TestEncoding { static let encoding = ParameterEncoding.json() }

    private let servers = Result { try IntegrationServers() }
    private func layer() throws -> NetworkLayer { try servers.get().httpbinLayer() }

    /// Every text under a name of its own.
    private var textParameters: Parameters {
        Parameters(Self.texts.enumerated().map { .init("文 本[\($0.offset)]&", .string($0.element)) })
    }

    private func expectTexts(_ echoed: JSONValue, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(echoed.count == Self.texts.count, sourceLocation: sourceLocation)
        for (index, text) in Self.texts.enumerated() {
            #expect(
                echoed["文 本[\(index)]&"].string.map { Array($0.utf8) } == Array(text.utf8), "\(text.debugDescription)",
                sourceLocation: sourceLocation)
        }
    }

    private func echo<Method: TestMethod>(_ method: Method.Type) async throws {
        let name = Method.method.rawValue
        let query = try await layer().call(Echo<Method, Query>(parameters: textParameters))
        #expect(query["method"].string == name)
        expectTexts(query["args"])
        let form = try await layer().call(Echo<Method, Form>(parameters: textParameters))
        #expect(form["method"].string == name)
        expectTexts(form["form"])
        let json = try await layer().call(Echo<Method, JSON>(parameters: textParameters))
        #expect(json["method"].string == name)
        expectTexts(json["json"])
    }

    @Test(.except(.urlSession, "it sends no body with a GET"))
    func everyEncodingOfGetArrives() async throws { try await echo(GET.self) }
    @Test func everyEncodingOfPostArrives() async throws { try await echo(POST.self) }
    @Test func everyEncodingOfPutArrives() async throws { try await echo(PUT.self) }
    @Test func everyEncodingOfPatchArrives() async throws { try await echo(PATCH.self) }
    @Test func everyEncodingOfDeleteArrives() async throws { try await echo(DELETE.self) }

    @Test func rawBodiesArriveByteForByte() async throws {
        let body = (0..<70_000).map { UInt8(truncatingIfNeeded: $0 ^ ($0 >> 8)) }
        let raw = try await layer().call(Fetch<POST>("anything", .bytes(body)).query(["文": "本"]))
        let prefix = "data:application/octet-stream;base64,"
        let data = try #require(raw["data"].string)
        try #require(data.hasPrefix(prefix))
        #expect(Data(base64Encoded: String(data.dropFirst(prefix.count))) == Data(body))
        #expect(raw["args"]["文"].string == "本")
    }

    @Test(.except(.urlSession, "it reads a streamed body whole before it sends it"), arguments: [nil, 3 << 16])
    func streamedBodiesArriveByteForByte(byteCount: Int?) async throws {
        let part = String(repeating: "流", count: 1 << 16)
        let body = RequestBody.stream(BodyStream(Array(part.utf8)), byteCount: byteCount, isReplayable: true)
        let raw = try await layer().call(Fetch<POST>("anything", body, headers: ["Content-Type": "text/plain"]))
        #expect(raw["data"].string == part)
        #expect(raw["headers"]["Content-Length"].string == byteCount.map { "\($0)" })
    }

    @Test func headRespondsLikeGetWithoutABody() async throws {
        let raw = try await layer().call(Fetch<HEAD>("anything"))
        #expect(raw.bytes.isEmpty)
        #expect(raw.mediaType?.isJSON == true)
    }

    @Test func optionsSaysWhatIsAllowed() async throws {
        let raw = try await layer().call(Fetch<OPTIONS>("get"))
        #expect(raw.response.headerFields[.allow]?.contains("GET") == true)
    }

    @Test func valuesArriveInTheirStyles() async throws {
        let parameters: Parameters = [
            "tags": ["江", "南", "a,b"], "price": ["low": 1, "high": 2.5], "new": true, "none": nil, "empty": [],
        ]
        let plain = try await layer().call(Echo<GET, Query>(parameters: parameters))["args"]
        #expect(plain["tags"].elements.map(\.string) == ["江", "南", "a,b"])
        #expect(plain["price[low]"].string == "1" && plain["price[high]"].string == "2.5")
        #expect(plain["new"].string == "true")
        #expect(!plain["none"].exists && !plain["empty"].exists)
        let brackets = try await layer().call(Echo<GET, BracketQuery>(parameters: parameters))["args"]
        #expect(brackets["tags[]"].elements.map(\.string) == ["江", "南", "a,b"])
        #expect(brackets["new"].string == "1")
        #expect(brackets["none"].string?.isEmpty == true)
    }

    @Test func nestedJSONArrivesAsItIs() async throws {
        let parameters: Parameters = [
            "deep": [["a": [1, -2, 3.5, true, nil, "文"]], []], "object": ["": "empty name"],
            "large": 9_007_199_254_740_993,
        ]
        let raw = try await layer().call(Echo<POST, JSON>(parameters: parameters))
        let deep = raw["json"]["deep"]
        #expect(deep[0]["a"][1].int == -2 && deep[0]["a"][2].double == 3.5 && deep[0]["a"][3].bool == true)
        #expect(deep[0]["a"][4].isNull && deep[0]["a"][5].string == "文")
        #expect(deep[1].kind == .array && deep[1].count == 0)
        #expect(raw["json"]["object"][""].string == "empty name")
        #expect(raw["json"]["large"].int == 9_007_199_254_740_993)
        #expect(raw["headers"]["Content-Type"].string == "application/json")
    }

    @Test func pathParametersArriveAsOneSegment() async throws {
        let raw = try await layer().call(Fetch<GET>("anything/\("上海 a?b#c")/end"))
        #expect(raw["url"].string?.hasSuffix("/anything/上海%20a%3Fb%23c/end") == true)
    }

    @Test(.except(.urlSession, "libcurl names the codings"))
    func headerFieldsArriveAsSent() async throws {
        let raw = try await layer().call(Fetch<GET>("headers", headers: ["X-Own": "one, \"two\"; three=4"]))
        #expect(raw["headers"]["X-Own"].string == "one, \"two\"; three=4")
        #expect(raw["headers"]["User-Agent"].string == "runway")
        #expect(raw["headers"]["Accept-Encoding"].string == "gzip, deflate")
    }
}
