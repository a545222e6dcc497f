import Foundation
import Runway
import RunwayTestServer
import Testing

@testable import RunwayCommand

/// Whom a call trusts, what it shows of itself, and which proxy it uses.
@Suite(.timeLimit(.minutes(10)))
struct ConnectionTests {
    @Test func unverifiedCertificateIsAcceptedWithAWarning() async throws {
        let server = try RunningTool("serve")
        let greeting = try await server.wait(for: "Ctrl-C stops it.")
        let url = "https://127.0.0.1:\(try #require(greeting.firstMatch(of: /https:\/\/127\.0\.0\.1:(\d+)/)).1)/zf/list"
        #expect(try await Tool.run("call", url).status == 3)
        let tool = try await Tool.run("call", url, "-k")
        #expect(tool.status == 0 && tool.output.contains("{"))
        #expect(tool.errors.hasPrefix("runway: warning: The certificate of 127.0.0.1 is not verified"))
        server.signal(SIGINT)
        _ = await server.end()
    }

    @Test func passwordIsAskedForWithoutEcho() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("fine"))
            let tool = try RunningTool("call", "\(origin.baseURL)/x", "-a", "ada", streams: .terminal)
            try await tool.wait(for: "Password for ada at 127.0.0.1: ")
            try tool.type("s3cret")

            #expect(await tool.end() == 0)
            #expect(!tool.output.contains("s3cret"))
            #expect(origin.requests.map { $0["Authorization"] } == ["Basic YWRhOnMzY3JldA=="])
        }
    }

    @Test func passwordNeedsATerminal() async throws {
        let tool = try await Tool.run("call", "http://127.0.0.1:1/", "-a", "ada")
        // A test may run at a terminal, where the question would wait for a person; elsewhere there is none.
        if open("/dev/tty", O_RDWR) < 0 { #expect(tool.status == 2 && tool.errors.contains("There is no terminal")) }
    }

    @Test func transportFailureNamesTheFileIfAny() {
        let error = NetworkError(.invalidConfiguration, in: .transporting, "TLS can't be set up.")
        #expect(CommandFailure(error, cacert: nil).message == "TLS can't be set up.")
        #expect(CommandFailure(error, cacert: "a.pem").message.contains("\"a.pem\" of --cacert"))
    }

    @Test func mistypedOptionNamesTheRightOne() async throws {
        let tool = try await Tool.run("call", "http://127.0.0.1:1/", "--fomr")
        #expect(tool.status == 2 && tool.errors.contains("Did you mean '--form'?"))
    }

    /// A call through a proxy that cannot look its host up; returns both outputs.
    private func call(_ options: [String], environment: @Sendable (String) -> [String: String]) async throws -> (
        Tool, String
    ) {
        var tool: Tool?
        let (output, _) = try await forwarding { proxy in
            let url = "http://ada:s3cret@127.0.0.1:\(proxy.port)"
            let words = options.map { $0 == "URL" ? url : $0 }
            tool = try await Tool.run(
                Tool.path, ["call", "https://origin.invalid/x", "-v"] + words, input: [], environment: environment(url))
        }
        return (try #require(tool), output)
    }

    @Test(arguments: [
        (["--proxy", "URL"], "HTTPS_PROXY", "http://127.0.0.1:1"), ([], "HTTPS_PROXY", "URL"), ([], "all_proxy", "URL"),
    ])
    func proxyIsAskedForTheHost(options: [String], variable: String, value: String) async throws {
        let (tool, output) = try await call(options) { [variable: value == "URL" ? $0 : value] }
        #expect(tool.status == 3)
        #expect(output.contains("CONNECT origin.invalid:443 failed"))
        #expect(!(tool.errors + tool.output).contains("s3cret"))
    }

    /// To look at the calls to a server of one's own.
    @Test(arguments: [true, false])
    func proxyOfTheCommandLineIncludesThisMachine(_ isOption: Bool) async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("fine"))
            let (output, _) = try await forwarding("--allow-local") { proxy in
                let tool = try await Tool.run(
                    Tool.path, ["call", "\(origin.baseURL)/x"] + (isOption ? ["--proxy", proxy.url] : []), input: [],
                    environment: ["http_proxy": proxy.url])
                #expect(tool.status == 0 && tool.output.contains("fine"), "\(tool.errors)")
            }
            #expect(output.contains("GET /x → 200") == isOption, "\(output)")
        }
    }

    @Test func unusableProxyVariableFailsOnlyItsCalls() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("fine"))
            func call(_ url: String, _ environment: [String: String]) async throws -> Tool {
                try await Tool.run(Tool.path, ["call", url], input: [], environment: environment)
            }
            let unusable = ["ALL_PROXY": "socks://127.0.0.1:1"]
            #expect(try await call("\(origin.baseURL)/x", unusable).output.contains("fine"))
            let far = try await call("https://origin.invalid/x", unusable)
            #expect(far.status == 2 && far.errors.contains("ALL_PROXY"), "\(far.errors)")
            let excluded = try await call("https://origin.invalid/x", unusable.merging(["no_proxy": "*"]) { $1 })
            #expect(excluded.status == 3 && !excluded.errors.contains("ALL_PROXY"), "\(excluded.errors)")
        }
        let explicit = try await Tool.run("call", "https://origin.invalid/", "--proxy", "socks://127.0.0.1:1")
        #expect(explicit.status == 2 && explicit.errors.contains("--proxy needs"), "\(explicit.errors)")
    }

    @Test(arguments: [(["--proxy", "none"], ""), ([], ".invalid")])
    func noProxyIsUsedIfExcluded(options: [String], excluded: String) async throws {
        let (tool, output) = try await call(options) { ["HTTPS_PROXY": $0, "NO_PROXY": excluded] }
        #expect(tool.status == 3)
        #expect(!output.contains("CONNECT"))
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl"), "openssl is not installed"))
    func clientCertificateIsShownToTheServer() async throws {
        try await withTemporaryFolder { folder in
            let tool = try await Tool.shell(
                """
                cd '\(folder.path)' && exec 2>errors
                openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=localhost \
                  -addext subjectAltName=DNS:localhost -keyout server.key -out server.pem
                openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=ada-client \
                  -keyout client.key -out client.pem
                mkfifo said
                openssl s_server -accept 127.0.0.1:0 -cert server.pem -key server.key \
                  -Verify 1 -CAfile client.pem -www > said & server=$!
                exec 3<said
                while read -r line <&3; do case $line in ACCEPT*) break;; esac; done
                port=${line##*:}
                cat <&3 >/dev/null &
                runway call "https://localhost:$port/" --cacert server.pem --http1 >/dev/null; echo "without: $?"
                runway call "https://localhost:$port/" --cacert server.pem --http1 --cert client.pem --key client.key
                echo "with: $?"
                cat client.pem client.key > both.pem
                runway call "https://localhost:$port/" --cacert server.pem --http1 --cert both.pem >/dev/null
                echo "both: $?"
                kill $server
                """)
            #expect(tool.output.contains("without: 3"))
            #expect(tool.output.contains("ada-client"))
            #expect(tool.output.contains("with: 0\n") && tool.output.contains("both: 0\n"), "\(tool.output)")
        }
    }
}
