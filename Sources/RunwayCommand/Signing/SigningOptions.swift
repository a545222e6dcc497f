public import ArgumentParser
import Foundation
public import RunwaySignatures

/// The three ways to sign, as `--way` names them.
enum WayName: String, ExpressibleByArgument, CaseIterable, Sendable {
    /// An HTTP Message Signature (RFC 9421).
    case rfc9421
    /// The field `Runway-Digest`.
    case digest
    /// The same, with the field `Runway-Sealed-Key`.
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

    /// Whether one of the options is not the default.
    var isUsed: Bool {
        way != .rfc9421 || keyID != nil || alg != nil || tag != nil || components != nil || serverKey != nil
    }

    /// The tag of the signature.
    var signatureTag: String { tag ?? "app" }

    /// Returns the key that signs.
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

    /// Returns the text of the server's key of `--server-key`.
    func serverKeyText() throws(CommandFailure) -> String {
        try WholeFile.text(serverKey ?? "", of: "--server-key").trimmingCharacters(in: .whitespacesAndNewlines)
    }
}

extension UnixTime {
    /// The seconds since 1970 that options take: 12 digits.
    private static let optionRange: ClosedRange<Int64> = 0...999_999_999_999

    /// Refuses seconds since 1970 that no signature can state.
    static func check(_ seconds: Int64?, of option: String) throws {
        guard let seconds, !optionRange.contains(seconds) else { return }
        throw ValidationError("\(option) needs seconds since 1970, and not \(seconds).")
    }

    /// The time of this machine.
    static var current: UnixTime { UnixTime(seconds: Int64(Date.now.timeIntervalSince1970)) }
}

extension SignatureAlgorithm: ExpressibleByArgument {
    /// Reads a registered name, or that of a salted digest, for `--alg`.
    public init?(argument: String) { self.init(name: argument) }

    /// The names for shells.
    public static var allValueStrings: [String] { (all + [.saltedSHA256, .saltedMD5]).map(\.name) }
}

extension CoveredComponents: ExpressibleByArgument {
    /// Reads the components of `--components` and `--covers`.
    ///
    /// Names are separated by blanks or commas, with or without their quotation marks: `@method,@path,content-digest`,
    /// or as in `Signature-Input`: `("@method" "@query-param";name="id")`.
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
