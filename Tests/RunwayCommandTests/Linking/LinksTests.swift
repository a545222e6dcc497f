import Foundation
import HTTPTypes
import RunwayDemo
import RunwayTestServer
import Testing

@testable import RunwayCommand

/// `runway links`.
@Suite(.timeLimit(.minutes(10)))
struct LinksTests {
    private static let app = "ABCDE12345.com.example.shop"
    private static let document = """
        {"applinks":{"details":[{"appIDs":["\(app)"],"components":[
          {"/":"/o/new","exclude":true},{"/":"/o/*"},{"/":"/orders/*","?":{"id":"?*"}}]}]}}
        """

    /// Serves a response at the path of the document, over TLS, and runs the command.
    private func links(
        _ response: ScriptedResponse, addresses: String? = nil, _ options: [String] = []
    ) async throws -> Tool {
        let certificate = try DemoCertificate()
        return try await withScriptedOrigin(tls: certificate.serverConfiguration()) { origin in
            origin.otherwise(respond: response)
            return try await withTemporaryFolder { folder in
                let authority = folder.appendingPathComponent("ca.pem").path
                try Data(certificate.authorityPEM.utf8).write(to: URL(fileURLWithPath: authority))
                var arguments = ["links", "localhost", "--port", "\(origin.port)", "--cacert", authority] + options
                if let addresses {
                    let file = folder.appendingPathComponent("addresses.txt")
                    try Data(addresses.utf8).write(to: file)
                    arguments += ["--addresses", file.path]
                }
                let tool = try await Tool.run(Tool.path, arguments, input: [], environment: [:])
                #expect(origin.requests.allSatisfy { $0.path == "/.well-known/apple-app-site-association" })
                #expect(origin.requests.count == 1)
                return tool
            }
        }
    }

    @Test func patternsOfTheDocumentArePrinted() async throws {
        let tool = try await links(.json(Self.document))
        #expect(tool.status == 0 && tool.errors.isEmpty)
        #expect(tool.output == "\(Self.app)\n  not /o/new\n  /o/*\n  /orders/*?id=?*\n")
    }

