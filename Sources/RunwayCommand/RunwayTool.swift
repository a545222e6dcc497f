import ArgumentParser
import Foundation

/// The `runway` command. Its subcommands make calls, run a proxy, serve the demo's backend, and run the demo.
@main
struct RunwayTool: AsyncParsableCommand {
    static let version = "0.1.0"

    static let configuration = CommandConfiguration(
        commandName: "runway",
        abstract: "Make calls through Runway's network layer, and see what it decided.",
        discussion: """
            EXAMPLES
              runway call api.github.com/repos/swiftlang/swift
              runway call httpbin.org/post name=Ada age:=36 --verbose
              runway listen https://api.example.com/events
              runway probe api.github.com
              runway page http://localhost:8080/ --allow shop.json
              runway view coupon.json --data coupon-data.json > coupon.html
              runway links m.example.com
              runway bundle verify site
              runway patch rehearse --bundle dist --records calls.jsonl
              runway demo
              runway serve --port 8443
              runway log actions.sqlite
              runway sync spaces spaces.sqlite
              runway proxy --origin https://api.github.com --listen 127.0.0.1:8080
              runway keys make keys.json --key-id device-7
              runway sign --key keys.json request.http

            EXIT CODES
              0    Everything was fine.
              1    The server refused, its response was not judged fine, or it is
                   not the JSON that it says it is. A signature is refused.
              2    The command line, or a file that it names, can't be used.
              3    No response: no network, no trust (TLS), or a timeout.
              130  Ctrl-C. 143 is SIGTERM. "runway serve" and
                   "runway proxy" end with 0 by either.

            ENVIRONMENT
              NO_COLOR  Set to anything, it turns colours off, unless --color says
                        otherwise. Colours, and the line that shows progress, are
                        used on a terminal alone, and not on one whose TERM is
                        "dumb".
              https_proxy, http_proxy, all_proxy, no_proxy
                        The proxies of "runway call", and the hosts without one.
              XDG_CONFIG_HOME
                        Where "runway call --session" stores its files; ~/.config
                        if it is not set.

            SHELL COMPLETION
              runway --generate-completion-script bash|zsh|fish prints a script. Keep
              it where the shell looks for it:
              bash  ~/.local/share/bash-completion/completions/runway
              zsh   a file named _runway in a folder of fpath
              fish  ~/.config/fish/completions/runway.fish
            """,
        version: namesVersion ? version : "",
        subcommands: [
            CallCommand.self, ListenCommand.self, SignCommand.self, VerifyCommand.self, KeysCommand.self,
            ProbeCommand.self, LinksCommand.self, BundleCommand.self, SyncProbeCommand.self, PageCommand.self,
            ViewCommand.self, PatchCommand.self,
            ProxyCommand.self, DemoCommand.self, ServeCommand.self, LogCommand.self, SyncCommand.self,
            EpochCommand.self,
            DemoLogCommand.self, DemoTrainCommand.self, DemoSavingCommand.self, DemoDevicesCommand.self,
        ])

    /// Whether `--version` can be an option of `runway` itself. The parser would otherwise print the version, and
    /// succeed, if the command line of `bundle publish --version 7` is invalid.
    private static var namesVersion: Bool { CommandLine.arguments.dropFirst().first?.hasPrefix("-") ?? true }

    static func main() async {
        do {
            try checkEncodingOfArguments()
            var command = try await asyncParseAsRoot()
            if var asyncCommand = command as? any AsyncParsableCommand {
                try await asyncCommand.run()
            } else {
                try command.run()
            }
        } catch {
            exit(with: error)
        }
    }

    /// Throws an error if an argument is not UTF-8, since Swift would replace the invalid bytes silently.
    private static func checkEncodingOfArguments() throws {
        let arguments = UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc))
        for (index, argument) in arguments.enumerated() {
            guard let argument, String(validatingCString: argument) == nil else { continue }
            throw CommandFailure("Argument \(index) is not UTF-8: \"\(String(cString: argument))\".")
        }
    }

    /// Prints the error as one sentence, and ends the process.
    private static func exit(with error: any Error) -> Never {
        switch error {
        case let failure as CommandFailure: exit(with: failure)
        case let code as ExitCode: Foundation.exit(code.rawValue)
        case let end as Interruption.Signalled: Foundation.exit(ExitStatus.signalled(end.signal))
        case is BrokenPipe: Foundation.exit(ExitStatus.signalled(SIGPIPE))
        default: break
        }
        if exitCode(for: error).isSuccess {
            // The parser reports help, the version and completion scripts as errors, too.
            try? Console.output.write(fullMessage(for: error) + "\n")
            Foundation.exit(ExitStatus.fine)
        }
        let help = subcommand.map { "runway \($0) --help" } ?? "runway --help"
        // The message lists the values of an option one per line, so they are joined.
        let message = message(for: error).replacing("\n  - ", with: " ")
        let advice = subcommand == CallCommand.configuration.commandName ? CurlHabits.advice(on: message) : nil
        exit(with: CommandFailure("\(advice ?? message.asSentence) See \"\(help)\"."))
    }

    private static func exit(with failure: CommandFailure) -> Never {
        Console.error.report(failure.message)
        Foundation.exit(failure.status)
    }

    /// The subcommand that the command line names; `nil` if it names none.
    private static var subcommand: String? {
        guard CommandLine.argc > 1, let argument = CommandLine.unsafeArgv[1] else { return nil }
        let name = String(cString: argument)
        guard let command = configuration.subcommands.first(where: { $0.configuration.commandName == name }) else {
            return nil
        }
        guard CommandLine.argc > 2, let argument = CommandLine.unsafeArgv[2] else { return name }
        let next = String(cString: argument)
        return command.configuration.subcommands.contains { $0.configuration.commandName == next }
            ? "\(name) \(next)" : name
    }
}

extension String {
    /// The text with a full stop, unless it ends with punctuation already.
    fileprivate var asSentence: String {
        guard let last else { return self }
        return ".!?".contains(last) ? self : self + "."
    }
}
