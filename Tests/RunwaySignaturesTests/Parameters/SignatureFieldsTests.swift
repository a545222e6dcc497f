import HTTPTypes
import Testing

@testable import RunwaySignatures

/// `Signature-Input`, `Signature` and `Accept-Signature`: what is read, what is refused, and within which bounds.
struct SignatureFieldsTests {
    private func fields(_ input: String, _ signature: String = "a=:AA==:") -> HTTPFields {
        [.signatureInput: input, .signature: signature]
    }

    @Test func parametersRetainTheirOrder() throws {
        let input =
            #"a=("@method" "x";key="b";req);tag="t";foo=1.50;created=7;bar;keyid="k\"\\";nonce="n";alg="x"# + "\""
        let parameters = try #require(fields(input).signatures().first).parameters
        #expect(
            parameters.serialized
                == #"("@method" "x";key="b";req);tag="t";foo=1.5;created=7;bar;keyid="k\"\\";nonce="n";alg="x""#)
        #expect(parameters.created == UnixTime(seconds: 7))
        #expect(
            [parameters.tag, parameters.keyID, parameters.nonce, parameters.algorithm] == ["t", "k\"\\", "n", "x"])
    }

    @Test func whitespaceIsSerialisedStrictly() throws {
        let fields = fields("a=(  \"@method\"   \"@path\"  );   created=7 ")
        #expect(try fields.signatures().first?.parameters.serialized == #"("@method" "@path");created=7"#)
    }

    @Test func labelsMayStandInAnyOrderAndLine() throws {
        var fields = fields("a=(), b=()", "b=:Yg==:")
        fields.append(HTTPField(name: .signature, value: "a=:YQ==:"))
        #expect(
            try fields.signatures().map { $0.label + String(decoding: $0.signature, as: UTF8.self) } == ["aa", "bb"])
        #expect(try HTTPFields().signatures().isEmpty)
    }

    @Test(arguments: [
        ("a=()", "b=:AA==:", SignatureError.Reason.mismatchedLabels), ("a=(), b=()", "a=:AA==:", .mismatchedLabels),
        ("a=()", "", .mismatchedLabels), ("", "a=:AA==:", .mismatchedLabels),
        ("a=(), a=()", "a=:AA==:", .duplicateName),
        ("a=()", "a=:AA==:, a=:AA==:", .duplicateName), (#"a=();created=1;created=2"#, "a=:AA==:", .duplicateName),
        (#"a=("x";sf;sf)"#, "a=:AA==:", .duplicateName), (#"a=("x" "x")"#, "a=:AA==:", .duplicateComponent),
        (#"a=("x";bs;req "x";req;bs)"#, "a=:AA==:", .duplicateComponent), ("a=(x)", "a=:AA==:", .unknownComponent),
        (#"a=("@signature-params")"#, "a=:AA==:", .unknownComponent), ("a=1", "a=:AA==:", .notStructured),
        ("a=()", "a=AA", .notStructured), ("a=()", "a=(:AA==:)", .notStructured), ("a=()", "a=:A:", .notStructured),
        ("a=(", "a=:AA==:", .notStructured), ("a=();created=\"1\"", "a=:AA==:", .invalidValue),
        ("a=();keyid=x", "a=:AA==:", .invalidValue), ("a=();created=1.0", "a=:AA==:", .invalidValue),
        ("A=()", "A=:AA==:", .notStructured), ("a=(),", "a=:AA==:", .notStructured),
        ("a=();created", "a=:AA==:", .invalidValue),
        ("a=();created=9999999999999999", "a=:AA==:", .notStructured), ("a=(\"ä\")", "a=:AA==:", .notStructured),
    ])
    func brokenFieldsAreRefused(_ input: String, _ signature: String, _ reason: SignatureError.Reason) {
        #expect { try fields(input, signature).signatures() } throws: { ($0 as? SignatureError)?.reason == reason }
    }

    @Test func aMegabyteIsRefusedUnread() {
        for text in [
            "a=" + String(repeating: "(", count: 1_000_000), "a=()" + String(repeating: ";x", count: 500_000),
            String(repeating: "a,", count: 500_000), "a=(\"" + String(repeating: "x", count: 1_000_000) + "\")",
        ] {
            #expect(throws: SignatureError(.tooLarge, "signature-input")) { try fields(text).signatures() }
        }
    }

    @Test func numbersOfLabelsAndComponentsAreBounded() throws {
        let labels = (0..<9).map { "l\($0)" }
        let input = labels.map { "\($0)=()" }.joined(separator: ", ")
        let values = labels.map { "\($0)=:AA==:" }.joined(separator: ", ")
        #expect(throws: SignatureError(.tooLarge, "signature-input")) { try fields(input, values).signatures() }
        let many = "a=(" + (0..<65).map { "\"x\($0)\"" }.joined(separator: " ") + ")"
        #expect(throws: SignatureError(.tooLarge, "a")) { try fields(many).signatures() }
        var limits = SignatureLimits()
        limits.maximumSignatures = 9
        #expect(try fields(input, values).signatures(within: limits).count == 9)
    }

    @Test func unknownComponentsOfOtherSignaturesAreRead() throws {
        let fields = fields(#"a=("@method"), b=("@new";x=1)"#, "a=:AA==:, b=:AA==:")
        #expect(try fields.signatures()[1].parameters.serialized == #"("@new";x=1)"#)
    }

    @Test func identifiersEqualWhateverTheOrderOfParameters() throws {
        let (one, other) = (
            ComponentIdentifier.field(.date).ofRequest.asBytes, ComponentIdentifier.field(.date).asBytes.ofRequest
        )
        #expect(one == other)
        #expect(one.hashValue == other.hashValue)
        #expect(one.serialized != other.serialized)
        #expect(throws: SignatureError(.duplicateComponent, other.serialized)) { try CoveredComponents([one, other]) }
        #expect(ComponentIdentifier.queryParameter("a") != .queryParameter("b"))
    }

    @Test func stringsOutsideASCIIAreRefused() throws {
        let none = try CoveredComponents([])
        #expect(throws: SignatureError(.invalidValue, "keyid")) {
            try SignatureParameters(components: none, keyID: "ä")
        }
        #expect(throws: SignatureError(.invalidValue, "nonce")) {
            try SignatureParameters(components: none, nonce: "a\n")
        }
        let parameters = try SignatureParameters(components: none)
        #expect(throws: SignatureError(.invalidValue, "label")) {
            try LabelledSignature(label: "A", parameters: parameters, signature: [])
        }
    }

    @Test func acceptSignatureGoesBothWays() throws {
        // RFC 9421 §5.1.
        let covered = #"("@method" "@target-uri" "@authority" "content-digest" "cache-control")"#
        let text = #"sig1=\#(covered);keyid="test-key-rsa-pss";created;tag="app-123""#
        let fields: HTTPFields = [.acceptSignature: text]
        let request = try #require(fields.signatureRequests().first)
        let components = try CoveredComponents([.method, .targetURI, .authority, .contentDigest, .field(.cacheControl)])
        let expected = try SignatureRequest(
            label: "sig1", components: components, keyID: "test-key-rsa-pss", tag: "app-123")
        #expect(request == expected)
        var again = HTTPFields()
        try again.append(request)
        #expect(again[.acceptSignature] == #"sig1=\#(covered);created;keyid="test-key-rsa-pss";tag="app-123""#)
        #expect(try again.signatureRequests() == [request])
        let unknown: HTTPFields = [.acceptSignature: #"a=();alg="new""#]
        #expect(try unknown.signatureRequests().first?.namesUnknownAlgorithm == true)
    }
}
