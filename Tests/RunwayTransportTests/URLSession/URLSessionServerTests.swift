import Foundation
import HTTPTypes
import Runway
import RunwayJSON
import RunwayTesting
import Testing

/// A session against nginx and httpbin.
@Suite(.enabled(if: IntegrationServers.areExpected), .timeLimit(.minutes(10)))
struct URLSessionServerTests {
    private let servers = Result { try IntegrationServers() }
    private func httpbin() throws -> NetworkLayer { try NetworkLayer(overURLSessionTo: servers.get().httpbin) }

    @Test func filesOfNginxArriveByteForByteWholeAndStreamed() async throws {
        let servers = try servers.get()
        let network = try NetworkLayer(overURLSessionTo: servers.plainNginx)
        for name in ["iso_15924.json", "iso_639-3.json"] {
            let file = try Array(Data(contentsOf: servers.isoCodes.appending(path: name)))
            #expect(try await network.call(Fetch<GET>("\(name)")).bytes == file)
            let answer = try await network.stream(Fetch<GET>("\(name)"))
            #expect(try await answer.body.collect(upTo: 1 << 24) == file)
            let range = Fetch<GET>("\(name)", headers: ["Range": "bytes=100-199"])
            let part = try await network.call(range)
            #expect(part.response.status == .partialContent && part.bytes == Array(file[100..<200]))
        }
    }

    @Test func withoutTrustInItsAuthorityNothingIsAskedOfNginx() async throws {
        let error = try await NetworkLayer(overURLSessionTo: servers.get().nginx).failure(of: Fetch<GET>("a"))
        #expect(error.kind == .notTrusted)
    }

    @Test(arguments: [201, 204])
    func statusesThatAreFineSucceed(code: Int) async throws {
        #expect(try await httpbin().call(Fetch<GET>("status/\(code)")).response.status.code == code)
    }

    @Test func redirectsAreFollowedByTheLayer() async throws {
        let raw = try await httpbin().call(Fetch<GET>("relative-redirect/5"))
        #expect(raw["url"].string?.hasSuffix("/get") == true)
    }

    @Test func compressionsAreUndone() async throws {
        #expect(try await httpbin().call(Fetch<GET>("gzip"))["gzipped"].bool == true)
        #expect(try await httpbin().call(Fetch<GET>("deflate"))["deflated"].bool == true)
    }

    @Test func cookiesAreNotKept() async throws {
        let network = try httpbin()
        _ = try await network.call(Fetch<GET>("cookies/set").query(["a": "1"]))
        #expect(try await network.call(Fetch<GET>("cookies"))["cookies"].count == 0)
    }

    @Test func aChallengeOfHTTPBinNeedsAnAccessToken() async throws {
        #expect(try await httpbin().failure(of: Fetch<GET>("basic-auth/a/b")).kind == .needsAccessToken)
    }

    @Test func bodiesAreSentAsTheyAre() async throws {
        let body = BodyStream(Array("kept as it is".utf8))
        for content in [
            RequestBody.bytes(Array("kept as it is".utf8)), .stream(body, byteCount: 13, isReplayable: true),
        ] {
            let raw = try await httpbin().call(Fetch<PUT>("anything", content))
            #expect(raw["data"].string == "kept as it is")
        }
    }

    @Test func aDelayPastTheDeadlineFailsWhenTheDeadlineComes() async throws {
        let network = try httpbin()
        network.configure(TestService.self) { $0.deadline = .milliseconds(300) }
        #expect(try await network.failure(of: Fetch<GET>("delay/5")).kind == .timedOut)
    }
}
