import Testing

@testable import Runway

/// libcurl's proxies, which must not see what is for this machine.
struct LoopbackProxyTests {
    private func variable(_ environment: [String: String], _ scheme: String = "http", _ host: String = "localhost")
        -> String?
    {
        LoopbackProxy.variable(for: Origin(scheme: scheme, host: host, port: 8080), in: environment)
    }

    @Test func thisMachineIsNotReachedThroughAProxy() {
        #expect(variable(["http_proxy": "p.test"]) == "http_proxy")
        #expect(variable(["ALL_PROXY": "p.test"]) == "ALL_PROXY")
        #expect(variable(["HTTPS_PROXY": "p.test"], "https") == "HTTPS_PROXY")
        #expect(variable(["http_proxy": "p.test", "no_proxy": "a.test, 10.0.0.0/8"]) == "http_proxy")
    }

    @Test func withoutAProxyNoCallIsRefused() {
        #expect(variable([:]) == nil)
        #expect(variable(["http_proxy": "", "HTTP_PROXY": "p.test"]) == nil)
        #expect(variable(["https_proxy": "p.test"]) == nil)
        #expect(variable(["http_proxy": "p.test", "no_proxy": "*"]) == nil)
        #expect(variable(["http_proxy": "p.test", "NO_PROXY": "a.test,.Localhost"], "http", "b.localhost") == nil)
        #expect(variable(["http_proxy": "p.test", "no_proxy": "127.0.0.1 ::1"], "http", "[::1]") == nil)
    }
}
