import Foundation
import Testing

/// The help, the version and the completion scripts.
@Suite(.timeLimit(.minutes(10)))
struct HelpTests {
    @Test(arguments: [[], ["call"], ["serve"], ["demo"], ["proxy"]])
    func everyCommandExplainsItselfWithExamplesAndExitCodes(command: [String]) async throws {
        let tool = try await Tool.run(Tool.path, command + ["--help"], input: [], environment: [:])

        #expect(tool.status == 0)
        #expect(tool.output.contains("EXAMPLES\n  runway "))
        #expect(tool.output.contains("EXIT CODES\n  0 "))
        #expect(tool.output.contains("USAGE: runway"))
        #expect(tool.errors.isEmpty)
        // Where no terminal says otherwise, help is wrapped at 80; a line that was wrapped would have lost its indentation.
        let lines = tool.output.split(separator: "\n").prefix { !$0.hasPrefix("USAGE") }
        #expect(lines.allSatisfy { $0.count <= 80 })
    }

    @Test func theVersionIsOneLine() async throws {
        #expect(try await Tool.run("--version").output == "0.1.0\n")
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func completionScriptsKnowTheCommands(shell: String) async throws {
        let tool = try await Tool.run("--generate-completion-script", shell)

        #expect(tool.status == 0)
        for word in ["call", "serve", "demo", "proxy", "show-secrets"] { #expect(tool.output.contains(word)) }
    }

    @Test func bashReadsItsCompletionScript() async throws {
        let tool = try await Tool.shell("runway --generate-completion-script bash | bash -n")

        #expect(tool.status == 0)
        #expect(tool.errors.isEmpty)
    }
}
