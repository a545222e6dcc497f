import ArgumentParser
import Foundation
import HTTPTypes
import RunwaySignatures

/// `runway sign`: prints the header fields that sign a request.
struct SignCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign", abstract: "Print the header fields that sign a request, or what is signed.",
        usage: """
            runway sign --key <file> [<request>] [<options>]
                   runway sign --key <file> [<options>] -- curl <arguments>
            """,
        discussion: """
            The request is a file in the text form of HTTP/1.1, with its header
            fields and, after an empty line, its body, or a curl command. With the
            field Content-Length the body ends there; without it, at the end of the
            file, a line feed included. Path and query are signed as they are
            written, and nothing is sent.

            Options of curl that do not change the request are skipped, and those
            that are not known here are refused. The header fields that curl adds by
            itself are not added: do not cover them. Variables are not replaced.

            KEYS
              --key names a file of "runway keys", or one with a private key as PEM
              (ed25519, ECDSA with P-256 or P-384, RSA) or a secret in Base64, for
              which --key-id is needed. A file with a secret must be readable by
              you alone (mode 0600).

            WAYS
              rfc9421  An HTTP Message Signature: Signature-Input, Signature, and
                       Content-Digest if the request has a body and no such field.
              digest   The salted digest, Runway-Digest, with a secret.
              sealed   The same, and Runway-Sealed-Key: the secret, encrypted to the
                       server's key.

            COMPONENTS
              By default @method, @authority, @path, @query, and content-digest if
              there is a body. --components names all of them, with parameters as in
              Signature-Input: '@method,@query-param;name="id",date'.

            EXAMPLES
              runway sign --key keys.json request.http
              runway sign --key keys.json request.http --base | sha256sum
              runway sign --key secret.txt --key-id k1 -- curl https://example.com/
              runway call :8080/x a=1 --offline | runway sign --key keys.json
              runway sign --key keys.json r.http --message | runway verify --key keys.json

            EXIT CODES
              0    The request was signed.
              2    The command line, the request or a key can't be used.
            """)

    @OptionGroup var source: RequestSource

    @Option(help: ArgumentHelp("The key that signs. See above.", valueName: "file"), completion: .file())
    var key: String

    @OptionGroup var options: SigningOptions

    @Option(
        help: ArgumentHelp("The label of the signature. Default: sig1, or the next that is free.", valueName: "label"))
    var label: String?

    @Option(help: ArgumentHelp("When it was made, in seconds since 1970. Default: now.", valueName: "seconds"))
    var created: Int64?

    @Option(help: ArgumentHelp("When it expires, in seconds since 1970.", valueName: "seconds"))
    var expires: Int64?

    @Option(help: ArgumentHelp("The nonce. Default: 16 random bytes.", valueName: "text"))
    var nonce: String?

    @Flag(help: "Let the signature name its algorithm.")
    var nameAlg = false

    @Flag(help: "Print the bytes that are signed, and nothing else.")
    var base = false

    @Flag(help: "Print the whole request, with the fields.")
    var message = false

    @Flag(help: "Print one JSON object for programs.")
    var json = false

    @OptionGroup var colour: ColourOption

    func validate() throws {
        if [base, message, json].count(where: { $0 }) > 1 {
            throw ValidationError("--base, --message and --json exclude one another.")
        }
        if options.way != .rfc9421, label != nil || expires != nil || nameAlg {
            throw ValidationError("--label, --expires and --name-alg are for signatures of RFC 9421.")
        }
        try UnixTime.check(created, of: "--created")
        try UnixTime.check(expires, of: "--expires")
    }

    func run() async throws {
        let input = try await source.request()
        let result = try await sign(input)
        if base {
            try Console.output.write(result.base)
            if Console.output.isTerminal { try Console.output.write("\n") }
        } else if json {
            try Console.output.write(SignedReport(result, way: options.way, head: input.head).jsonText())
        } else if message {
            try Console.output.write(input.text(adding: result.fields))
        } else {
            var text = ConsoleText(for: .output)
            text.append(result.fields)
            try Console.output.write(text)
        }
    }

    private func sign(_ input: RequestInput) async throws -> RequestSigner.Result {
        let created = created.map { UnixTime(seconds: $0) } ?? .current
        let signer = RequestSigner(
            signer: try options.signer(of: key, at: created), components: options.components,
            tag: options.signatureTag, label: label, created: created, expires: expires.map { UnixTime(seconds: $0) },
            nonce: nonce, namesAlgorithm: nameAlg)
        do {
            switch options.way {
            case .rfc9421: return try await signer.signature(of: input)
            case .digest: return try await signer.digest(of: input)
            case .sealed:
                return try await signer.sealedKey(
                    of: input, to: try options.serverKeyText(), id: options.serverKeyID ?? "")
            }
        } catch let error as SignatureError {
            throw CommandFailure("The request can't be signed: \(error).")
        }
    }
}

/// The output of `runway sign --json`.
private struct SignedReport: Encodable {
    let way: String
    let label: String?
    let fields: [[String]]
    let base: String
    let method: String
    let authority: String?
    let target: String?

    init(_ result: RequestSigner.Result, way: WayName, head: HTTPRequest) {
        self.way = way.rawValue
        label = result.label
        fields = result.fields.map { [$0.name.rawName, $0.value] }
        base = String(decoding: result.base, as: UTF8.self)
        (method, authority, target) = (head.method.rawValue, head.authority, head.path)
    }
}

extension RequestInput {
    /// Returns the message in HTTP/1.1 form with additional fields.
    func text(adding fields: [HTTPField]) -> [UInt8] {
        var text = Array("\(head.method.rawValue) \(head.path ?? head.authority ?? "*") HTTP/1.1\r\n".utf8)
        if let authority = head.authority { text += "Host: \(authority)\r\n".utf8 }
        for field in Array(head.headerFields) + fields {
            text += "\(field.name.rawName): ".utf8
            field.withUnsafeBytesOfValue { text += $0 }
            text += "\r\n".utf8
        }
        return text + "\r\n".utf8 + body
    }
}
