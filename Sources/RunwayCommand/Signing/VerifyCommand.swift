import ArgumentParser
import Foundation
import HTTPTypes
import RunwaySignatures

/// `runway verify`: prints which signatures of a request are valid, and why others are not.
struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Verify the signatures of a request, and say why one is refused.",
        usage: """
            runway verify --key <file> [<request>] [<options>]
                   runway verify --key <file> [<options>] -- curl <arguments>
            """,
        discussion: """
            The request is read as "runway sign" reads it. Every signature of RFC 9421
            is verified, or the one of --label, and the salted digest with a sealed
            key beside it. For each, one line says whether it is verified or the
            reason for which it is refused, which is the one that the middleware of
            RunwayServer counts.

            By default a request is judged by the middleware of RunwayServer: its
            target is in origin-form, and a signature has a tag that no other has,
            keyid, a nonce, and a time of at most two minutes ago and 30 seconds
            ahead, and covers @method, @authority, @path, @query, and content-digest
            if there is a body. --at names the server's time, for a request that was
            recorded. --loose verifies the signature and the digest of the body
            alone. Whether a nonce was used before is not known here.

            KEYS
              --key names a file of "runway keys" or of a server's directory, or one
              with a public key as PEM or a secret in Base64. The key of the latter
              stands for any keyid, unless --key-id names it.

            EXAMPLES
              runway verify --key keys.json request.http
              runway verify --key public.pem request.http --base
              runway verify --key keys.json old.http --at 1790000000
              runway verify --key keys.json --loose --label sig-b26 request.http

            EXIT CODES
              0    Every signature is valid.
              1    One is refused, or the request has no signature.
              2    The command line, the request or a key can't be used.
            """)

    @OptionGroup var source: RequestSource

    @Option(help: ArgumentHelp("The keys that verify. See above.", valueName: "file"), completion: .file())
    var key: String

    @Option(help: ArgumentHelp("The identifier of a key in PEM or Base64.", valueName: "id"))
    var keyID: String?

    @Option(help: ArgumentHelp("The algorithm of a key in PEM or Base64.", valueName: "name"))
    var alg: SignatureAlgorithm?

    @Option(help: ArgumentHelp("The tag that signatures must have. Default: the one that each has.", valueName: "tag"))
    var tag: String?

    @Option(help: ArgumentHelp("Verify this signature alone.", valueName: "label"))
    var label: String?

    @Option(help: ArgumentHelp("The time of the server, in seconds since 1970. Default: now.", valueName: "seconds"))
    var at: Int64?

    @Flag(help: "Verify the signature and the digest alone, and no rule of a server.")
    var loose = false

    @Option(
        help: ArgumentHelp("The server's private key (X25519), for a sealed key.", valueName: "file"),
        completion: .file())
    var serverKey: String?

    @Option(help: ArgumentHelp("The identifier of the server's key.", valueName: "id"))
    var serverKeyID: String?

    @Flag(help: "Print the bytes that are signed below each signature.")
    var base = false

    @Flag(help: "Print one JSON object for programs.")
    var json = false

    @OptionGroup var colour: ColourOption

    func validate() throws {
        if base, json { throw ValidationError("--json has the bytes that are signed; --base does not go with it.") }
        if (serverKey == nil) != (serverKeyID == nil) {
            throw ValidationError("--server-key and --server-key-id need one another.")
        }
        if loose, tag != nil || at != nil { throw ValidationError("--loose judges neither the tag nor the time.") }
        try UnixTime.check(at, of: "--at")
    }

    func run() async throws {
        let input = try await source.request()
        let keys = try await directory(for: input)
        var verification = RequestVerification(
            input: input, keys: keys, tag: tag, label: label, isLoose: loose, keyID: keyID,
            now: at.map { UnixTime(seconds: $0) } ?? .current)
        if let serverKey, let serverKeyID {
            verification.serverKey = (try Self.privateText(of: serverKey), serverKeyID)
        }
        let findings = try await verification.findings()
        if json {
            try Console.output.write(["signatures": findings].jsonText())
        } else {
            for finding in findings { try Console.output.write(text(of: finding)) }
        }
        if findings.contains(where: { $0.refusal != nil }) { throw ExitCode(ExitStatus.refused) }
    }

    private func directory(for input: RequestInput) async throws -> any KeyDirectory {
        var algorithm = alg
        // A bare secret may belong to a signature or a salted digest. A salted digest names its algorithm.
        if algorithm == nil, let digest = try? SaltedDigest(input.head.headerFields), try KeySource.isBareSecret(key) {
            algorithm = digest.algorithm
        }
        return try KeySource(path: key, algorithm: algorithm).directory(id: keyID)
    }

    private static func privateText(of path: String) throws(CommandFailure) -> String {
        do throws(KeyFileError) {
            let file = try KeyFile(URL(fileURLWithPath: path))
            guard file.isPrivate else { throw KeyFileError(reason: "other users can read it") }
            let text = String(decoding: file.data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            guard (try? SealedKey.privateKey(text: text)) != nil else {
                throw KeyFileError(reason: "it must have a private key for X25519, as PEM or as 32 bytes in Base64")
            }
            return text
        } catch {
            throw CommandFailure("The key file \"\(path)\" can't be used: \(error.reason).")
        }
    }

    private func text(of finding: RequestVerification.Finding) -> ConsoleText {
        var text = ConsoleText("\(finding.label): ", .bold, for: .output)
        if let refusal = finding.refusal {
            text.append("refused, \(refusal)", .red)
            text.append(": \(finding.detail ?? "")")
            text.append(finding.isAuthentic ? " (the signature itself is valid)\n" : "\n")
        } else {
            text.append("verified", .green)
            let key = finding.keyID.map { " by the key \($0)" } ?? ""
            text.append("\(key), \(finding.algorithm ?? "")\(finding.owner.map { ", of \($0)" } ?? "")\n")
        }
        if base, let bytes = finding.base { text.append(bytes + "\n") }
        return text
    }
}