    @Test func addressesThatMissAreNamed() async throws {
        let addresses = """
            # mails of 2026
            https://localhost/o/7
            app://orders/list
              https://LOCALHOST/orders/order?id=7&tab=a#b
            https://localhost/o/new
            https://localhost/orders/order?tab=a
            https://localhost.evil.example/o/7
            """
        let tool = try await links(.json(Self.document), addresses: addresses)
        #expect(tool.status == 1)
        #expect(
            tool.output == """
                opens   https://localhost/o/7  /o/*
                opens   https://LOCALHOST/orders/order?id=7&tab=a#b  /orders/*?id=?*
                missed  https://localhost/o/new  no pattern fits
                missed  https://localhost/orders/order?tab=a  no pattern fits
                missed  https://localhost.evil.example/o/7  another host

                """)
        #expect(tool.errors == "runway: 3 of 5 addresses do not open the app.\n")
    }

    @Test func coveredAddressesAreFine() async throws {
        let tool = try await links(
            .json(Self.document), addresses: "https://localhost/o/7", ["--app", Self.app, "--color", "always"])
        #expect(tool.status == 0 && tool.output.contains("\u{1B}[32mopens"))
        let other = try await links(.json(Self.document), addresses: "https://localhost/o/7", ["--app", "A.other"])
        #expect(other.status == 1 && other.errors.contains("does not name the app A.other"))
    }

    @Test(arguments: [
        (ScriptedResponse.redirect(to: "https://localhost/other"), "redirected (302)"),
        (.json(document, status: .notFound), "the status 404"), (.text(document), "needs application/json"),
        (ScriptedResponse(chunks: [Array(document.utf8)]), "has no Content-Type"), (.json("{"), "is no JSON"),
        (.json("[]"), "is no JSON"), (.json(#"{"applinks":{"details":[]}}"#), "no details"),
        (.json(#"{"applinks":{"details":[{"components":[]}]}}"#), "without appIDs"),
        (.json(#"{"applinks":{"details":[{"appID":"A.b","paths":["/$(lang)/*"]}]}}"#), "variable"),
        (.json(document + String(repeating: " ", count: 128 << 10)), "at most 131072"),
    ])
    func refusedDocumentsAreExplained(response: ScriptedResponse, words: String) async throws {
        let tool = try await links(response)
        #expect(tool.status == 1 && tool.output.isEmpty)
        #expect(tool.errors.contains(words), "\(tool.errors)")
        #expect(tool.errors.split(separator: "\n").count == 1)
    }

    @Test func filesNeedNoServer() async throws {
        try await withTemporaryFolder { folder in
            let document = folder.appendingPathComponent("a.json").path
            try Data(Self.document.utf8).write(to: URL(fileURLWithPath: document))
            let tool = try await Tool.run("links", "m.example.com", "--document", document)
            #expect(tool.status == 0 && tool.output.contains("/o/*"))
            let empty = try await Tool.run(
                "links", "m.example.com", "--document", document, "--addresses", "/dev/null")
            #expect(empty.status == 2 && empty.errors.contains("no address"))
        }
    }

    @Test func silentServersAreNoResponse() async throws {
        #expect(try await Tool.run("links", "localhost", "--port", "1").status == 3)
    }

    @Test(arguments: [
        ["links"], ["links", ""], ["links", "https://a.test"], ["links", "a.test:443"],
        ["links", "a.test", "--port", "0"],
        ["links", "a.test", "--document", "/nowhere"], ["links", "a.test", "--addresses", "/nowhere"],
        ["links", "a\u{1B}[31m.test"],
    ])
    func invalidLinesAreAUsageError(arguments: [String]) async throws {
        let tool = try await Tool.run(Tool.path, arguments, input: [], environment: [:])
        #expect(tool.status == 2 && tool.output.isEmpty && !tool.errors.contains("\u{1B}[31m."))
        #expect(tool.errors.split(separator: "\n").count == 1)
    }

    @Test(arguments: [
        ("/o/*", "/o/7", true), ("/o/*", "/o/", true), ("/o/*", "/o", false), ("/o/?*", "/o/", false),
        ("*/pay/*", "/a/pay/b/pay/c", true), ("/o/7", "/O/7", false), ("/%C3%A4", "/%C3%A4", true), ("*", "/", true),
        ("NOT /o/*", "/o/7", true), ("/a*b*c", "/axxbxx", false),
        ("/" + String(repeating: "*a", count: 200), "/" + String(repeating: "a", count: 4000) + "b", false),
    ])
    func patternsFitAsTheyAreDocumented(pattern: String, path: String, fits: Bool) {
        #expect(AddressPattern(path: pattern).fits(AddressParts("https://m.example.com\(path)")) == fits)
    }

    @Test(arguments: [
        (#"{"/":"/ä*","percentEncoded":false}"#, "/%C3%A4b", true), (#"{"/":"/A","caseSensitive":false}"#, "/a", true),
        (#"{"?":"a=*"}"#, "/?a=1", true), (#"{"?":"a=*"}"#, "/?b=1", false), (##"{"#":"to?"}"##, "/#top", true),
        (#"{"?":{"a":"?"}}"#, "/?a=1&a=22", false), (#"{"?":{"a":"*"}}"#, "/", true), ("{}", "/any?a#b", true),
    ])
    func componentsFitAsTheyAreDocumented(component: String, path: String, fits: Bool) throws {
        let document = #"{"applinks":{"details":[{"appID":"A.b","components":[\#(component)]}]}}"#
        let association = try AssociationDocument(Array(document.utf8))
        #expect((association.pattern(of: "https://m.example.com\(path)", in: nil) != nil) == fits)
    }
}
