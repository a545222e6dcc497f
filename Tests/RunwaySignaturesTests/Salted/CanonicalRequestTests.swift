import HTTPTypes
import Testing

@testable import RunwaySignatures

/// The lines that a salted digest covers.
struct CanonicalRequestTests {
    private func lines(_ path: String, type: [String] = [], body: String = "") throws -> [Substring] {
        var request = HTTPRequest(method: .post, scheme: "https", authority: "a.example", path: path)
        for value in type { request.headerFields.append(HTTPField(name: .contentType, value: value)) }
        let canonical = try CanonicalRequest(
            request, body: Array(body.utf8), time: Exchange.now, nonce: [UInt8](0..<16))
        return String(decoding: canonical.bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    }

    @Test func equalNamesRemainInTheirOrder() throws {
        #expect(try lines("/a?role=user&role=admin")[4] == "role=user&role=admin")
        #expect(try lines("/a?role=admin&role=user")[4] == "role=admin&role=user")
        #expect(try lines("/a?b=1&a=2&%62=0")[4] == lines("/a?a=2&b=1&b=0")[4])
    }

    @Test func queryIsCoveredAsItIsSent() throws {
        for query in ["?%6FnlyMine=1", "?a", "?a=", "?a=x+y", "?a=x%20y", "?a=%7e", "?a=~", "?"] {
            #expect(try lines("/a\(query)")[3] == query)
        }
        #expect(try lines("/a")[3] == "?")
        #expect(throws: SignatureError(.invalidValue, "the query")) { try lines("/a?b c") }
    }

    @Test func numberOfParametersIsBounded() throws {
        let form = "application/x-www-form-urlencoded"
        let most = String(repeating: "&", count: 4_095)
        #expect(try lines("/a?\(most)x", type: [form], body: "\(most)y")[6] == "y=")
        let error = SignatureError(.tooLarge, "the number of parameters")
        #expect(throws: error) { try lines("/a?&\(most)") }
        #expect(throws: error) { try lines("/a", type: [form], body: "&\(most)") }
        let request = HTTPRequest(method: .get, scheme: "https", authority: "a.example", path: "/a?&\(most)")
        let parameters = try SignatureParameters(components: CoveredComponents([.queryParameter("x")]))
        #expect(throws: error) { try SignatureContext(request).signatureBase(for: parameters) }
    }

    @Test func theContentTypeIsCovered() throws {
        #expect(try lines("/a", type: [" Text/Plain; charset=utf-8\t"])[5] == "Text/Plain; charset=utf-8")
        #expect(try lines("/a", type: ["a/b", "c/d"])[5] == "a/b, c/d")
        #expect(try lines("/a")[5].isEmpty)
    }

    @Test func queryAndBodyHaveLinesOfTheirOwn() throws {
        let form = "Application/X-WWW-Form-URLencoded ;charset=utf-8"
        let lines = try lines("/a?x=1", type: [form], body: "y=2&a=+")
        #expect(lines.count == 10 && lines[4] == "x=1" && lines[6] == "a=%20&y=2")
        for type in [[], ["application/json"], [form, "application/json"]] {
            #expect(try self.lines("/a?x=1", type: type, body: "y=2")[6] == (type.first == form ? "y=2" : ""))
        }
    }
}
