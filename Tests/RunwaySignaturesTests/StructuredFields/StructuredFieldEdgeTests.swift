import HTTPTypes
import RunwayFormats
import Testing

@testable import RunwaySignatures

/// Values at the edges of structured fields (RFC 9651), covered by `sf` and `key` (RFC 9421 §2.1.1, §2.1.2).
struct StructuredFieldEdgeTests {
    private static let field = HTTPField.Name("Example-Dict", known: ())

    private func base(_ lines: [String], _ component: ComponentIdentifier) throws -> String {
        var request = HTTPRequest(method: .get, scheme: "https", authority: "a.test", path: "/")
        for line in lines { request.headerFields.append(HTTPField(name: Self.field, lenientValue: Array(line.utf8))) }
        var context = SignatureContext(request)
        context.structuredFieldTypes["example-dict"] = .dictionary
        let parameters = try SignatureParameters(components: CoveredComponents([component]))
        let line = String(decoding: try context.signatureBase(for: parameters), as: UTF8.self).split(separator: "\n")[0]
        return String(line.dropFirst(component.serialized.utf8.count + 2))
    }

    private static let values: [(written: String, canonical: String)] = [
        ("a=01", "1"), ("a=-0", "0"), ("a=-07", "-7"), ("a=999999999999999", "999999999999999"),
        ("a=-999999999999999", "-999999999999999"), ("a=1.50", "1.5"), ("a=1.0", "1.0"), ("a=-0.10", "-0.1"),
        ("a=00.125", "0.125"), ("a=123456789012.123", "123456789012.123"), ("a=@1659578233", "@1659578233"),
        ("a=@-1", "@-1"), (#"a=%"f%c3%bc%22""#, #"%"f%c3%bc%22""#), (#"a=%"""#, #"%"""#), ("a=()", "()"),
        ("a=(   )", "()"), (#"a=(  1   "b";x );q"#, #"(1 "b";x);q"#), ("a=?0", "?0"), ("a=?1;x", "?1;x"),
        ("a;x", "?1;x"),
        ("a;x=?1", "?1;x"), ("a=:aGk=:", ":aGk=:"), ("a=::", "::"), ("a=*t/e:n", "*t/e:n"), (#"a="\"\\""#, #""\"\\""#),
        (#"a="""#, #""""#), ("a=1; b;  c=?0", "1;b;c=?0"),
    ]

    @Test(arguments: values)
    func valueIsSignedInItsCanonicalForm(_ written: String, _ canonical: String) throws {
        let component = ComponentIdentifier.field(Self.field)
        for lines in [[written], [" " + written + "\t"], ["z=1", written], ["z=1,\t" + written]] {
            #expect(try base(lines, component.member("a")) == canonical, "\(lines)")
        }
        let whole = canonical.hasPrefix("?1") ? "a" + canonical.dropFirst(2) : "a=" + canonical
        #expect(try base([written, "z"], component.strict) == whole + ", z")
    }

    @Test(arguments: [
        "a=1234567890123456", "a=1.", "a=1.2345", "a=1234567890123.1", "a=@1.5", "a=@", #"a=%"%C3%BC""#, #"a=%"%c3""#,
        #"a=%"a"#, "a=?2", "a=?", "a=:a b:", "a=:aGk", "a=(1", "a=(1,2)", "a=((1))", "a=\"\u{E9}\"", "a=\"\t\"",
        "a=--1",
        "A=1", "a=1,", "a=1 b=2", "a=1;B", "a=1;", "a=", "=1", ",", "a=1,,b=2", "a=1, a=2", "a=1;x;x", "\u{0}=1",
    ])
    func malformedFieldIsNotSigned(_ line: String) throws {
        let component = ComponentIdentifier.field(Self.field)
        for component in [component.member("a"), component.strict] {
            #expect(throws: SignatureError.self, "\(line)") { try base([line], component) }
        }
    }
}
