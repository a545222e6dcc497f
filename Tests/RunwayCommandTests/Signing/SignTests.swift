import Crypto
import Foundation
import HTTPTypes
import RunwaySignatures
import Testing

/// `runway sign`, as a process of its own.
@Suite(.timeLimit(.minutes(10)))
struct SignTests {
    private let vectors = try? FormatVectors()

    /// Signs with the secret of the vectors, by which everything is reproducible.
    private func sign(_ request: String, _ arguments: String...) async throws -> Tool {
        let vectors = try #require(vectors)
        return try await withTemporaryFolder { folder in
            let key = try folder.privateFile("secret", vectors.secret)
            return try await Tool.run(
                Tool.path, ["sign", "--key", key, "--created", "1790000000"] + arguments, input: Array(request.utf8),
                environment: [:])
        }
    }

    @Test func signatureIsThatOfTheFormatsPage() async throws {
        let vectors = try #require(vectors)
        let options = ["--key-id", "device-7", "--nonce", "n-1"]
        let tool = try await sign(vectors.unsigned(0), options[0], options[1], options[2], options[3])

        #expect(tool.status == 0 && tool.errors.isEmpty, "\(tool.errors)")
        #expect(tool.output == vectors.fields(0, "Content-Digest", "Signature-Input", "Signature:"))
        let base = try await sign(vectors.unsigned(0), options[0], options[1], options[2], options[3], "--base")
        #expect(base.output == vectors.bases[0])
    }

    @Test(arguments: [(1, "runway-digest-sha-256"), (2, "runway-digest-md5")])
    func digestIsThatOfTheFormatsPage(index: Int, algorithm: String) async throws {
        let vectors = try #require(vectors)
        let tool = try await sign(
            vectors.unsigned(index), "--way", "digest", "--alg", algorithm, "--key-id", "partner-3", "--nonce",
            "AAECAwQFBgcICQoLDA0ODw")

        #expect(tool.output == vectors.fields(index, "Runway-Digest"), "\(tool.errors)")
    }

    @Test func digestLinesAreThoseOfTheFormatsPage() async throws {
        let vectors = try #require(vectors)
        let tool = try await sign(
            vectors.unsigned(1), "--way", "digest", "--key-id", "partner-3", "--nonce", "AAECAwQFBgcICQoLDA0ODw",
            "--base")

        #expect(tool.output == vectors.bases[1])
    }

    @Test func keyOfTheStandardSigns() async throws {
        try await withTemporaryFolder { folder in
            let key = try folder.privateFile("key.pem", RSAPSSKey.text)
            let request = "GET https://api.example.com/orders HTTP/1.1\r\n\r\n"
            let signed = try await Tool.run("sign", "--key", key, "--key-id", "rfc", input: Array(request.utf8))
            #expect(signed.status == 0 && signed.output.contains("keyid=\"rfc\""), "\(signed.errors)")
            let other = try await Tool.run(
                "sign", "--key", key, "--key-id", "rfc", "--alg", "rsa-v1_5-sha256", input: Array(request.utf8))
            #expect(other.status == 2 && other.errors.contains("no key of rsa-v1_5-sha256"), "\(other.errors)")
        }
    }

    @Test func curlCommandIsSignedLikeItsRequest() async throws {
        let vectors = try #require(vectors)
        let curl = """
            curl -sS -X POST 'https://api.example.com/orders/a%2Fb?dry=1&dry=2' \\
              --compressed -H 'Content-Type: application/json' --data-raw $'{"amount": 12}'
            """
        let tool = try await sign(curl, "--key-id", "device-7", "--nonce", "n-1")

        #expect(tool.output == vectors.fields(0, "Content-Digest", "Signature-Input", "Signature:"), "\(tool.errors)")
    }

    @Test func curlCommandMayFollowTheOptions() async throws {
        let tool = try await sign(
            "", "--key-id", "k", "--nonce", "n", "--base", "--", "curl", "-G", "-d", "a=b+c", "-HX: 1",
            "https://example.com:443/x?y")

        #expect(tool.output.contains("\"@query\": ?y&a=b+c\n"), "\(tool.output)\(tool.errors)")
        #expect(tool.output.contains("\"@authority\": example.com\n"))
    }

