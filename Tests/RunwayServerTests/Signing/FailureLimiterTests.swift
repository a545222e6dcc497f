import HTTPTypes
import NIOCore
import RunwaySignatures
import Testing

@testable import RunwayServer

struct FailureLimiterTests {
    private let start = UnixTime(seconds: 1_000)

    @Test func failuresAreMadeGoodByTime() {
        let limiter = FailureLimiter(FailureLimits(burst: 4, perSecond: 2))
        for _ in 0..<10 { limiter.record("a", at: start) }
        #expect(limiter.isExceeded(by: "a", at: start))
        #expect(!limiter.isExceeded(by: "b", at: start))
        #expect(!limiter.isExceeded(by: "a", at: start + .seconds(1)))
        for _ in 0..<2 { limiter.record("a", at: start + .seconds(1)) }
        #expect(limiter.isExceeded(by: "a", at: start + .seconds(1)))
    }

    @Test func clockSetBackMakesFailuresGood() {
        let limiter = FailureLimiter(FailureLimits(burst: 1))
        limiter.record("a", at: start)
        #expect(limiter.isExceeded(by: "a", at: start))
        #expect(!limiter.isExceeded(by: "a", at: start - .seconds(1)))
    }

    @Test func accountsAreComparedByteByByte() {
        let limiter = FailureLimiter(FailureLimits(burst: 1))
        limiter.record("\u{E9}", at: start)
        #expect(limiter.isExceeded(by: "\u{E9}", at: start) && !limiter.isExceeded(by: "e\u{301}", at: start))
    }

    @Test func addressOfProxyIsNoSource() throws {
        let request = HTTPRequest(method: .get, scheme: "https", authority: "a.example", path: "/")
        let address = try SocketAddress(ipAddress: "192.0.2.7", port: 1)
        var rules = SignatureRules(tag: "app", origin: PublicOrigin("a.example"))
        #expect(rules.source(of: request, from: address) == "192.0.2.7")
        rules.origin.proxyField = HTTPField.Name("X-Forwarded-Host")
        #expect(rules.source(of: request, from: address) == nil)
        rules.source = { _, _ in "client" }
        #expect(rules.source(of: request, from: address) == "client")
    }

    @Test func lastValueOfProxyFieldIsSource() throws {
        let name = try #require(HTTPField.Name("X-Forwarded-For"))
        let address = try SocketAddress(ipAddress: "192.0.2.7", port: 1)
        var rules = SignatureRules(tag: "app", origin: PublicOrigin("a.example"))
        rules.origin.proxyField = HTTPField.Name("X-Forwarded-Host")
        #expect(rules.warning != nil)
        rules.origin.proxySourceField = name
        #expect(rules.warning == nil)
        func source(_ lines: String...) -> String? {
            var request = HTTPRequest(method: .get, scheme: "https", authority: "a.example", path: "/")
            for line in lines { request.headerFields.append(HTTPField(name: name, value: line)) }
            return rules.source(of: request, from: address)
        }
        // What the client sends stands before what the proxy adds.
        #expect(source("198.51.100.1, 203.0.113.9") == "203.0.113.9")
        #expect(source("203.0.113.8", "203.0.113.9") == "203.0.113.9")
        #expect(source("203.0.113.9, 2001:db8:1:2:3::4") == "2001:db8:1:0")
        #expect(source("203.0.113.9,unknown") == "unknown")
        // With the port of a connection.
        #expect(source("203.0.113.9:51234") == "203.0.113.9" && source("[2001:db8:1:2:3::4]:443") == "2001:db8:1:0")
        #expect(source("203.0.113.9,") == nil && source() == nil)
    }

    @Test func limitOffBehindAProxyIsWarnedOf() {
        var rules = SignatureRules(tag: "app", origin: PublicOrigin("a.example"))
        #expect(rules.warning == nil)
        rules.origin.proxyField = HTTPField.Name("X-Forwarded-Host")
        #expect(rules.warning?.contains("proxySourceField") == true)
        rules.failureLimits = nil
        #expect(rules.warning == nil)
        rules.failureLimits = FailureLimits()
        rules.source = { _, _ in "client" }
        #expect(rules.warning == nil)
    }

    @Test func sourcesNeverShareFailures() {
        // One slot for all: each source replaces the one before it.
        var limits = FailureLimits(burst: 2, perSecond: 1)
        limits.maximumSources = 1
        let limiter = FailureLimiter(limits)
        for number in 0..<1_000 { limiter.record("source \(number)", at: start) }
        for number in 0..<1_000 { #expect(!limiter.isExceeded(by: "source \(number)", at: start)) }
    }
}
