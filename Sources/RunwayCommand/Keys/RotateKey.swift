import ArgumentParser
import RunwaySignatures

/// `runway keys rotate`: adds a successor of a key.
struct RotateKey: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate", abstract: "Add the successor of a key, and let the old one end after an overlap.",
        usage: "runway keys rotate <file> <id> --to <id> [<options>]")

    @OptionGroup var file: KeyFileArgument

    @Argument(help: "The identifier of the old key.")
    var id: String

    @Option(help: ArgumentHelp("The identifier of the new key.", valueName: "id"))
    var to: String

    @Option(help: ArgumentHelp("How long both are accepted: 90s, 30m, 24h (default), 7d.", valueName: "time"))
    var overlap = TimeSpan(seconds: 86_400)

    @Option(
        help: ArgumentHelp(
            "When the new key is first accepted, in seconds since 1970. Default: now.", valueName: "seconds"))
    var notBefore: Int64?

    @Flag(help: "Print the new secret or private key instead of the public key.")
    var printSecret = false

    func validate() throws {
        try KeyID.check(to, of: "--to")
        try UnixTime.check(notBefore, of: "--not-before")
    }

    func run() throws {
        var ring = try file.lockedRing()
        let old = try ring.entry(id)
        guard old.revoked != true else { throw CommandFailure("The key \(id) is revoked; make a new one.") }
        guard let algorithm = SignatureAlgorithm(name: old.alg) else {
            throw CommandFailure("The key \(id) has an algorithm that is not known.")
        }
        let start = notBefore ?? UnixTime.current.seconds
        var new = KeyEntry(id: to, key: try SigningKey(making: algorithm), owner: old.owner)
        new.notBefore = start
        new.require(try old.record().requiredComponents)
        try ring.add(new)
        let end = start + overlap.seconds
        ring.change(id) { $0.notAfter = min($0.notAfter ?? end, end) }
        try ring.save()
        Console.error.remark("Made the key \(to); \(id) is accepted until \(Self.date(min(old.notAfter ?? end, end))).")
        try new.writePublicKey(orSecret: printSecret)
    }
}

/// `runway keys revoke`: makes a key invalid from now on.
struct RevokeKey: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Refuse all signatures of a key from now on.",
        usage: "runway keys revoke <file> <id>")

    @OptionGroup var file: KeyFileArgument

    @Argument(help: "The identifier of the key.")
    var id: String

    func run() throws {
        var ring = try file.lockedRing()
        _ = try ring.entry(id)
        ring.change(id) { $0.revoked = true }
        try ring.save()
        Console.error.remark("Revoked the key \(id) in \"\(file.file)\"; servers need the new file, too.")
    }
}

/// A duration argument such as `90s`, `30m`, `24h` or `7d`.
struct TimeSpan: ExpressibleByArgument, Sendable {
    let seconds: Int64

    init(seconds: Int64) { self.seconds = seconds }

    init?(argument: String) {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
        guard let unit = argument.last.flatMap({ units[$0] }), let count = Int64(argument.dropLast()),
            (0...100_000).contains(count)
        else { return nil }
        seconds = count * unit
    }

    var defaultValueDescription: String { "\(seconds) s" }
}
