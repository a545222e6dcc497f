import HTTPTypes
import Testing

@testable import RunwaySignatures

/// The values of fields: the examples of RFC 9421 §2.1, and what is refused.
struct FieldComponentTests {
    private static let example = """
        GET / HTTP/1.1
        Host: www.example.com
        Date: Tue, 20 Apr 2021 02:07:56 GMT
        X-OWS-Header:   Leading and trailing whitespace.
        X-Obs-Fold-Header: Obsolete
            line folding.
        Cache-Control: max-age=60
        Cache-Control:    must-revalidate
        Example-Dict:  a=1,    b=2;x=1;y=2,   c=(a   b   c)
        X-Empty-Header:\u{20}

        """

    private func context(_ fields: String) throws -> SignatureContext {
        var context = SignatureContext(try request("GET / HTTP/1.1\nHost: a.example\n" + fields))
        context.structuredFieldTypes["example-dict"] = .dictionary
        return context
    }

    private func field(_ name: String) throws -> ComponentIdentifier { try ComponentIdentifier(name: name) }

    @Test func linesAreTrimmedUnfoldedAndJoined() throws {
        let names = [
            "host", "date", "x-ows-header", "x-obs-fold-header", "cache-control", "example-dict", "x-empty-header",
        ]
        let context = SignatureContext(try request(Self.example))
        let base = try base(context, names.map(field))
        #expect(
            base == """
                "host": www.example.com
                "date": Tue, 20 Apr 2021 02:07:56 GMT
                "x-ows-header": Leading and trailing whitespace.
                "x-obs-fold-header": Obsolete line folding.
                "cache-control": max-age=60, must-revalidate
                "example-dict": a=1,    b=2;x=1;y=2,   c=(a   b   c)
                "x-empty-header":\u{20}
                "@signature-params": ("host" "date" "x-ows-header" "x-obs-fold-header" "cache-control" "example-dict" \
                "x-empty-header")
                """)
    }

    @Test func structuredFieldsAreSerialisedStrictly() throws {
        let context = try context("Example-Dict:  a=1,    b=2;x=1;y=2,   c=(a   b   c)")
        #expect(
            try lines(context, field("example-dict").strict) == [#""example-dict";sf: a=1, b=2;x=1;y=2, c=(a b c)"#])
    }

    @Test func membersAreSerialisedAlone() throws {
        let context = try context("Example-Dict:  a=1, b=2;x=1;y=2, c=(a   b    c), d")
        let dictionary = try field("example-dict")
        #expect(
            try lines(
                context, dictionary.member("a"), dictionary.member("d"), dictionary.member("b"), dictionary.member("c"))
                == [
                    #""example-dict";key="a": 1"#, #""example-dict";key="d": ?1"#,
                    #""example-dict";key="b": 2;x=1;y=2"#, #""example-dict";key="c": (a b c)"#,
                ])
    }

    @Test func bytesTellLinesFromCommas() throws {
        let two = try context("Example-Header: value, with, lots\nExample-Header: of, commas")
        let one = try context("Example-Header: value, with, lots, of, commas")
        let header = try field("example-header")
        #expect(try lines(two, header) == lines(one, header))
        #expect(
            try lines(two, header.asBytes) == [#""example-header";bs: :dmFsdWUsIHdpdGgsIGxvdHM=:, :b2YsIGNvbW1hcw==:"#])
        #expect(try lines(one, header.asBytes) == [#""example-header";bs: :dmFsdWUsIHdpdGgsIGxvdHMsIG9mLCBjb21tYXM=:"#])
    }

    @Test func trailersAreApartFromHeaders() throws {
        let response = HTTPResponse(
            status: .ok, headerFields: [.contentType: "text/plain", .trailer: "Expires", .expires: "never"])
        let trailers: HTTPFields = [.expires: "Wed, 9 Nov 2022 07:28:00 GMT"]
        let context = SignatureContext(
            response, to: HTTPRequest(method: .get, scheme: nil, authority: nil, path: nil), trailerFields: trailers)
        #expect(
            try lines(context, .status, .field(.trailer), .field(.expires).inTrailer, .field(.expires)) == [
                #""@status": 200"#, #""trailer": Expires"#, #""expires";tr: Wed, 9 Nov 2022 07:28:00 GMT"#,
                #""expires": never"#,
            ])
    }

    @Test func aFieldThatIsAbsentIsNotEmpty() throws {
        let context = try context("X-Empty:")
        #expect(try lines(context, field("x-empty")) == [#""x-empty": "#])
        for absent in [try field("x-absent"), try field("x-empty").inTrailer, try field("example-dict").member("a")] {
            #expect(throws: SignatureError(.missing, absent.serialized)) { try lines(context, absent) }
        }
    }

    @Test func aMemberThatIsAbsentIsRefused() throws {
        let context = try context("Example-Dict: a=1, b=2")
        let member = try field("example-dict").member("c")
        #expect(throws: SignatureError(.missing, member.serialized)) { try lines(context, member) }
    }

    @Test func exclusiveParametersAreRefused() throws {
        let context = try context("Example-Dict: a=1")
        for component in [try field("example-dict").strict.asBytes, try field("example-dict").asBytes.member("a")] {
            #expect(throws: SignatureError(.incompatibleParameters, component.serialized)) {
                try lines(context, component)
            }
        }
    }

    @Test(arguments: ["a=1,", "a=1,,b=2", "a=(1", "a=\"", "A=1", "a=1;b;b"])
    func malformedDictionariesAreRefused(_ value: String) throws {
        let context = try context("Example-Dict: \(value)")
        #expect(throws: SignatureError.self) { try lines(context, field("example-dict").member("a")) }
    }

    @Test func fieldsOfUnknownTypeAreNotStructured() throws {
        let context = try context("Date: now\nPriority: u=1")
        let date = ComponentIdentifier.field(.date).strict
        #expect(throws: SignatureError(.notStructured, date.serialized)) { try lines(context, date) }
        #expect(try lines(context, field("priority").strict) == [#""priority";sf: u=1"#])
    }

    @Test func fieldsOutsideASCIINeedBytes() throws {
        let context = try context("X-Name: façade")
        let name = try field("x-name")
        #expect(throws: SignatureError(.invalidValue, name.serialized)) { try lines(context, name) }
        #expect(try lines(context, name.asBytes) == [#""x-name";bs: :ZmHDp2FkZQ==:"#])
    }

    @Test(arguments: ["X-Name", "", "x name", "@unknown", "x-name:", "@"])
    func namesThatAreNoComponentsAreRefused(_ name: String) throws {
        let context = try context("X-Name: 1")
        #expect(throws: SignatureError(.unknownComponent, "\"\(name)\"")) { try lines(context, field(name)) }
    }

    @Test func aFieldOfTheRequestNeedsAResponse() throws {
        let component = ComponentIdentifier.field(.date).ofRequest
        #expect(throws: SignatureError(.otherMessage, component.serialized)) {
            try lines(context("Date: now"), component)
        }
        let response = SignatureContext(HTTPResponse(status: .ok), to: try request("GET / HTTP/1.1\nDate: now"))
        #expect(try lines(response, component) == [#""date";req: now"#])
    }
}
