import Foundation
import HTTPTypes
import Runway
import RunwayJSON
import RunwayTesting
import RunwayTransport
import Testing

/// Against httpbin: responses, statuses, redirects, compressions, delays and streams.
@Suite(.enabled(if: IntegrationServers.areExpected), .timeLimit(.minutes(10)), .overEveryTransport)
struct HTTPBinTests {
    private let servers = Result { try IntegrationServers() }
    private func layer() throws -> NetworkLayer { try servers.get().httpbinLayer() }

    // MARK: Statuses

    @Test(arguments: [200, 201, 202, 203, 204, 206, 226])
    func statusesThatAreFineSucceed(code: Int) async throws {
        let raw = try await layer().call(Fetch<GET>("status/\(code)"))
        #expect(raw.response.status.code == code)
    }

    @Test func notModifiedIsFineForAConditionalRequest() async throws {
        let conditional = Fetch<GET>("status/304", headers: ["If-None-Match": "\"a\""])
        #expect(try await layer().call(conditional).response.status == .notModified)
        #expect(try await layer().failure(of: Fetch<GET>("status/304")).kind == .invalidResponse)
    }

    @Test(arguments: [
        (401, NetworkError.Kind.needsAccessToken), (429, .overloaded), (503, .overloaded), (400, .refused),
        (402, .refused), (403, .refused), (404, .refused), (405, .refused), (406, .refused), (409, .refused),
        (410, .refused), (418, .refused), (422, .refused), (451, .refused), (500, .refused), (501, .refused),
        (502, .refused), (504, .refused), (300, .refused), (305, .refused),
    ])
    func otherStatusesAreErrorsThatNameThem(code: Int, kind: NetworkError.Kind) async throws {
        for _ in 0..<2 {
            let error = try await layer().failure(of: Fetch<GET>("status/\(code)"))
            #expect(error.kind == kind)
            #expect(error.status?.code == code)
            #expect(error.detail.contains("\(code)"))
        }
    }

    // MARK: Redirects

    @Test(arguments: ["redirect", "absolute-redirect", "relative-redirect"])
    func chainsOfRedirectsAreFollowed(kind: String) async throws {
        let records = RecordCollector()
        let raw = try await servers.get().httpbinLayer(sinks: [records]).call(Fetch<GET>("\(kind)/5"))
        #expect(raw["url"].string?.hasSuffix("/get") == true)
        let record = try #require(try await records.records(count: 1).first)
        #expect(record.attempts.map { $0.status?.code } == [302, 302, 302, 302, 302, 200])
        #expect(record.decisions(of: RedirectDecision.self).count == 5)
    }

    @Test func tenRedirectsAreFollowedAndElevenAreNot() async throws {
        _ = try await layer().call(Fetch<GET>("redirect/10"))
        let error = try await layer().failure(of: Fetch<GET>("redirect/11"))
        #expect(error.kind == .invalidResponse)
        #expect(error.detail == "The server redirected more than 10 times.")
    }

    @Test(arguments: [(301, "GET"), (302, "GET"), (303, "GET"), (307, "POST"), (308, "POST")])
    func theStatusDecidesWhatBecomesOfAPost(code: Int, method: String) async throws {
        let parameters: Parameters = ["url": "/anything", "status_code": .integer(Int64(code))]
        let call = Fetch<POST>("redirect-to", .bytes(Array("stored?".utf8)), headers: ["Content-Type": "text/plain"])
        let raw = try await layer().call(call.query(parameters))
        #expect(raw["method"].string == method)
        #expect(raw["data"].string == (method == "POST" ? "stored?" : ""))
    }

    @Test func anotherOriginIsSentNoAuthorization() async throws {
        let base = try servers.get().httpbin
        let elsewhere = base.replacing("127.0.0.1", with: "localhost")
        let credentials = ["Authorization": "Bearer 1", "Cookie": "a=1"]
        func headers(after target: String) async throws -> JSONValue {
            try await layer().call(
                Fetch<GET>("redirect-to", headers: credentials).query(["url": .string(target)]))["headers"]
        }
        let home = try await headers(after: base + "/anything")
        #expect(home["Authorization"].string == "Bearer 1" && home["Cookie"].string == "a=1")
        let away = try await headers(after: elsewhere + "/anything")
        #expect(away["Host"].string?.hasPrefix("localhost") == true)
        #expect(!away["Authorization"].exists && !away["Cookie"].exists)
    }

    // MARK: Compressions

    @Test func compressionsAreUndone() async throws {
        #expect(try await layer().call(Fetch<GET>("gzip"))["gzipped"].bool == true)
        #expect(try await layer().call(Fetch<GET>("deflate"))["deflated"].bool == true)
    }

    @Test(.except(.urlSession, "libcurl refuses codings that it does not know"))
    func unrequestedCodingIsAnInvalidResponse() async throws {
        let error = try await layer().failure(of: Fetch<GET>("brotli"))
        #expect(error.kind == .invalidResponse && error.detail.contains("\"br\""))
        let raw = try #require(error.rawData)
        #expect(raw.response.headerFields[.contentEncoding] == "br")
        #expect(raw.json.invalidDocumentError != nil)
    }

    // MARK: Delays

    @Test func aDelayWithinTheDeadlineIsWaitedFor() async throws {
        #expect(try await layer().call(Fetch<GET>("delay/1"))["url"].string?.hasSuffix("/delay/1") == true)
    }

