import HTTPTypes
import NIOCore
import RunwaySignatures
import Testing

@testable import RunwayServer

struct PublicOriginTests {
    private let now = UnixTime(seconds: 0)

    private func request(_ authority: String?, _ path: String? = "/a", host: String? = nil) throws -> HTTPRequest {
        var request = HTTPRequest(method: .get, scheme: "http", authority: authority, path: path)
        request.headerFields[try #require(HTTPField.Name("Host"))] = host
        return request
    }

    private func refusal(_ origin: PublicOrigin, _ request: HTTPRequest) -> SignatureRefusal.Reason? {
        do throws(SignatureRefusal) {
            _ = try origin.head(of: request, at: now)
            return nil
        } catch {
            return error.reason
        }
    }

    @Test func onlyAuthorityReplacesThatOfRequest() throws {
        let head = try PublicOrigin("API.example.com:443").head(of: request("10.0.0.7:8080"), at: now)
        #expect(head.scheme == "https")
        #expect(head.authority == "api.example.com")
        #expect(head.path == "/a")
    }

    @Test func defaultPortIsThatOfScheme() throws {
        let origin = PublicOrigin("a.test:80", "b.test:443", scheme: "http")
        #expect(origin.authorities == ["a.test", "b.test:443"])
        #expect(try origin.head(of: request("A.test"), at: now).authority == "a.test")
        #expect(refusal(origin, try request("b.test")) == .authority)
    }

    @Test func hostMustEqualAuthority() throws {
        let origin = PublicOrigin("a.test")
        #expect(refusal(origin, try request("a.test", host: "A.test:443")) == nil)
        #expect(refusal(origin, try request("a.test", host: "b.test")) == .malformed)
        #expect(
            try PublicOrigin("a.test", "b.test").head(of: request(nil, host: "b.test"), at: now).authority == "b.test")
    }

    @Test(arguments: ["a.test:", "A.test:443", "a.TEST"])
    func emptyAndDefaultPortsAreTheSchemes(_ authority: String) throws {
        let origin = PublicOrigin("a.test", "b.test:8443")
        #expect(try origin.head(of: request(authority), at: now).authority == "a.test")
        #expect(try origin.head(of: request(nil, host: authority), at: now).authority == "a.test")
    }

    /// By Unicode the Kelvin sign is a k in lower case: the authority would be another one to the server than to who sends it there.
    @Test func onlyLettersOfASCIIChangeTheirCase() throws {
        let origin = PublicOrigin("k.test", "b.test")
        #expect(refusal(origin, try request("\u{212A}.test")) == .authority)
        #expect(refusal(origin, try request("k.test", host: "\u{212A}.test")) == .malformed)
        #expect(try origin.head(of: request("K.test"), at: now).authority == "k.test")
    }

    @Test func authorityWithUserIsNoneOfTheServer() throws {
        #expect(refusal(PublicOrigin("a.test", "b.test"), try request("anna@a.test")) == .authority)
    }

    @Test func targetMustBeInOriginForm() throws {
        let origin = PublicOrigin("a.test")
        for path in ["https://a.test/", "https://b.test/a", "*", "", "a"] {
            #expect(refusal(origin, try request("a.test", path)) == .malformed)
        }
        #expect(refusal(origin, try request("a.test", nil)) == .malformed)
    }

    @Test(arguments: [
        ("192.0.2.7", "192.0.2.7"), ("2001:db8::7", "2001:db8:0:0"), ("2001:db8:0:0:1:2:3:4", "2001:db8:0:0"),
        ("2001:db8:1:1234:3:4:5:6", "2001:db8:1:1200"), ("::1", "0:0:0:0"), ("::ffff:192.0.2.7", "::ffff:192.0.2.7"),
    ])
    func sourceIsNetworkOfClient(_ address: String, _ network: String) throws {
        #expect(try SocketAddress(ipAddress: address, port: 1).networkOfSource == network)
    }

    @Test func sourceIsWhatTheProxyStates() throws {
        let address = try SocketAddress(ipAddress: "127.0.0.1", port: 1)
        var origin = PublicOrigin("a.test")
        var forwarded = try request("a.test")
        forwarded.headerFields[try #require(HTTPField.Name("X-Forwarded-For"))] = "192.0.2.1, 192.0.2.7"
        #expect(origin.source(of: forwarded, from: address) == "127.0.0.1")
        origin.proxySourceField = HTTPField.Name("X-Forwarded-For")
        #expect(origin.source(of: forwarded, from: address) == "192.0.2.7")
        #expect(origin.source(of: try request("a.test"), from: address) == "127.0.0.1")
        origin.proxyField = HTTPField.Name("X-Forwarded-Host")
        #expect(origin.source(of: try request("a.test"), from: address) == nil)
    }
}
