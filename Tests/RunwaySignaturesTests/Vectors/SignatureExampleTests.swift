import HTTPTypes
import Testing

@testable import RunwaySignatures

/// The signed examples of RFC 9421 §2.4, §3.2, §4.3 and appendix B, byte for byte.
struct SignatureExampleTests {
    @Test(arguments: SignatureExample.all)
    func basesAreThoseOfTheRFC(_ example: SignatureExample) throws {
        let base = try example.context.signatureBase(for: example.signature.parameters)
        #expect(String(decoding: base, as: UTF8.self) == unwrapped(example.base))
    }

    @Test(arguments: SignatureExample.all)
    func signaturesOfTheRFCAreValid(_ example: SignatureExample) throws {
        let signature = try example.signature
        let base = try example.context.signatureBase(for: signature.parameters)
        #expect(signature.parameters.keyID == example.key)
        #expect(try ExampleKeys.verification(example.key).isValid(signature.signature, of: base))
    }

    @Test(arguments: SignatureExample.all)
    func newSignaturesAreValidAndPrintedAlike(_ example: SignatureExample) async throws {
        let printed = try example.signature
        let key = try ExampleKeys.signing(example.key)
        let signed = try await example.context.signature(printed.parameters, label: printed.label, by: key)
        // The systems of Apple add randomness to Ed25519.
        if example.isDeterministic, key.algorithm != .ed25519 { #expect(signed == printed) }
        let base = try example.context.signatureBase(for: printed.parameters)
        #expect(try ExampleKeys.verification(example.key).isValid(signed.signature, of: base))
        var fields = HTTPFields()
        fields.append(signed)
        #expect(try fields.signatures() == [signed])
        #expect(fields[.signatureInput] == "\(printed.label)=\(printed.parameters.serialized)")
    }

    @Test func bothSignaturesOfAProxiedRequestAreRead() throws {
        let fields = try message("GET / HTTP/1.1\n" + SignatureExample.proxies[0].fields).headerFields
        let added = try message("GET / HTTP/1.1\n" + SignatureExample.proxies[1].fields).headerFields
        let signatures = try (fields + added).signatures()
        #expect(signatures.map(\.label) == ["sig1", "proxy_sig"])
        #expect(signatures[1].parameters.algorithm == "rsa-v1_5-sha256")
        #expect(signatures[1].parameters.expires == UnixTime(seconds: 1_618_884_540))
    }
}

/// Appendix B.4: what an intermediary may change, and what it may not.
struct TransformationExampleTests {
    private static let signature = #"""
        Signature-Input: transform=("@method" "@path" "@authority" \
          "accept");created=1618884473;keyid="test-key-ed25519"
        Signature: transform=:ZT1kooQsEHpZ0I1IjCqtQppOmIqlJPeo7DHR3SoMn0s5J\
          Z1eRGS0A+vyYP9t/LXlh5QMFFQ6cpLt2m0pmj3NDA==:
        """#

    private func isValid(_ text: String) throws -> Bool {
        let request = try RunwaySignaturesTests.request(text + "\n" + Self.signature)
        let signature = try #require(try request.headerFields.signatures().first)
        let base = try SignatureContext(request).signatureBase(for: signature.parameters)
        return try ExampleKeys.verification("test-key-ed25519").isValid(signature.signature, of: base)
    }

    @Test(arguments: [
        """
        GET /demo?name1=Value1&Name2=value2 HTTP/1.1
        Host: example.org
        Date: Fri, 15 Jul 2022 14:24:55 GMT
        Accept: application/json
        Accept: */*
        """,
        """
        GET /demo?name1=Value1&Name2=value2&param=added HTTP/1.1
        Host: example.org
        Date: Fri, 15 Jul 2022 14:24:55 GMT
        Accept: application/json
        Accept: */*
        Accept-Language: en-US,en;q=0.5
        """,
        """
        GET /demo?name1=Value1&Name2=value2 HTTP/1.1
        Host: example.org
        Referer: https://developer.example.org/demo
        Accept: application/json, */*
        """,
        """
        GET /demo?name1=Value1&Name2=value2 HTTP/1.1
        Accept: application/json
        Accept: */*
        Date: Fri, 15 Jul 2022 14:24:55 GMT
        Host: example.org
        """,
    ])
    func allowedChangesLeaveTheSignatureValid(_ text: String) throws {
        #expect(try isValid(text))
    }

    @Test(arguments: [
        """
        POST /demo?name1=Value1&Name2=value2 HTTP/1.1
        Host: example.com
        Date: Fri, 15 Jul 2022 14:24:55 GMT
        Accept: application/json
        Accept: */*
        """,
        """
        GET /demo?name1=Value1&Name2=value2 HTTP/1.1
        Host: example.org
        Date: Fri, 15 Jul 2022 14:24:55 GMT
        Accept: */*
        Accept: application/json
        """,
    ])
    func changesOfWhatIsCoveredAreFound(_ text: String) throws {
        #expect(try !isValid(text))
    }
}
