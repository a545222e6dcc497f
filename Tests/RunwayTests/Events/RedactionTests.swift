import Foundation
import HTTPTypes
import RunwayJSON
import RunwayTesting
import Testing

@testable import Runway

struct RedactionTests {
    private let secretive: Parameters = [
        "city": "上海", "password": "hunter2", "user": ["access_token": "hunter2", "name": "x"],
        "list": [["Api-Key": "hunter2"], 7], "login[pin]": "hunter2", "a.token": "hunter2",
    ]

    @Test func sinksSeeNoSecretHeaderFields() async throws {
        let layer = StubbedLayer { _ in
            var head = HTTPResponse(status: .ok)
            head.headerFields = [.setCookie: "session=hunter2", .contentType: "application/json"]
            return Response(head: head, body: .whole(RawData(Array("{}".utf8), response: head)))
        }
        let fields = [
            "Authorization": "Bearer hunter2", "cookie": "hunter2", "X-API-Key": "hunter2", "Signature": "hunter2",
            "Accept": "text/html",
        ]
        _ = try await layer.network.call(QueryCall(fields: fields))
        #expect(layer.transport.requests.first?.head.headerFields[.authorization] == "Bearer hunter2")
        let attempt = try #require(try await layer.record().attempts.first)
        #expect(attempt.headerFields[.authorization] == "[redacted]")
        #expect(attempt.headerFields[.cookie] == "[redacted]")
        #expect(attempt.headerFields[.accept] == "text/html")
        #expect(attempt.headerFields.count == 5)
        #expect(attempt.responseHeaderFields?[.setCookie] == "[redacted]")
        #expect(attempt.responseHeaderFields?[.contentType] == "application/json")
        #expect(!"\(attempt)\(attempt.curlCommand)".contains("hunter2"))
    }

