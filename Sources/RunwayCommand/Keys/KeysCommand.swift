import ArgumentParser
import Foundation
import RunwaySignatures

/// `runway keys`: manages files of keys for signers and verifiers.
struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "Make, list, rotate and revoke the keys of signatures.",
        discussion: """
            A file of keys is JSON with, for each key, its identifier, algorithm,
            owner, the time in which it is accepted, and the key itself. With the
            private keys it is for a signer, and readable by you alone (mode 0600);
            "runway keys export" prints what a server needs. Nothing prints a secret
            unless an option says so, and no file is overwritten by "make".

            ALGORITHMS
              ecdsa-p256-sha256 (the default), ed25519, ecdsa-p384-sha384,
              rsa-pss-sha512, rsa-v1_5-sha256, and with a secret that both sides
              have hmac-sha256, runway-digest-sha-256 and runway-digest-md5, of
              which the last is for backends that know no other: MD5 is broken.

            ROTATION
              "runway keys rotate" adds a successor, and lets the old key end after
              an overlap. Give the server its new file first: it then accepts both.
              "runway sign" takes the key that became active last.

            EXAMPLES
              runway keys make keys.json --key-id device-7 --owner anna
              runway keys make keys.json --key-id partner-3 --alg hmac-sha256 --add
              runway keys list keys.json
              runway keys rotate keys.json device-7 --to device-8 --overlap 7d
              runway keys export keys.json > server-keys.json
              runway keys revoke keys.json device-7
              runway keys embed keys.json partner-3 > EmbeddedKey.swift

            EXIT CODES
              0    It was done.
              2    The command line or a file can't be used.
            """,
        subcommands: [
            MakeKey.self, ListKeys.self, RotateKey.self, RevokeKey.self, ExportKeys.self, EmbedKey.self,
        ])
}

struct KeyFileArgument: ParsableArguments {
    @Argument(help: "The file of keys.", completion: .file())
    var file: String

    func ring() throws(CommandFailure) -> KeyRing { try KeyRing(path: file) }

    /// Locks and reads the file, so that no other process can change it meanwhile.
    func lockedRing() throws(CommandFailure) -> KeyRing { try KeyRing(changing: file) }
}

extension ParsableCommand {
    /// Formats seconds since 1970 as a date in UTC (ISO 8601).
    static func date(_ seconds: Int64) -> String {
        Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601)
    }
}

extension KeyEntry {
    /// Returns a word that states whether the key is accepted at a time.
    func state(at now: UnixTime) throws -> String {
        let record = try record()
        if record.isRevoked { return "revoked" }
        if record.isActive(at: now) { return "active" }
        return record.notBefore.map { now < $0 } == true ? "not yet active" : "expired"
    }

    /// Writes the public key. If `printsSecret` is `true`, writes the private key or the secret instead. If it is
    /// `false`, writes nothing for a secret, which has no public key.
    func writePublicKey(orSecret printsSecret: Bool) throws {
        let text = printsSecret ? signingText : privateKey.map { _ in key }
        guard let text else { return }
        try Console.output.write(text.hasSuffix("\n") ? text : text + "\n")
    }
}
