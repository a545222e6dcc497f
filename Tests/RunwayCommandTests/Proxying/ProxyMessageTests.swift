import Foundation
import HTTPTypes
import RunwayTestServer
import Testing

/// The heads of messages through `runway proxy`: methods, lengths, and the steps that they passed.
@Suite(.timeLimit(.minutes(10)))
struct ProxyMessageTests {
    /// All that its parser reads, but CONNECT.
    private static let methods = [
        "DELETE", "GET", "HEAD", "POST", "PUT", "OPTIONS", "TRACE", "COPY", "LOCK", "MKCOL", "MOVE", "PROPFIND",
        "PROPPATCH", "SEARCH", "UNLOCK", "BIND", "REBIND", "UNBIND", "ACL", "REPORT", "MKACTIVITY", "CHECKOUT", "MERGE",
        "M-SEARCH", "NOTIFY", "SUBSCRIBE", "UNSUBSCRIBE", "PATCH", "PURGE", "MKCALENDAR", "LINK", "UNLINK", "QUERY",
    ]

    @Test func noMethodIsRenamed() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("fine").header(.cacheControl, "no-store"))
            _ = try await proxying(to: origin.baseURL) { proxy in
                for method in Self.methods {
                    let response = try await RawClient.exchange(
                        "\(method) / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", port: proxy.port)
                    #expect(response.hasPrefix("HTTP/1.1 200 "), "\(method)")
                }
                #expect(origin.requests.map(\.method.rawValue) == Self.methods)
                // Methods are case-sensitive (RFC 9110 §9.1): these are others, which the parser does not read.
                for method in ["get", "Get", "MSEARCH", "m-search", "X_1", "GETS"] {
                    let response = try await RawClient.exchange(
                        "\(method) / HTTP/1.1\r\nHost: localhost\r\n\r\n", port: proxy.port)
                    #expect(response.hasPrefix("HTTP/1.1 501 ") && response.contains(method), "\(method): \(response)")
                }
                #expect(origin.requestCount == Self.methods.count)
            }
        }
    }

    @Test func unrequestedSwitchOfProtocolsIsNotPassedOn() async throws {
        try await withScriptedOrigin { origin in
            origin.on(
                "/switch",
                respond: .raw("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n\0\0\0"))
            origin.on("/next", respond: .text("next"))
            for cache in ["http", "none"] {
                _ = try await proxying(to: origin.baseURL, "--cache", cache) { proxy in
                    let responses = try await RawClient.exchange(
                        """
                        GET /switch HTTP/1.1\r\nHost: localhost\r\n\r\n\
                        GET /next HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n
                        """, port: proxy.port)
                    #expect(responses.hasPrefix("HTTP/1.1 502 ") && !responses.contains("HTTP/1.1 101"), "\(responses)")
                    #expect(responses.contains("\r\nProxy-Status: runway; error=http_protocol_error\r\n"))
                    #expect(responses.hasSuffix("next"))
                }
            }
        }
    }

    /// Responses, and the one `Content-Length` that clients see; `nil` for none.
    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\nfine", "4"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 4, 4\r\n\r\nfine", "4"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 4,4\r\nContent-Length: 4\r\n\r\nfine", "4"),
        ("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", nil),
        ("HTTP/1.1 304 Not Modified\r\nContent-Length: 7, 7\r\nETag: \"1\"\r\n\r\n", "7"),
    ])
    func contentLengthIsNormalised(response: String, length: String?) async throws {
        try await withScriptedOrigin { origin in
            origin.on("/", respond: .raw(response))
            for cache in ["http", "none"] {
                _ = try await proxying(to: origin.baseURL, "--cache", cache) { proxy in
                    let fetched = try await fetch("\(proxy.url)/", "-H", "If-None-Match: \"1\"")
                    #expect(response.contains("HTTP/1.1 \(fetched.status) ") && fetched.exitCode == 0)
                    #expect(fetched.values(of: "Content-Length") == (length.map { [$0] } ?? []))
                    #expect(fetched["Transfer-Encoding"] == nil)
                }
            }
        }
    }

    @Test func oversizedContentLengthIsRefused() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("fine"))
            _ = try await proxying(to: origin.baseURL) { proxy in
                let response = try await RawClient.exchange(
                    "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9300000000000000000\r\n\r\nabc",
                    port: proxy.port)
                #expect(response.hasPrefix("HTTP/1.1 400 "), "\(response)")
            }
            #expect(origin.requestCount == 0)
        }
    }

    @Test func loopIsFoundInEveryViaSyntax() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("fine"))
            _ = try await proxying(to: origin.baseURL) { proxy in
                let own = "runway-proxy-\(proxy.port)"
                for via in [
                    "1.1\t\(own)", "1.1 a,1.1 \(own)", "1.1   \(own)\t,1.1 b", "HTTP/1.1 \(own.uppercased())",
                    "1.1 a (b, c), 1.1 \(own)", "1.1 a (b(c\\)), 1.0 d), 1.1 \(own)", "1.1 a (b, 1.1 \(own)",
                    ",,1.1 \(own),",
                    "1.1 a(x)\t,\t1.1\t\(own)(y)",
                ] {
                    let response = try await fetch("\(proxy.url)/", "-H", "Via: \(via)")
                    #expect(response.status == 508, "\(via)")
                }
                for via in ["1.1 a (1.1 \(own))", "1.1 a (x, 1.1 \(own) y)", "1.1 \(own).test", own, "1.1 a \(own)"] {
                    let response = try await fetch("\(proxy.url)/", "-H", "Via: \(via)")
                    #expect(response.status == 200, "\(via)")
                }
            }
        }
    }
}