    @Test func secretParametersAreReplacedAtEveryDepth() async throws {
        let layer = StubbedLayer()
        _ = try await layer.network.call(QueryCall(given: secretive))
        let sent = try #require(layer.transport.requests.first)
        #expect(sent.url.contains("hunter2"))
        let record = try await layer.record()
        #expect(
            record.parameters == [
                "city": "上海", "password": "[redacted]", "user": ["access_token": "[redacted]", "name": "x"],
                "list": [["Api-Key": "[redacted]"], 7], "login[pin]": "[redacted]", "a.token": "[redacted]",
            ])
        #expect(
            record.attempts.first?.url
                == "https://library.test/v1/query?a.token=[redacted]&city=%E4%B8%8A%E6%B5%B7&list=7"
                + "&list[Api-Key]=[redacted]&login%5Bpin%5D=[redacted]&password=[redacted]"
                + "&user[access_token]=[redacted]&user[name]=x")
        #expect(!"\(record)".contains("hunter2"))
    }

    @Test(arguments: [
        ("https://h.test/a", "https://h.test/a"),
        ("https://h.test/a?", "https://h.test/a?"),
        ("https://h.test/a?x&token&y=", "https://h.test/a?x&token&y="),
        ("https://h.test/?to%6ben=hunter2", "https://h.test/?to%6ben=[redacted]"),
        ("https://h.test/?%zz=1&token=hunter2", "https://h.test/?%zz=1&token=[redacted]"),
        ("https://h.test/?token=hunter2=hunter2", "https://h.test/?token=[redacted]"),
        ("https://h.test/?a=1#access_token=hunter2&b=2", "https://h.test/?a=1#access_token=[redacted]&b=2"),
        ("https://h.test/#token=hunter2", "https://h.test/#token=[redacted]"),
        ("https://me:hunter2@h.test/@x?a=b@c", "https://[redacted]@h.test/@x?a=b@c"),
        ("//me:hunter2@h.test", "//[redacted]@h.test"),
        ("/next?sign=hunter2", "/next?sign=[redacted]"),
        // A mark that combines with the sign before it hides nothing.
        ("https://h.test/?password=\u{301}hunter2&a=1", "https://h.test/?password=[redacted]&a=1"),
        ("https://me:hunter2@\u{301}h.test", "https://[redacted]@\u{301}h.test"),
    ])
    func urlsAreUnchangedExceptSecrets(_ url: String, _ expected: String) {
        #expect(Redaction.default.redacted(url: url) == expected)
    }

    @Test func urlsInHeaderFieldsAreLookedThroughToo() async throws {
        let layer = StubbedLayer { request in
            if request.head.path?.hasPrefix("/next") == true { return .json("{}") }
            var head = HTTPResponse(status: .found)
            head.headerFields[.location] = "/next?token=hunter2"
            return Response(head: head, body: .whole(RawData([], response: head)))
        }
        _ = try await layer.network.call(QueryCall(fields: ["Referer": "https://me:hunter2@h.test/?pin=hunter2"]))
        let record = try await layer.record()
        #expect(record.attempts.first?.responseHeaderFields?[.location] == "/next?token=[redacted]")
        #expect(record.attempts.last?.url == "https://library.test/next?token=[redacted]")
        #expect(record.attempts.first?.headerFields[.referer] == "https://[redacted]@h.test/?pin=[redacted]")
    }

    @Test(arguments: [
        "Private-Token", "X-Vault-Token", "X-Session-Id", "Set-Cookie2", "X-Amz-Security-Token", "X-Goog-Api-Key",
        "X-Hub-Signature-256", "X-Client-Secret", "Signature-Input", "X-My-Session-Data", "DPoP", "X-Auth-Key",
    ])
    func unlistedFieldsAreSecretByTheirWords(_ name: String) throws {
        let fields: HTTPFields = [try #require(HTTPField.Name(name)): "hunter2"]
        #expect(Redaction.default.redacted(fields).map(\.value) == ["[redacted]"])
        #expect(Redaction(headerFields: []).redacted(fields).map(\.value) == ["[redacted]"])
        #expect(Redaction.none.redacted(fields) == fields)
    }

    @Test(arguments: [
        "Accept", "ETag", "Idempotency-Key", "Sec-WebSocket-Key", "Content-Security-Policy", "Surrogate-Key", "Design",
        "Access-Control-Allow-Credentials", "X-Next-Page-Token", "X-Country-Code", "Keep-Alive", "WWW-Authenticate",
    ])
    func fieldsWithoutASecretAreShown(_ name: String) throws {
        let fields: HTTPFields = [try #require(HTTPField.Name(name)): "plain"]
        #expect(Redaction.default.redacted(fields) == fields)
    }

    @Test(arguments: ["X-AuthToken", "X-AccessToken", "X-SessionID", "X-SecretKey"])
    func capitalLettersDivideTheNamesOfFields(_ name: String) throws {
        let fields: HTTPFields = [try #require(HTTPField.Name(name)): "hunter2"]
        #expect(Redaction.default.redacted(fields).map(\.value) == ["[redacted]"])
    }

    @Test(arguments: [
        ("https://a.test/?to=https://b.test/cb?access_token=hunter2&x=1", "https://a.test/?to=[redacted]&x=1"),
        ("https://a.test/?to=https%3A%2F%2Fb.test%2Fcb%3Faccess_token%3Dhunter2", "https://a.test/?to=[redacted]"),
        ("https://a.test/?to=%2F%3Fto%3D%252F%253Fsig%253Dhunter2", "https://a.test/?to=[redacted]"),
        ("https://a.test/?to=https%3A%2F%2Fann%3Ahunter2%40b.test%2F", "https://a.test/?to=[redacted]"),
        ("https://a.test/?mail=ann%40b.test&q=why%3F", "https://a.test/?mail=ann%40b.test&q=why%3F"),
    ])
    func urlsWithinURLsLoseTheirSecrets(_ url: String, _ shown: String) {
        #expect(Redaction.default.redacted(url: url) == shown)
    }

    @Test(arguments: [
        (
            "Link", #"<https://h.test/?page=2&token=hunter2>; rel="next", </?sig=hunter2>; rel=last"#,
            #"<https://h.test/?page=2&token=[redacted]>; rel="next", </?sig=[redacted]>; rel=last"#
        ),
        ("Refresh", "5; url=https://h.test/?code=hunter2", "5; url=https://h.test/?code=[redacted]"),
        ("Location", "/cb#SAMLResponse=hunter2&state=1", "/cb#SAMLResponse=[redacted]&state=1"),
        (
            "X-Original-URL", "//me:hunter2@h.test/?X-Amz-Credential=hunter2",
            "//[redacted]@h.test/?X-Amz-Credential=[redacted]"
        ),
        ("Link", "</a?page=2>; rel=next", "</a?page=2>; rel=next"), ("From", "me@h.test", "me@h.test"),
    ])
    func urlsInsideAnyFieldLoseTheirSecrets(_ name: String, _ value: String, _ shown: String) throws {
        let fields: HTTPFields = [try #require(HTTPField.Name(name)): value]
        #expect(Redaction.default.redacted(fields).map(\.value) == [shown])
    }

    @Test func codeIsSecretInRequestsOnly() async throws {
        let layer = StubbedLayer(redaction: Redaction(recordsBodies: true)) { _ in .json(#"{"code":7}"#) }
        _ = try await layer.network.call(FormCall(given: ["code": "hunter2", "country_code": "CN"]))
        let record = try await layer.record()
        let attempt = try #require(record.attempts.first)
        #expect(record.parameters == ["code": "[redacted]", "country_code": "CN"])
        #expect(attempt.requestBody.map { String(decoding: $0, as: UTF8.self) } == "code=[redacted]&country_code=CN")
        #expect(attempt.responseBody.map { String(decoding: $0, as: UTF8.self) } == #"{"code":7}"#)
    }

    @Test func bodiesAreNotRecordedByDefault() async throws {
        let layer = StubbedLayer()
        _ = try await layer.network.call(JSONCall(given: ["a": 1]))
        let attempt = try #require(try await layer.record().attempts.first)
        #expect(attempt.requestBody == nil && attempt.responseBody == nil)
        #expect(attempt.requestByteCount == 7 && attempt.responseByteCount == 2)
    }

    private func recordedBody(_ body: String, _ contentType: String?) async throws -> String {
        let layer = StubbedLayer(redaction: Redaction(recordsBodies: true)) { _ in
            .bytes(Array(body.utf8), contentType: contentType)
        }
        _ = try await layer.network.call(QueryCall())
        let recorded = try #require(try await layer.record().attempts.first?.responseBody)
        return String(decoding: recorded, as: UTF8.self)
    }

    @Test func recordedBodiesHaveTheirSecretsReplaced() async throws {
        let secretive = secretive.entries.filter { !$0.name.contains { "[.".contains($0) } }
        let layer = StubbedLayer(redaction: Redaction(recordsBodies: true)) { _ in
            .json(#"{"session_id":"hunter2","rows":[{"token":{"deep":"hunter2"},"n":1.50}]}"#)
        }
        _ = try await layer.network.call(JSONCall(given: Parameters(secretive)))
        _ = try await layer.network.call(FormCall(given: self.secretive))
        await layer.network.flushRecords()
        let attempts = layer.records.records.compactMap(\.attempts.first)
        for attempt in attempts {
            for body in [attempt.requestBody, attempt.responseBody] {
                let text = String(decoding: try #require(body), as: UTF8.self)
                #expect(!text.contains("hunter2") && text.contains("[redacted]"))
            }
        }
        let request = try JSONDocument(try #require(attempts.first?.requestBody)).root
        #expect(request["city"].string == "上海" && request["password"].string == "[redacted]")
        #expect(request["list"][1].int == 7)
        let response = try JSONDocument(try #require(attempts.first?.responseBody)).root
        #expect(response["rows"][0]["n"].decimal == 1.5 && response["rows"][0]["token"].string == "[redacted]")
    }

    @Test func jsonBodyIsFoundUnderAnyMediaType() async throws {
        for type in ["text/plain", "text/html", nil] {
            #expect(!(try await recordedBody(#"{"token":"hunter2"}"#, type)).contains("hunter2"))
        }
    }

    @Test func formSecretsAreReplacedWhateverFollowsTheirSigns() async throws {
        let text = try await recordedBody("password=\u{301}hunter2&\u{301}a=1", "application/x-www-form-urlencoded")
        #expect(text == "password=[redacted]&\u{301}a=1")
    }

    @Test func truncatedJSONBodyHasItsSecretsReplaced() async throws {
        let text = try await recordedBody(#"{"a":1,"token":"hunter2","b":["x"#, "application/json")
        #expect(text.hasPrefix(#"{"a":1,"token":"[redacted]","b":["x"#))
        #expect(!(try await recordedBody(#"{"token":"hunter2"#, "application/json")).contains("hunter2"))
    }

    @Test func bodyOfAnotherTypeIsUnchanged() async throws {
        #expect(try await recordedBody("a=1&token=x\n", "text/csv") == "a=1&token=x\n")
        #expect(try await recordedBody("a=1&token=x", "application/x-www-form-urlencoded") == "a=1&token=[redacted]")
    }

    @Test func noneRedactsNothing() async throws {
        let layer = StubbedLayer(redaction: .none) { _ in .json(#"{ "token" : "hunter2" }"#) }
        _ = try await layer.network.call(QueryCall(given: ["token": "hunter2"], fields: ["Authorization": "hunter2"]))
        let record = try await layer.record()
        let attempt = try #require(record.attempts.first)
        #expect(record.parameters == ["token": "hunter2"])
        #expect(attempt.url.hasSuffix("?token=hunter2"))
        #expect(attempt.headerFields[.authorization] == "hunter2")
        #expect(attempt.responseBody == Array(#"{ "token" : "hunter2" }"#.utf8))
    }

    @Test func namesOfAnAppAreAddedToDefaults() async throws {
        let names = JSONRedaction.default.adding(["blood_type"])
        let layer = StubbedLayer(redaction: Redaction(names: names))
        _ = try await layer.network.call(QueryCall(given: ["bloodType": "AB", "token": "hunter2"]))
        #expect(try await layer.record().parameters == ["bloodType": "[redacted]", "token": "[redacted]"])
    }

    @Test func changedRedactionReadsFieldNamesAnew() throws {
        let fields: HTTPFields = [try #require(HTTPField.Name("X-Tenant")): "acme"]
        var redaction = Redaction.default
        #expect(redaction.redacted(fields) == fields)
        redaction.names = redaction.names.adding(["x_tenant"])
        #expect(redaction.redacted(fields) != fields)
        #expect(Redaction.default.redacted(fields) == fields)
        redaction = .default
        redaction.headerFields = Set(fields.map(\.name))
        #expect(redaction.redacted(fields) != fields)
        #expect(redaction != .default)
    }

    @Test func fieldNamesAreReadAsTheyAreWritten() throws {
        // Capital letters divide the words of a name; to HTTP both names are equal.
        let words: HTTPFields = [try #require(HTTPField.Name("X-MySsn")): "hunter2"]
        let joined: HTTPFields = [try #require(HTTPField.Name("x-myssn")): "plain"]
        for _ in 0..<2 {
            #expect(Redaction.default.redacted(words) != words)
            #expect(Redaction.default.redacted(joined) == joined)
        }
    }

    @Test func manyFieldNamesAreReadRightly() throws {
        for number in 0..<1000 {
            let secret: HTTPFields = [try #require(HTTPField.Name("x-\(number)-token")): "hunter2"]
            let plain: HTTPFields = [try #require(HTTPField.Name("x-\(number)-size")): "2"]
            #expect(Redaction.default.redacted(secret) != secret)
            #expect(Redaction.default.redacted(plain) == plain)
        }
    }

    @Test func customSecretNamesAreMaskedInErrors() async throws {
        let response: @Sendable (Request) -> Response = { _ in .json(#"{"bloodType":"hunter2","price":"x"}"#) }
        let shown = StubbedLayer(response: response)
        #expect(try await shown.failure(of: PricedCall()).detail.contains("hunter2"))
        let masked = StubbedLayer(
            redaction: Redaction(names: .default.adding(["blood_type"])), response: response)
        let error = try await masked.failure(of: PricedCall())
        #expect(!error.detail.contains("hunter2"))
        #expect(error.detail.contains("price"))
        #expect(!"\(try await masked.record())".contains("hunter2"))
    }

    private struct PricedCall: Endpoint {
        static let service = QueryCall.service
        var path: EndpointPath { "price" }
        func validate(response rawData: RawData) throws { _ = try rawData["price"].require(Int.self) }
    }

    @Test func errorsCarryNoSecrets() async throws {
        let layer = StubbedLayer { _ in .json(#"{"code":"x","token":"hunter2"}"#, status: .ok) }
        let error = try await layer.failure(of: PaintingList(fields: ["Authorization": "hunter2"]))
        #expect(!"\(error) \(String(reflecting: error))".contains("hunter2"))
        let refused = StubbedLayer { _ in .json("{}", status: .forbidden) }
        let refusal = try await refused.failure(of: QueryCall(given: ["token": "hunter2"]))
        #expect(refusal.request == "GET https://library.test/v1/query?token=[redacted]")
        #expect(!String(reflecting: refusal).contains("hunter2"))
    }
}
