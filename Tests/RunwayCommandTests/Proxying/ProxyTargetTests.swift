import Foundation
import HTTPTypes
import RunwayTestServer
import Testing

/// Targets and framings of requests and responses that `runway proxy` does not pass.
@Suite(.timeLimit(.minutes(10)))
struct ProxyTargetTests {
    @Test(arguments: [
        "/a#frag", "/a?b#c", "/#", "/a b", "/a\tb", "/a\u{1}b", "/a\u{7F}b", "/\u{E4}", "/a?\u{E4}", "/a\"b", "/a<b>",
        "/a\\b", "a", "?a", "", "http://127.0.0.1#a", "http://127.0.0.1/a#b", "http://127.0.0.1/a\"b",
    ])
    func invalidTargetIsRefused(target: String) async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("fine"))
            _ = try await proxying(to: origin.baseURL) { proxy in
                let response = try await RawClient.exchange(
                    "GET \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n", port: proxy.port)
                #expect(response.hasPrefix("HTTP/1.1 400 "), "\(response.prefix(300))")
            }
            #expect(origin.requestCount == 0)
        }
    }

    /// What browsers and curl send without an escape goes on without one.
    @Test func targetIsPassedUnchanged() async throws {
        let targets = [
            "/a[]|^`{}", "/a%zz%", "/a%20%2f?b\\c[]|{}^`%", "//a//", "/?", "/a?b?c/d", "/a;b=c,d@e:f!$&'()*+~",
        ]
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("fine").header(.cacheControl, "no-store"))
            for arguments in [["--cache", "http"], ["--cache", "none"]] {
                _ = try await proxying(to: origin.baseURL, arguments[0], arguments[1]) { proxy in
                    for target in targets {
                        let response = try await RawClient.exchange(
                            "GET \(target) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
                            port: proxy.port)
                        #expect(response.hasPrefix("HTTP/1.1 200 "), "\(target): \(response.prefix(300))")
                    }
                }
            }
            #expect(origin.requests.map(\.target) == targets + targets)
        }
    }

    @Test func requestsLastTransferCodingDecides() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("fine"))
            _ = try await proxying(to: origin.baseURL) { proxy in
                for (coding, status) in [
                    ("chunked", 200), ("gzip, chunked", 501), ("identity", 400), ("gzip", 400), ("zork", 400),
                    ("chunked, gzip", 400),
                ] {
                    let response = try await RawClient.exchange(
                        """
                        POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: \(coding)\r\n\r\n\
                        2\r\nhi\r\n0\r\n\r\n
                        """, port: proxy.port)
                    #expect(response.hasPrefix("HTTP/1.1 \(status) "), "\(coding): \(response.prefix(300))")
                }
            }
            #expect(origin.requestCount == 1)
        }
    }

    @Test func malformedChunkExtensionsOfRequestsAreRefused() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("fine"))
            _ = try await proxying(to: origin.baseURL) { proxy in
                for (text, isLegal) in [(";a=b", true), (";a=\"b;c\"", true), (";", false), (";;", false)] {
                    let response = try await RawClient.exchange(
                        """
                        POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n\
                        2\(text)\r\nhi\r\n0\r\n\r\n
                        """, port: proxy.port)
                    #expect(response.hasPrefix("HTTP/1.1 \(isLegal ? 200 : 400) "), "\(text): \(response.prefix(300))")
                }
            }
        }
    }

    /// A client must not take the start of a response that can't be read for a complete one.
    @Test func unknownResponseTransferCodingIsABadGateway() async throws {
        try await withScriptedOrigin { origin in
            for coding in ["zork", "gzip, chunked", "chunked, identity"] {
                let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: \(coding)\r\n\r\n"
                origin.on("/a", respond: .raw("\(head)2\r\nhi\r\n0\r\n\r\n"))
                origin.on("/b", respond: .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\nhi"))
                for cache in ["http", "none"] {
                    _ = try await proxying(to: origin.baseURL, "--cache", cache) { proxy in
                        #expect(try await fetch("\(proxy.url)/a").status == 502)
                        let identity = try await fetch("\(proxy.url)/b")
                        #expect(identity.status == 200 && identity.text == "hi" && identity.exitCode == 0)
                    }
                }
            }
        }
    }
}
