import Crypto
import Foundation
import HTTPTypes
import RunwaySignatures
import Testing

@testable import RunwayCommand

/// `runway verify`, as a process of its own.
@Suite(.timeLimit(.minutes(10)))
struct VerifyTests {
    private let vectors = try? FormatVectors()

    private func verify(_ request: String, _ arguments: String...) async throws -> Tool {
        let vectors = try #require(vectors)
        return try await withTemporaryFolder { folder in
            let key = try folder.privateFile("secret", vectors.secret)
            let serverKey = try folder.privateFile("server", vectors.serverKey)
            let words = arguments.map { $0 == "SERVER" ? serverKey : $0 }
            return try await Tool.run(
                Tool.path, ["verify", "--key", key] + words, input: Array(request.utf8), environment: [:])
        }
    }

    @Test func vectorIsVerifiedAtItsTime() async throws {
        let vectors = try #require(vectors)
        let tool = try await verify(vectors.requests[0], "--at", "1790000030")

        #expect(
            tool.status == 0 && tool.output == "sig1: verified by the key device-7, hmac-sha256\n", "\(tool.errors)")
    }

    @Test func curlCommandIsVerifiedAndItsBasePrinted() async throws {
        let vectors = try #require(vectors)
        let lines = vectors.requests[0].components(separatedBy: "\n")
        let end = try #require(lines.firstIndex(of: ""))
        var words = ["--at", "1790000030", "--base", "--", "curl", "-X", "POST"]
        // All but the first line, and Host, which curl takes from the URL.
        for line in lines[2..<end] { words += ["-H", line] }
        words += ["--data-raw", lines[end + 1], "https://api.example.com/orders/a%2Fb?dry=1&dry=2"]
        try await withTemporaryFolder { folder in
            let key = try folder.privateFile("secret", vectors.secret)
            let tool = try await Tool.run(
                Tool.path, ["verify", "--key", key] + words, input: [], environment: [:])
            #expect(tool.status == 0, "\(tool.output)\(tool.errors)")
            #expect(tool.output == "sig1: verified by the key device-7, hmac-sha256\n\(vectors.bases[0])\n")
        }
    }

    @Test func oldRequestIsRefusedWithAValidSignature() async throws {
        let vectors = try #require(vectors)
        let tool = try await verify(vectors.requests[0], "--at", "1790000200")

        #expect(tool.status == 1)
        #expect(tool.output == "sig1: refused, tooOld: created is too long ago (the signature itself is valid)\n")
        #expect(try await verify(vectors.requests[0], "--loose").status == 0)
    }

    @Test(arguments: [
        ("amount", "amounT", "body"), ("dry=1", "dry=3", "invalid"), ("POST", "PUT", "invalid"),
        (";tag=\"app\"", "", "noSignatureWithTag"), (";nonce=\"n-1\"", "", "parameters"),
        ("sig1=:", "sig2=:", "only one"),
        ("\"@query\" ", "", "coverage"), ("Content-Digest: ", "X: ", "components"),
    ])
    func changedRequestIsRefusedWithItsReason(original: String, changed: String, reason: String) async throws {
        let vectors = try #require(vectors)
        let request = vectors.requests[0].replacing(original, with: changed, maxReplacements: 1)
        let tool = try await verify(request, "--at", "1790000000")

        #expect(tool.status == 1)
        #expect((tool.output + tool.errors).contains(reason), "\(tool.output)\(tool.errors)")
    }

    @Test func requestWithoutSignatureEndsWithOne() async throws {
        let tool = try await verify("GET / HTTP/1.1\nHost: a\n\n")

        #expect(tool.status == 1 && tool.errors == "runway: The request has no signature.\n")
    }

    @Test(arguments: [1, 2])
    func digestsAreVerified(index: Int) async throws {
        let vectors = try #require(vectors)
        let tool = try await verify(vectors.requests[index], "--at", "1790000000")

        #expect(
            tool.status == 0 && tool.output.hasPrefix("runway-digest: verified by the key partner-3"), "\(tool.output)")
        #expect(try await verify(vectors.requests[index]).output.contains("tooOld"))
    }

    @Test func onlyTheServersKeyOpensASealedKey() async throws {
        let vectors = try #require(vectors)
        let options = ["--at", "1790000000", "--server-key", "SERVER", "--server-key-id"]
        let tool = try await verify(
            vectors.requests[3], options[0], options[1], options[2], options[3], options[4], "server-1")
        #expect(tool.status == 0, "\(tool.output)\(tool.errors)")
        let other = try await verify(
            vectors.requests[3], options[0], options[1], options[2], options[3], options[4], "server-2")
        #expect(other.status == 1 && other.output.contains("sealed to server-1"))
        #expect(try await verify(vectors.requests[3], "--at", "1790000000").status == 1)
    }

    @Test func everySignatureHasItsOwnLine() async throws {
        let vectors = try #require(vectors)
        let request = vectors.requests[0].replacing(
            "Signature: sig1",
            with: "Signature-Input: other=(\"@method\");keyid=\"device-7\"\nSignature: other=:AAAA:, sig1")
        let tool = try await verify(request, "--at", "1790000000")

        #expect(tool.status == 1)
        #expect(
            tool.output.contains("sig1: verified") && tool.output.contains("other: refused"),
            "\(tool.output)\(tool.errors)")
        #expect(try await verify(request, "--at", "1790000000", "--label", "sig1").status == 0)
    }

    /// What the middleware of a server refuses.
    @Test func requestThatNoServerAcceptsIsRefused() async throws {
        let vectors = try #require(vectors)
        let request = vectors.requests[0]
        func line(_ name: String) throws -> String {
            let line = request.components(separatedBy: "\n").first { $0.hasPrefix("\(name): ") }
            return String(try #require(line).dropFirst(name.count + 2))
        }
        let (input, signature) = (try line("Signature-Input"), try line("Signature"))
        let twice = request.replacing("Signature-Input: ", with: "Signature-Input: a\(input.dropFirst(3)), ")
            .replacing("Signature: ", with: "Signature: a\(signature.dropFirst(3)), ")
            .replacing("a1=", with: "twin=")
        let absolute = request.replacing("POST /", with: "POST https://api.example.com/")
        let otherHost = request.replacing("\nHost: ", with: "\nHost: user@")
        for (text, reason, count) in [
            (twice, "refused, noSignatureWithTag", 2), (absolute, "refused, malformed", 1),
            (otherHost, "refused, malformed", 1),
        ] {
            let tool = try await verify(text, "--at", "1790000030")
            #expect(tool.status == 1, "\(tool.output)\(tool.errors)")
            #expect(tool.output.components(separatedBy: reason).count == count + 1, "\(tool.output)\(tool.errors)")
        }
        #expect(try await verify(twice, "--at", "1790000030", "--label", "sig1").status == 1)
        #expect(try await verify(twice, "--loose").status == 0)
        let other = try await verify(request, "--at", "1790000030", "--tag", "other")
        #expect(other.status == 1 && other.output.contains("noSignatureWithTag"))
    }

    /// RFC 9421 §4.3: the signature of a proxy covers that of the client.
    @Test func signatureThatCoversAnotherIsVerified() async throws {
        let vectors = try #require(vectors)
        let key = try SigningKey.hmac(SymmetricKey(data: Array("runway test secret 0123456789".utf8)))
        var request = try RequestInput(Array(vectors.requests[0].utf8), scheme: "https").head
        let components: [ComponentIdentifier] = [
            .method, .authority, .path, .query, .contentDigest, .field(.signature).member("sig1"),
        ]
        let parameters = try SignatureParameters(
            components: CoveredComponents(components), created: UnixTime(seconds: 1_790_000_001), nonce: "n-2",
            keyID: "proxy", tag: "proxy")
        request.headerFields.append(
            try await SignatureContext(request).signature(parameters, label: "proxy_sig", by: key))
        let inputs = request.headerFields[values: .signatureInput].joined(separator: ", ")
        let signatures = request.headerFields[values: .signature].joined(separator: ", ")
        let lines = vectors.requests[0].components(separatedBy: "\n").map { line in
            line.hasPrefix("Signature-Input: ")
                ? "Signature-Input: " + inputs : line.hasPrefix("Signature: ") ? "Signature: " + signatures : line
        }
        let tool = try await verify(lines.joined(separator: "\n"), "--at", "1790000030")

        #expect(tool.status == 0, "\(tool.output)\(tool.errors)")
        #expect(tool.output.contains("sig1: verified") && tool.output.contains("proxy_sig: verified"), "\(tool.output)")
        // It is bound to the signature that it covers.
        let changed = lines.joined(separator: "\n").replacing("sig1=:b", with: "sig1=:c")
        let refused = try await verify(changed, "--at", "1790000030", "--label", "proxy_sig")
        #expect(refused.status == 1 && refused.output.contains("invalid"), "\(refused.output)\(refused.errors)")
    }

    @Test func reportForProgramsHasReasonAndBase() async throws {
        let vectors = try #require(vectors)
        let tool = try await verify(vectors.requests[0], "--json")

        #expect(tool.status == 1)
        let report = try #require(
            try JSONSerialization.jsonObject(with: Data(tool.bytes)) as? [String: [[String: Any]]])
        let finding = try #require(report["signatures"]?.first)
        #expect(finding["refusal"] as? String == "tooOld" && finding["isAuthentic"] as? Bool == true)
        #expect(finding["base"] as? String == vectors.bases[0])
    }
}
