import HTTPTypes
import Testing

@testable import RunwaySignatures

/// Duplicates in structured fields, and how often a field is parsed.
struct StructuredFieldTests {
    @Test(arguments: [
        // The parser lets the last of two members win, so that each of these hides one behind another.
        (#"a=1, a=2"#, StructuredFieldType.dictionary), (#"a;b=1;b=2"#, .dictionary), (#"a=(x;b;b)"#, .dictionary),
        // A backslash is no escape in a Display String: it does not hide what follows the string.
        (##"a=%"\", a=%"x""##, .dictionary), (##"a;b=%"\";b=%"x""##, .dictionary),
        (##"a;b=%"\";b=%"x""##, .list), (##"a;b=%"\";b=%"x""##, .item), (#"a;b;b"#, .list), (#"a;b;b"#, .item),
    ])
    func duplicatesAreRefused(_ value: String, _ type: StructuredFieldType) throws {
        var context = SignatureContext(try request("GET / HTTP/1.1\nHost: a.example\nX-Field: \(value)"))
        context.structuredFieldTypes["x-field"] = type
        let component = try ComponentIdentifier(name: "x-field").strict
        #expect(throws: SignatureError(.duplicateName, component.serialized)) { try lines(context, component) }
    }

    @Test func commasAndSemicolonsInStringsDoNotCount() throws {
        let value = ##"a=%"\", b=%"%22,;"; c="\"\\", d="%"; e="%\",;""##
        let members = try StructuredFieldParsing().dictionary([value], named: "x")
        #expect(members.map { $0.0 } == ["a", "b", "d"])
    }

    @Test func aFieldIsParsedOnce() throws {
        var dictionaries = ParsedDictionaries()
        var parsed = 0
        let field = ParsedDictionaries.Field(name: "x", isFromRequest: false, isTrailer: false)
        for key in ["a", "b", "c", "absent"] {
            let member = try dictionaries.member(key, of: field) { () throws(SignatureError) in
                parsed += 1
                return try StructuredFieldParsing().dictionary(["a=1, b=2", "c=3"], named: "x")
            }
            #expect((member != nil) == (key != "absent"))
        }
        #expect(parsed == 1)
    }

    /// The work grows with the covered members, and not with their square.
    @Test(arguments: [8, 64]) func manyCoveredMembersAreParsedOnce(count: Int) throws {
        var dictionaries = ParsedDictionaries()
        var parsed = 0
        let field = ParsedDictionaries.Field(name: "x", isFromRequest: false, isTrailer: false)
        let line = (0..<count).map { "k\($0)=\($0)" }.joined(separator: ", ")
        for index in 0..<count {
            let member = try dictionaries.member("k\(index)", of: field) { () throws(SignatureError) in
                parsed += 1
                return try StructuredFieldParsing().dictionary([line], named: "x")
            }
            #expect(member != nil)
        }
        #expect(parsed == 1)
    }

    @Test func sectionsAndMessagesAreParsedApart() throws {
        let response = HTTPResponse(status: .ok, headerFields: [.priority: "u=1"])
        let request = HTTPRequest(
            method: .get, scheme: "https", authority: "a.example", path: "/", headerFields: [.priority: "u=2"])
        let context = SignatureContext(response, to: request, trailerFields: [.priority: "u=3"])
        let member = ComponentIdentifier.field(.priority).member("u")
        #expect(
            try lines(context, member, member.ofRequest, member.inTrailer) == [
                #""priority";key="u": 1"#, #""priority";key="u";req: 2"#, #""priority";key="u";tr: 3"#,
            ])
    }
}
