import Foundation
import Testing

/// The help, the version and the completion scripts.
@Suite(.timeLimit(.minutes(10)))
struct HelpTests {
    @Test(arguments: [
        [], ["call"], ["listen"], ["probe"], ["serve"], ["log"], ["epoch"], ["demo"], ["proxy"], ["sign"], ["verify"],
        ["keys"], ["sync"], ["page"], ["view"], ["links"], ["bundle"], ["patch"],
    ])
    func everyCommandsHelpHasExamplesAndExitCodes(command: [String]) async throws {
        let tool = try await Tool.run(Tool.path, command + ["--help"], input: [], environment: [:])

        #expect(tool.status == 0)
        #expect(tool.output.contains("EXAMPLES\n  runway "))
        #expect(tool.output.contains("EXIT CODES\n  0 "))
        #expect(tool.output.contains("USAGE: runway"))
        #expect(tool.errors.isEmpty)
        let long = tool.output.split(separator: "\n").filter { $0.count > 80 }
        #expect(long.isEmpty, "\(long)")
    }

    @Test func callAndListenHaveTheSameConnectionOptions() async throws {
        let helps = try await [Tool.run("call", "--help").output, Tool.run("listen", "--help").output]
        for option in ["--timeout <seconds>", "--proxy <url>", "--cacert <file>", "-k, --insecure", "--http1"] {
            let texts = helps.map { help in help.components(separatedBy: "\n  \(option) ").last?.prefix { $0 != "\n" } }
            #expect(texts[0] == texts[1], "\(option)")
        }
    }

    @Test func everySubcommandIsMeasured() async throws {
        let help = try await Tool.run("--help").output
        let names = help.components(separatedBy: "SUBCOMMANDS:")[1].matches(of: #/(?m)^  (\w+)  /#).map { String($0.1) }
        #expect(
            Set(names) == [
                "call", "listen", "probe", "serve", "log", "epoch", "demo", "proxy", "sign", "verify", "keys",
                "sync", "page", "view", "links", "bundle", "patch",
            ])
    }

    @Test(arguments: ["make", "list", "rotate", "revoke", "export", "embed"])
    func everyCommandForKeysFits80Columns(name: String) async throws {
        let tool = try await Tool.run("keys", name, "--help")

        #expect(tool.status == 0 && tool.output.contains("USAGE: runway keys \(name)"))
        #expect(tool.output.split(separator: "\n").allSatisfy { $0.count <= 80 })
    }

    @Test(arguments: ["spaces", "devices", "log", "trim", "epoch", "backup", "close"])
    func everyCommandForSpacesFits80Columns(name: String) async throws {
        let tool = try await Tool.run("sync", name, "--help")

        #expect(tool.status == 0 && tool.output.contains("USAGE: runway sync \(name)"))
        #expect(tool.output.split(separator: "\n").allSatisfy { $0.count <= 80 })
    }

    @Test(arguments: [
        "init", "publish", "change", "tally", "rollback", "renew", "verify", "status", "rotate", "revoke", "serve",
        "tuf",
    ])
    func everyCommandForBundlesFits80Columns(name: String) async throws {
        let tool = try await Tool.run("bundle", name, "--help")

        #expect(tool.status == 0 && tool.output.contains("USAGE: runway bundle \(name)"))
        #expect(tool.output.split(separator: "\n").allSatisfy { $0.count <= 80 })
    }

    @Test func helpOfRehearsalsFits80Columns() async throws {
        let tool = try await Tool.run("patch", "rehearse", "--help")

        #expect(tool.status == 0 && tool.output.contains("USAGE: runway patch rehearse"))
        #expect(tool.output.split(separator: "\n").allSatisfy { $0.count <= 80 })
    }

    @Test func theVersionIsOneLine() async throws {
        #expect(try await Tool.run("--version").output == "0.1.0\n")
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func completionScriptsKnowTheCommands(shell: String) async throws {
        let tool = try await Tool.run("--generate-completion-script", shell)

        #expect(tool.status == 0)
        for word in ["call", "serve", "demo", "proxy", "show-secrets", "PATCH", "verify", "rotate"] {
            #expect(tool.output.contains(word))
        }
    }

    @Test func bashReadsItsCompletionScript() async throws {
        let tool = try await Tool.shell("runway --generate-completion-script bash | bash -n")

        #expect(tool.status == 0)
        #expect(tool.errors.isEmpty)
    }
}