    @Test func requestOfAnOfflineCallIsSigned() async throws {
        let call = try await Tool.run("call", ":8080/x", "a=1", "--offline")
        let tool = try await sign(
            call.output, "--key-id", "k", "--scheme", "http", "--components", "@target-uri,content-digest")

        #expect(tool.output.contains("(\"@target-uri\" \"content-digest\")"), "\(tool.errors)")
        // Of {"a":"1"}, without the line feed that is printed after it.
        #expect(tool.output.contains("sha-256=:mv6w8rID8lQxLsje1EHQMYt8NMV/hpXt5C0iFaMMCWA=:"))
        let base = try await sign(
            call.output, "--key-id", "k", "--scheme", "http", "--components", "@target-uri", "--base")
        #expect(base.output.hasPrefix("\"@target-uri\": http://localhost:8080/x\n"))
    }

    @Test func componentsHaveTheirParameters() async throws {
        let tool = try await sign(
            "GET /x?id=7 HTTP/1.1\nHost: a\nDate: now\n\n", "--key-id", "k", "--label", "mine", "--components",
            #"@query-param;name="id", date;bs"#, "--name-alg", "--expires", "1790000060", "--nonce", "n")

        let input = #"mine=("@query-param";name="id" "date";bs);created=1790000000;expires=1790000060"#
        #expect(
            tool.output.contains(input + #";nonce="n";alg="hmac-sha256";keyid="k";tag="app""#),
            "\(tool.output)\(tool.errors)")
    }

    @Test func reportForProgramsHasTheBase() async throws {
        let tool = try await sign("GET /x HTTP/1.1\nHost: a\n\n", "--key-id", "k", "--json")

        let report = try #require(try JSONSerialization.jsonObject(with: Data(tool.bytes)) as? [String: Any])
        #expect((report["base"] as? String)?.hasPrefix("\"@method\": GET\n") == true)
        #expect((report["fields"] as? [[String]])?.map { $0[0] } == ["Signature-Input", "Signature"])
    }

    /// The reference checker has nothing of this project.
    @Test(arguments: ["rfc9421", "digest"], ["body\n\n", "body\r\n\r\n"])
    func referenceCheckerAcceptsTheMessage(way: String, body: String) async throws {
        let vectors = try #require(vectors)
        let head = "PUT /a%20b?c=d+e&c=%7E HTTP/1.1\nHost: api.example.com\nContent-Type: text/plain\n\n"
        let signed = try await sign(head + body, "--way", way, "--key-id", "k", "--message")
        try await withTemporaryFolder { folder in
            let file = try folder.privateFile("request", signed.output)
            let checker = FormatVectors.root.appending(path: "Scripts/check-signature.py").path
            let secret = vectors.secret.trimmingCharacters(in: .newlines)
            let tool = try await Tool.run(
                "/usr/bin/env", ["python3", checker, file, "--secret", secret], input: [], environment: [:])
            #expect(tool.status == 0 && tool.output.hasSuffix("valid\n"), "\(tool.output)\(tool.errors)")
        }
    }

    @Test(arguments: ["md5=:AAAAAAAAAAAAAAAAAAAAAA==:", "md5=:AA==:, unixsum=:AA==:"])
    func referenceCheckerRefusesUnknownDigests(digest: String) async throws {
        let vectors = try #require(vectors)
        // A signature that is valid, and covers a digest that says nothing to the checker.
        var request = HTTPRequest(
            method: .post, scheme: "https", authority: "a", path: "/x", headerFields: [.contentDigest: digest])
        let parameters = try SignatureParameters(
            components: CoveredComponents([.method, .contentDigest]), created: UnixTime(seconds: 1_790_000_000),
            keyID: "k")
        let key = try SigningKey.hmac(SymmetricKey(data: Array("runway test secret 0123456789".utf8)))
        request.headerFields.append(try await SignatureContext(request).signature(parameters, by: key))
        let fields = request.headerFields.map { "\($0.name.rawName): \($0.value)\n" }.joined()
        try await withTemporaryFolder { folder in
            let file = try folder.privateFile("request", "POST /x HTTP/1.1\nHost: a\n\(fields)\nany body")
            let tool = try await runChecker(file, "--secret", vectors.secret.trimmingCharacters(in: .newlines))
            #expect(tool.status != 0 && tool.errors.contains("no digest by sha-256"), "\(tool.output)\(tool.errors)")
        }
    }

    /// Needs the Python package cryptography, as all that is not a hash does.
    private func runChecker(_ arguments: String...) async throws -> Tool {
        let checker = FormatVectors.root.appending(path: "Scripts/check-signature.py").path
        return try await Tool.run("/usr/bin/env", ["python3", checker] + arguments, input: [], environment: [:])
    }

    @Test(.enabled { try await Self.hasCryptography() })
    func referenceCheckerAcceptsTheFormatsPagesVectors() async throws {
        let page = FormatVectors.root.appending(path: "docs/formats.md").path
        let tool = try await runChecker("--vectors", page)
        #expect(tool.status == 0 && tool.output.hasSuffix("\n4 vectors\n"), "\(tool.output)\(tool.errors)")
        // A page with another secret, or with a changed request, is refused.
        for (original, changed) in [("secret: `cnV", "secret: `dnV"), ("amount", "amounT")] {
            try await withTemporaryFolder { folder in
                let text = try String(contentsOfFile: page, encoding: .utf8)
                let copy = try folder.privateFile("page.md", text.replacing(original, with: changed))
                #expect(try await runChecker("--vectors", copy).status == 1)
            }
        }
    }

    @Test(.enabled { try await Self.hasCryptography() }, arguments: ["ecdsa-p256-sha256", "rsa-pss-sha512"])
    func referenceCheckerVerifiesByAPublicKey(algorithm: String) async throws {
        try await withTemporaryFolder { folder in
            let keys = folder.appending(path: "keys.json").path
            let made = try await Tool.run("keys", "make", keys, "--key-id", "k", "--alg", algorithm)
            let request = "PUT /a%20b?c=d+e HTTP/1.1\nHost: api.example.com\n\nbody\n"
            let signed = try await Tool.run("sign", "--key", keys, "--message", input: Array(request.utf8))
            #expect(made.status == 0 && signed.status == 0, "\(made.errors)\(signed.errors)")
            let pem = try folder.privateFile("key.pem", made.output)
            let file = try folder.privateFile("request", signed.output)
            let tool = try await runChecker(file, "--public-key", pem)
            #expect(tool.status == 0 && tool.output.hasSuffix("\nvalid\n"), "\(tool.output)\(tool.errors)")
            let changed = try folder.privateFile("changed", signed.output.replacing("c=d+e", with: "c=d+f"))
            let refused = try await runChecker(changed, "--public-key", pem)
            #expect(refused.status == 1 && refused.output.hasSuffix("\nINVALID\n"), "\(refused.errors)")
        }
    }

    /// Whether Python has the package, or must have it.
    private static func hasCryptography() async throws -> Bool {
        if ProcessInfo.processInfo.environment["RUNWAY_REQUIRE_INTEGRATION"] == "1" { return true }
        let arguments = ["python3", "-c", "import cryptography"]
        return try await Tool.run("/usr/bin/env", arguments, input: [], environment: [:]).status == 0
    }

    @Test(arguments: [
        ("", "empty"), ("nonsense", "the first line"), ("HTTP/1.1 200 OK\n\n", "response"),
        ("GET / HTTP/1.1\nHost: a\nHost: b\n\n", "Host"),
        ("POST / HTTP/1.1\nHost: a\nContent-Length: 9\n\nshort", "Content-Length"),
        ("POST / HTTP/1.1\nHost: a\nTransfer-Encoding: chunked\n\n0\n\n", "Transfer-Encoding"),
        ("POST / HTTP/1.1\nHost: a\nContent-Digest: sha-256=:AAAA:\n\nx", "digest"),
        ("GET /\u{E9} HTTP/1.1\nHost: a\n\n", "@path"), ("GET / HTTP/1.1\n\n", "@authority"),
        ("curl https://a/ -F a=b", "--form"), ("curl https://a/ --bogus", "--bogus"),
        ("curl https://a/ b", "several URLs"),
        ("curl https://a/ -H \"X: $Y\"", "$"), ("curl 'https://a/", "not closed"), ("curl", "first line"),
        ("curl -s", "no URL"), ("curl https://a/ | sh", "outside of quotes"),
    ])
    func whatIsNoRequestIsRefused(input: String, word: String) async throws {
        let tool = try await sign(input, "--key-id", "k")

        #expect(tool.status == 2)
        #expect(tool.bytes.isEmpty)
        #expect(tool.errors.contains(word) && tool.errors.hasPrefix("runway: "), "\(tool.errors)")
    }

    @Test func secretThatOthersCanReadIsRefused() async throws {
        try await withTemporaryFolder { folder in
            let key = try folder.privateFile("secret", "cnVud2F5IHRlc3Qgc2VjcmV0IDAxMjM0NTY3ODk=")
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: key)
            let tool = try await Tool.run(
                "sign", "--key", key, "--key-id", "k", input: Array("GET / HTTP/1.1\nHost: a\n\n".utf8))

            #expect(tool.status == 2 && tool.bytes.isEmpty)
            #expect(tool.errors.contains("chmod 600") && !tool.errors.contains("cnVud2F5"))
        }
    }
}
