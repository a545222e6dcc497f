import HTTPTypes
import RunwayTesting
import Testing

@testable import Runway

/// An origin that responds with 304 to requests without conditions.
struct NotModifiedTests {
    private func call(_ policy: CachePolicy, _ fields: [String: String]) async -> NetworkError? {
        let layer = CachedLayer()
        layer.server.respond(
            with: .success(Response(head: HTTPResponse(status: .notModified), body: .whole(RawData([])))))
        return await layer.failure(Work(fields: fields), .policy(policy))
    }

    @Test(arguments: [CachePolicy.off, .timeToLive(), .untilEvicted(), .http()])
    func unrequestedNotModifiedIsInvalid(_ policy: CachePolicy) async throws {
        let error = await call(policy, [:])
        #expect(error?.kind == .invalidResponse && error?.status == .notModified && error?.step == .reading)
    }

    @Test(arguments: [CachePolicy.off, .timeToLive(), .untilEvicted(), .http()])
    func requestedNotModifiedIsTheResponse(_ policy: CachePolicy) async throws {
        #expect(await call(policy, ["If-None-Match": "\"1\""]) == nil)
        #expect(await call(policy, ["If-Modified-Since": "Sun, 06 Nov 1994 08:49:37 GMT"]) == nil)
    }
}
