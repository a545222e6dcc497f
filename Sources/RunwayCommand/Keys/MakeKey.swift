import ArgumentParser
import RunwaySignatures

/// `runway keys make`: creates a key.
struct MakeKey: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "make", abstract: "Make a key in a new file, and print its public key.",
        usage: "runway keys make <file> --key-id <id> [<options>]")

    @OptionGroup var file: KeyFileArgument

    @Option(help: ArgumentHelp("The identifier: letters, digits and -._~:@/+.", valueName: "id"))
    var keyID: String

    @Option(help: ArgumentHelp("The algorithm. Default: ecdsa-p256-sha256.", valueName: "name"))
    var alg: SignatureAlgorithm?

    @Option(help: ArgumentHelp("Whom the key identifies. Default: its identifier.", valueName: "name"))
    var owner: String?

    @Option(help: ArgumentHelp("First accepted then, in seconds since 1970.", valueName: "seconds"))
    var notBefore: Int64?

    @Option(help: ArgumentHelp("Last accepted then, in seconds since 1970.", valueName: "seconds"))
    var notAfter: Int64?

    @Option(
        help: ArgumentHelp(
            "What signatures must cover besides what a server requires: x-shop,@scheme.", valueName: "components"))
    var covers: CoveredComponents?

    @Flag(help: "Add the key to a file that exists.")
    var add = false

    @Flag(help: "Print the secret or the private key instead of the public key.")
    var printSecret = false

    func validate() throws {
        try KeyID.check(keyID, of: "--key-id")
        try UnixTime.check(notBefore, of: "--not-before")
        try UnixTime.check(notAfter, of: "--not-after")
        if let notBefore, let notAfter, notAfter < notBefore {
            throw ValidationError("--not-after is before --not-before.")
        }
    }

    func run() throws {
        let key = try SigningKey(making: alg ?? .ecdsaP256SHA256)
        var entry = KeyEntry(id: keyID, key: key, owner: owner ?? keyID)
        (entry.notBefore, entry.notAfter) = (notBefore, notAfter)
        entry.require(covers?.identifiers ?? [])
        if add {
            var ring = try file.lockedRing()
            try ring.add(entry)
            try ring.save()
        } else {
            _ = try KeyRing(making: file.file, with: entry)
        }
        Console.error.remark("Made the key \(keyID), \(key.algorithm), in \"\(file.file)\".")
        try entry.writePublicKey(orSecret: printSecret)
    }
}

enum KeyID {
    /// Throws an error if an identifier contains characters that not every signature scheme can represent.
    static func check(_ id: String, of option: String) throws {
        guard SaltedDigest.isKeyID(id[...]) else {
            throw ValidationError("\(option) needs 1 to 256 letters, digits and -._~:@/+.")
        }
    }
}
