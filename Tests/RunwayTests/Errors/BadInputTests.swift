import HTTPTypes
import Runway
import RunwayJSON
import RunwayTesting
import Testing

/// Whatever comes in from outside ends in one error that names what and where, on one record; nothing traps.
struct BadInputTests {
    /// An endpoint that requires certain members in its response.
    private struct Shelf: Endpoint {
        static let service = Library.self
        static let maximumResponseByteCount = 1000
        var path: EndpointPath { "shelf" }
        var number: Double = 1
        func validate(response: RawData) throws { _ = try response["books"][0]["title"].require(String.self) }
    }

    private func expect(
        _ bytes: [UInt8], typed contentType: String = "application/json", telling details: String...,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let layer = StubbedLayer { _ in .bytes(bytes, contentType: contentType) }
        let error = try await layer.failure(of: Shelf())
        #expect(error.kind == .invalidResponse, sourceLocation: sourceLocation)
        #expect(error.step == .checking, sourceLocation: sourceLocation)
        #expect(error.request == "GET https://library.test/v1/shelf?number=1", sourceLocation: sourceLocation)
        for detail in details { #expect(error.detail.contains(detail), "\(error)", sourceLocation: sourceLocation) }
        #expect(try await layer.record().outcome.name == "failed", sourceLocation: sourceLocation)
    }

    @Test func responseThatIsNotJSON() async throws {
        try await expect(
            Array("<html>Bad Gateway</html>".utf8), telling: "not JSON", "line 1, column 1", "found '<'",
            "<html>Bad Gateway")
        try await expect([], telling: "not JSON", "found the end of the document")
        try await expect([0xFF, 0x00], telling: "byte 0")
    }

    @Test func truncatedResponse() async throws {
        try await expect(
            Array(#"{"books":[{"title":"Mo"#.utf8), telling: "not JSON", "found the end of the document",
            #"the body starts with: {"books":[{"title":"Mo"#)
    }

    @Test func responseInAWrongCharset() async throws {
        try await expect(
            Array(#"{"books":[{"title":""#.utf8) + [0xD6, 0xD0, 0x22, 0x7D, 0x5D, 0x7D],
            telling: "not well-formed UTF-8",
            "byte 20")
        try await expect(
            Array("{}".utf8) + [0xFF], typed: "application/json; charset=klingon", telling: "the body starts with: {}")
    }

    @Test func theFirstOfDuplicateKeysIsRead() async throws {
        let body = #"{"books":[{"title":"first","title":"second"}],"books":7}"#
        let rawData = try await StubbedLayer { _ in .json(body) }.network.call(Shelf())
        #expect(rawData["books"][0]["title"].string == "first")
    }

    @Test func responseNestedAThousandDeep() async throws {
        let deep = String(repeating: #"{"books":["#, count: 500) + String(repeating: "]}", count: 500)
        try await expect(Array(deep.utf8), telling: "exceeds the limits", "512")
    }

    @Test func responseOfAnotherShape() async throws {
        try await expect(
            Array(#"{"books":{"title":"Momo"}}"#.utf8), telling: "missing at books[0].title", "expected a string",
            "books is an object, not an array with [0]")
        try await expect(Array("null".utf8), telling: "books[0].title")
        try await expect(Array(#"{"books":[{"title":7}]}"#.utf8), telling: "books[0].title", "found a number, 7")
    }

    @Test func checkErrorShowsTheStartOfTheBody() async throws {
        struct Checked: Endpoint {
            static let service = Library.self
            var path: EndpointPath { "checked" }
            func validate(response: RawData) throws { throw Refused("No books.") }
        }
        let body = #"{"books":0,"token":"hunter2"}"#
        let checked = try await StubbedLayer { _ in .json(body) }.failure(of: Checked())
        #expect(checked.detail == #"Refused; the body starts with: {"books":0,"token":"[redacted]"}"#)
        let envelope = try await StubbedLayer { _ in .json("[1]") }.failure(of: PaintingList())
        #expect(envelope.kind == .invalidResponse)
        #expect(
            envelope.detail
                == #"The server responded with status 200 OK, but its envelope could not be read: "code" is missing; "#
                + "the body starts with: [1]")
        let empty = try await StubbedLayer { _ in .json("") }.failure(of: PaintingList())
        #expect(empty.detail.hasSuffix("the body is empty"))
    }

    @Test func responseThatATransportFindsTooLarge() async throws {
        let layer = StubbedLayer { request throws(NetworkError) in
            guard case .whole(let limit) = request.delivery else { return .json("{}") }
            throw NetworkError(.invalidResponse, in: .transporting, "The response is larger than \(limit) bytes.")
        }
        let error = try await layer.failure(of: Shelf())
        #expect(error.kind == .invalidResponse && error.detail == "The response is larger than 1000 bytes.")
    }

    @Test func parameterThatCanNotBeEncoded() async throws {
        let layer = StubbedLayer()
        let error = try await layer.failure(of: Shelf(number: .nan))
        #expect(error.kind == .invalidParameters)
        #expect(error.detail == "The parameter \"number\" is a number that is not finite.")
        #expect(try await layer.record().outcome.name == "failed")
    }

    @Test func unknownEnvironmentAndMalformedBaseURL() async throws {
        let layer = StubbedLayer()
        layer.network.configure(Library.self) { $0.environment = "moon" }
        #expect(try await layer.failure(of: Shelf()).detail.contains("\"moon\""))
        layer.network.configure(Library.self) { $0.baseURLs["moon"] = "moon.test/v1" }
        let error = try await layer.failure(of: Shelf())
        #expect(error.kind == .invalidConfiguration)
        #expect(
            error.detail == "The base URL \"moon.test/v1\" of the service \"library\" (moon) can't be read: "
                + "it must have the form https://host[:port][/path].")
        await layer.network.flushRecords()
        #expect(layer.records.records.map(\.outcome.name) == ["failed", "failed"])
    }

    @Test func illegalHeaderValue() async throws {
        let error = try await StubbedLayer().failure(of: QueryCall(fields: ["X-Note": "a\r\nb"]))
        #expect(error.kind == .invalidParameters)
        #expect(error.detail == "The value of the header field \"X-Note\" has a character that is not allowed in it.")
    }
}
