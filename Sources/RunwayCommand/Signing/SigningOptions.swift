public import ArgumentParser
import Foundation
public import RunwaySignatures

/// The three signature schemes of `--way`.
enum WayName: String, ExpressibleByArgument, CaseIterable, Sendable {
    /// An HTTP Message Signature (RFC 9421).
    case rfc9421
    /// A salted digest in the field `Runway-Digest`.
    case digest
    /// A salted digest with its encrypted key in the field `Runway-Sealed-Key`.
    case sealed
}

/// The signing options of `runway sign` and `runway call --sign`.
struct SigningOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Which key of the file signs. Default: the last that became active.", valueName: "id"))
    var keyID: String?

    @Option(help: ArgumentHelp("The algorithm of a key in PEM or Base64.", valueName: "name"))
    var alg: SignatureAlgorithm?

    @Option(help: ArgumentHelp("How to sign: rfc9421 (default), digest or sealed.", valueName: "way"))
    var way = WayName.rfc9421

    @Option(help: ArgumentHelp("The tag of the signature. Default: app.", valueName: "tag"))
    var tag: String?

    @Option(
        help: ArgumentHelp(
            "What is covered, such as @method,@path,content-type. See above.", valueName: "list"))
    var components: CoveredComponents?

    @Option(
        help: ArgumentHelp("The server's public key (X25519), for a sealed key.", valueName: "file"),
        completion: .file())
    var serverKey: String?

    @Option(help: ArgumentHelp("The identifier of the server's key.", valueName: "id"))
    var serverKeyID: String?

    func validate() throws {
        if way != .rfc9421, tag != nil || components != nil {
            throw ValidationError("--tag and --components are for signatures of RFC 9421.")
        }
        guard (way == .sealed) == (serverKey != nil), (serverKey == nil) == (serverKeyID == nil) else {
            throw ValidationError("--way sealed, --server-key and --server-key-id need one another.")
        }
    }

    /// Whether an option differs from its default.
    var isUsed: Bool {
        way != .rfc9421 || keyID != nil || alg != nil || tag != nil || components != nil || serverKey != nil
    }

    var signatureTag: String { tag ?? "app" }

    func signer(of path: String, at now: UnixTime) throws(CommandFailure) -> KeySource.Signer {
        let mayBeSecret = alg == nil && way != .rfc9421
        let isSecretOfDigest = mayBeSecret ? try KeySource.isBareSecret(path) : false
        let source = try KeySource(path: path, algorithm: isSecretOfDigest ? .saltedSHA256 : alg)
        let signer = try source.signer(id: keyID, at: now)
        let isDigest = [.saltedSHA256, .saltedMD5].contains(signer.key.algorithm)
        guard isDigest == (way != .rfc9421) else {
            throw CommandFailure(
                "The key \(signer.id) is one for \(signer.key.algorithm), which --way \(way.rawValue) can't use.")
        }
        return signer
    }

    func serverKeyText() throws(CommandFailure) -> String {
        try WholeFile.text(serverKey ?? "", of: "--server-key").trimmingCharacters(in: .whitespacesAndNewlines)
    }
}

extension UnixTime {
    /// The seconds since 1970 that options accept: up to 12 digits.
    private static let optionRange: ClosedRange<Int64> = 0...999_999_999_999

    /// Throws an error if a signature can't represent this number of seconds since 1970.
    static func check(_ seconds: Int64?, of option: String) throws {
        guard let seconds, !optionRange.contains(seconds) else { return }
        throw ValidationError("\(option) needs seconds since 1970, and not \(seconds).")
    }

    static var current: UnixTime { UnixTime(seconds: Int64(Date.now.timeIntervalSince1970)) }
}

extension SignatureAlgorithm: ExpressibleByArgument {
    /// Parses a value of `--alg`: the registered name of an algorithm, or the name of a salted digest. Returns `nil` if
    /// the name is unknown.
    public init?(argument: String) { self.init(name: argument) }

    /// The names of all algorithms, for shell completion.
    public static var allValueStrings: [String] { (all + [.saltedSHA256, .saltedMD5]).map(\.name) }
}

extension CoveredComponents: ExpressibleByArgument {
    /// Parses a value of `--components` or `--covers`. Returns `nil` if it is malformed.
    ///
    /// Names are separated by blanks or commas, with or without quotation marks: `@method,@path,content-digest`. The
    /// form of `Signature-Input` is accepted, too: `("@method" "@query-param";name="id")`.
    public init?(argument: String) {
        let isList = argument.hasPrefix("(") && argument.hasSuffix(")")
        var items = [""]
        var isQuoted = false
        for character in isList ? argument.dropFirst().dropLast() : argument[...] {
            if character == "\"" { isQuoted.toggle() }
            if !isQuoted, character == " " || character == "," {
                items.append("")
            } else {
                items[items.count - 1].append(character)
            }
        }
        self.init(texts: items.filter { !$0.isEmpty })
    }
}
