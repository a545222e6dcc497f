import Foundation
import HTTPTypes
import RunwayTestServer
import RunwayTesting
import Testing

/// `Cache-Status` of the responses of `runway proxy` (RFC 9211).
@Suite(.timeLimit(.minutes(10)))
struct ProxyCacheStatusTests {
    /// Each response's `Cache-Status`, the lifetimes in it without their numbers.
    private func statuses(
        of requests: [[String]], at path: String, by proxy: RunningProxy
    ) async throws -> [[String]] {
        var statuses: [[String]] = []
        for arguments in requests {
            let response = try await Tool.run(
                "/usr/bin/env", ["curl", "--silent", "--noproxy", "", "--include"] + arguments + [proxy.url + path],
                input: [], environment: [:])
            let values = try CurlResponse(response).values(of: "Cache-Status")
            statuses.append(values.map { $0.replacing(/ttl=[0-9]+/, with: "ttl") })
        }
        return statuses
    }

    @Test func storedResponseIsCalledAHit() async throws {
        try await withScriptedOrigin { origin in
            let response = ScriptedResponse.text("a").header(.cacheControl, "max-age=600")
            origin.on("/a", respond: response.rawHeader("Cache-Status: CDN; hit"))
            _ = try await proxying(to: origin.baseURL) { proxy in
                let refresh = ["-H", "Cache-Control: max-age=0"]
                let found = try await statuses(of: [[], [], ["--head"], refresh, ["-d", "x"]], at: "/a", by: proxy)
                #expect(
                    found == [
                        ["CDN; hit", "runway; fwd=miss"], ["CDN; hit", "runway; hit; ttl"],
                        ["CDN; hit", "runway; hit; ttl"], ["CDN; hit", "runway; fwd=request"],
                        ["CDN; hit", "runway; fwd=method"],
                    ])
                #expect(origin.requestCount == 3)
            }
        }
    }

    @Test func validatedResponseNamesTheStatusOfTheOrigin() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/a") { request in
                let isKnown = request["if-none-match"] != nil
                return (isKnown ? ScriptedResponse.text("", status: .notModified) : .text("a"))
                    .header(.cacheControl, "max-age=0").header(.eTag, "\"1\"")
            }
            _ = try await proxying(to: origin.baseURL) { proxy in
                let found = try await statuses(of: [[], []], at: "/a", by: proxy)
                #expect(found == [["runway; fwd=miss"], ["runway; fwd=stale; fwd-status=304"]])
            }
        }
    }

    @Test func staleResponseOfUnreachableOriginIsNoHit() async throws {
        try await withScriptedOrigin { origin in
            let stale = ScriptedResponse.text("a").header(.cacheControl, "max-age=0, stale-if-error=600").header(
                .eTag, "\"1\"")
            origin.on(nil, "/a", respond: [stale, .closing])
            _ = try await proxying(to: origin.baseURL) { proxy in
                let found = try await statuses(of: [[], []], at: "/a", by: proxy)
                #expect(found == [["runway; fwd=miss"], ["runway; fwd=stale; detail=no-response"]])
            }
        }
    }

    @Test func proxyWithoutACacheSendsNoCacheStatus() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/a", respond: .text("a").header(.cacheControl, "max-age=600"))
            _ = try await proxying(to: origin.baseURL, "--cache", "none") { proxy in
                let found = try await statuses(of: [[], []], at: "/a", by: proxy)
                #expect(found == [[], []])
            }
        }
    }
}
