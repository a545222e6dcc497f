import ArgumentParser
import RunwaySignatures

/// `runway keys export`: prints the key file for a server, without private keys.
struct ExportKeys: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Print the file that a server needs, without private keys.",
        usage: "runway keys export <file> [--secrets]")

    @OptionGroup var file: KeyFileArgument

    @Flag(help: "Include the secrets that both sides have.")
    var secrets = false

    func run() throws {
        var entries: [KeyEntry] = []
        for var entry in try file.ring().entries {
            entry.privateKey = nil
            guard secrets || entry.signingText == nil else {
                throw CommandFailure("The key \(entry.id) is a secret that both sides have; --secrets includes it.")
            }
            entries.append(entry)
        }
        try Console.output.write(KeyRing.bytes(entries))
    }
}

/// `runway keys embed`: prints Swift source that contains a masked key.
struct EmbedKey: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "embed", abstract: "Print Swift source that has a key, masked.",
        usage: "runway keys embed <file> <id> [--name <name>]",
        discussion: """
            For those who must have a key in a program. The mask keeps it out of a
            search for texts, and nothing more: anyone who has the program can read
            the key. Prefer one that the server issues or enrols after login. The
            source needs the product RunwaySignatures.
            """)

    @OptionGroup var file: KeyFileArgument

    @Argument(help: "The identifier of the key.")
    var id: String

    @Option(help: ArgumentHelp("The name of the Swift type. Default: EmbeddedKey.", valueName: "name"))
    var name = "EmbeddedKey"

    func validate() throws {
        // The identifier becomes part of Swift source.
        try KeyID.check(id, of: "The identifier of an embedded key")
        guard name.wholeMatch(of: /[A-Z][A-Za-z0-9_]*/) != nil else {
            throw ValidationError("--name needs the name of a Swift type, such as EmbeddedKey.")
        }
    }

    func run() throws {
        let entry = try file.ring().entry(id)
        guard let text = entry.signingText else {
            throw CommandFailure("The key \(id) has no private key, and can only verify.")
        }
        let source = EmbeddedKeySource(
            name: name, id: id, algorithm: entry.alg, text: text, mask: EmbeddedKeySource.randomMask(for: text))
        try Console.output.write(source.text)
    }
}
