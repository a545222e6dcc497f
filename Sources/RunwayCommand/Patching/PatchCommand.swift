import ArgumentParser

/// `runway patch`: tests patches before they are published.
struct PatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "patch", abstract: "Rehearse the scripts of a bundle with recorded calls.",
        usage: "runway patch <subcommand>",
        discussion: """
            A test device records calls of the app's points, if the app sets
            recordedCalls of its ScriptRuntime. "rehearse" runs them through the
            scripts of a folder before "runway bundle publish" publishes it.

            An engine is part of runway only if it was built with its trait:
            swift build --traits defaults,Scripts,Lua

            EXAMPLES
              runway patch rehearse --bundle dist --records calls.jsonl

            EXIT CODES
              0    Each result is the one of the native function.
              1    A result differs, a script failed, or nothing was rehearsed.
              2    The command line or a file can't be used, or there is no engine
                   for the scripts.
              130  Ctrl-C. 143 is SIGTERM.
            """,
        subcommands: [RehearsePatch.self])
}
