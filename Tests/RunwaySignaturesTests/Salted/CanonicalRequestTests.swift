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
        #expect(try lines("/a?role=user&role=admin")[3] == "role=user&role=admin")
        #expect(try lines("/a?role=admin&role=user")[3] == "role=admin&role=user")
        #expect(try lines("/a?b=1&a=2&%62=0") == lines("/a?a=2&b=1&b=0"))
    }

    @Test func theContentTypeIsCovered() throws {
        #expect(try lines("/a", type: [" Text/Plain; charset=utf-8\t"])[4] == "Text/Plain; charset=utf-8")
        #expect(try lines("/a", type: ["a/b", "c/d"])[4] == "a/b, c/d")
        #expect(try lines("/a")[4].isEmpty)
    }

    @Test func queryAndBodyHaveLinesOfTheirOwn() throws {
        let form = "Application/X-WWW-Form-URLencoded ;charset=utf-8"
        let lines = try lines("/a?x=1", type: [form], body: "y=2&a=+")
        #expect(lines.count == 9 && lines[3] == "x=1" && lines[5] == "a=%20&y=2")
        for type in [[], ["application/json"], [form, "application/json"]] {
            #expect(try self.lines("/a?x=1", type: type, body: "y=2")[5] == (type.first == form ? "y=2" : ""))
        }
    }
}