    @Test(arguments: ["delay/5", "drip"])
    func delayPastTheDeadlineFailsAtTheDeadline(path: String) async throws {
        let network = try layer()
        network.configure(TestService.self) { $0.deadline = .milliseconds(300) }
        let parameters: Parameters = path == "drip" ? ["numbytes": 5, "duration": 5, "delay": 0] : [:]
        try await untilUndisturbed {
            let start = ContinuousClock.now
            do throws(NetworkError) {
                _ = try await network.call(Fetch<GET>(EndpointPath(stringLiteral: path)).query(parameters))
                // Both are due on a machine that stood still for as long as the response takes.
                #expect(start.duration(to: .now) >= .seconds(4))
                return false
            } catch {
                #expect(error.kind == .timedOut)
                #expect(start.duration(to: .now) >= .milliseconds(300))
                return true
            }
        }
    }

    // MARK: Streams

    @Test func aDripIsReadAsAStream() async throws {
        try await untilUndisturbed {
            let response = try await layer().stream(
                Fetch<GET>("drip").query(["numbytes": 10, "duration": 1, "delay": 0]))
            var parts = 0
            var bytes: [UInt8] = []
            for try await part in response.body {
                parts += 1
                bytes += part
            }
            #expect(bytes == Array(repeating: UInt8(ascii: "*"), count: 10))
            // A machine that stood still for a second reads all at once.
            return parts > 1
        }
    }

    @Test func linesOfJSONAreReadAsAStream() async throws {
        let response = try await layer().stream(Fetch<GET>("stream/50"))
        let lines = try await response.body.text().split(separator: "\n")
        #expect(try lines.map { try JSONDocument(String($0)).root["id"].int } == Array(0..<50))
    }

    @Test(arguments: [0, 1, 1023, 65_536, 102_400])
    func theRequestedBytesArriveWholeAndStreamed(count: Int) async throws {
        let network = try layer()
        let call = Fetch<GET>("stream-bytes/\(count)").query(["chunk_size": 1000])
        let raw = try await network.call(call)
        #expect(raw.bytes.count == count)
        let response = try await network.stream(call)
        #expect(try await response.body.collect(upTo: count).count == count)
    }

    @Test(arguments: [1, 26, 102_400])
    func bodiesOfNamedLengthArriveByteForByte(count: Int) async throws {
        let raw = try await layer().call(Fetch<GET>("range/\(count)"))
        #expect(raw.response.headerFields[.contentLength] == "\(count)")
        #expect(raw.bytes == (0..<count).map { UInt8(ascii: "a") + UInt8($0 % 26) })
    }

    @Test func aRangeIsReturnedAsRequested() async throws {
        let raw = try await layer().call(Fetch<GET>("range/1024", headers: ["Range": "bytes=26-51"]))
        #expect(raw.response.status == .partialContent)
        #expect(raw.text == "abcdefghijklmnopqrstuvwxyz")
    }

    // MARK: Contents

    @Test func textInUTF8IsReadAsSuch() async throws {
        let text = try #require(try await layer().call(Fetch<GET>("encoding/utf8")).text)
        #expect(text.contains("∮ E⋅da = Q,  n → ∞"))
        #expect(text.contains("ሰማይ አይታረስ ንጉሥ አይከሰስ።"))
    }

    @Test func readingOtherBodiesAsJSONSaysSo() async throws {
        struct Page: Endpoint {
            static let service = TestService.self
            var path: EndpointPath { "html" }
            func validate(response: RawData) throws { _ = try response["title"].require() as String }
        }
        let error = try await layer().failure(of: Page())
        #expect(error.kind == .invalidResponse)
        #expect(error.step == .checking)
        #expect(error.detail.contains("<!DOCTYPE html>"))
        let raw = try await layer().call(Fetch<GET>("html"))
        #expect(raw.text?.contains("Herman Melville") == true)
        #expect(raw["title"].string == nil)
    }

    @Test(.except(.urlSession, "it joins fields of one name"))
    func headerFieldsOfTheResponseArriveAsSent() async throws {
        let raw = try await layer().call(
            Fetch<GET>("response-headers").query(["X-One": "a b", "X-Two": ["1", "2"]]))
        #expect(raw.response.headerFields[HTTPField.Name("X-One")!] == "a b")
        #expect(raw.response.headerFields[values: HTTPField.Name("X-Two")!] == ["1", "2"])
    }

    // MARK: Who asks

    @Test func cookiesAreNotStored() async throws {
        let network = try layer()
        let raw = try await network.call(Fetch<GET>("cookies/set").query(["a": "1"]))
        #expect(raw["cookies"].count == 0)
        #expect(try await network.call(Fetch<GET>("cookies"))["cookies"].count == 0)
    }

    @Test func onlyCredentialsInAHeaderAreSent() async throws {
        let network = try layer()
        let token = Data("用户:秘密".utf8).base64EncodedString()
        let raw = try await network.call(
            Fetch<GET>("basic-auth/\("用户")/\("秘密")", headers: ["Authorization": "Basic \(token)"]))
        #expect(raw["authenticated"].bool == true)
        #expect(try await network.failure(of: Fetch<GET>("basic-auth/a/b")).kind == .needsAccessToken)
        let bearer = try await network.call(Fetch<GET>("bearer", headers: ["Authorization": "Bearer t0ken"]))
        #expect(bearer["token"].string == "t0ken")
    }
}
