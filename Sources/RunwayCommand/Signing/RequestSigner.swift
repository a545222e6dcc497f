import Foundation
import HTTPTypes
import RunwaySignatures

struct RequestSigner: Sendable {
    let signer: KeySource.Signer
    /// The components that a signature covers; `nil` for the default components.
    var components: CoveredComponents?
    var tag: String
    var label: String?
    var created: UnixTime
    var expires: UnixTime?
    var nonce: String?
    /// Whether the signature has the `alg` parameter.
    var namesAlgorithm = false

    struct Result: Sendable {
        /// The header fields to add to the request.
        var fields: [HTTPField]
        /// The signed bytes: the signature base, or the input of a salted digest.
        var base: [UInt8]
        /// The label of the signature; `nil` for a salted digest.
        var label: String?
    }

    /// Adds a signature (RFC 9421). Also adds `Content-Digest` if the request has a body and no such field.
    func signature(of input: RequestInput) async throws -> Result {
        var head = input.head
        var fields: [HTTPField] = []
        let wantsDigest = components?.contains(.contentDigest) ?? !input.body.isEmpty
        if head.headerFields.contains(.contentDigest) {
            let stated = try BodyDigest(.contentDigest, in: head.headerFields)
            do {
                try stated.verify(BodyDigest(of: input.body, by: stated.algorithms))
            } catch {
                throw CommandFailure("The field Content-Digest of the request is not that of its body.")
            }
        } else if wantsDigest {
            fields.append(HTTPField(name: .contentDigest, value: BodyDigest(of: input.body).fieldValue))
            head.headerFields.append(fields[0])
        }
        var covered: [ComponentIdentifier] = [.method, .authority, .path, .query]
        if head.headerFields.contains(.contentDigest) { covered.append(.contentDigest) }
        let parameters = try SignatureParameters(
            components: components ?? CoveredComponents(covered), created: created, expires: expires,
            nonce: nonce ?? Self.randomBytes().hexadecimal, algorithm: namesAlgorithm ? signer.key.algorithm : nil,
            keyID: signer.id, tag: tag)
        let label = try label(in: head.headerFields)
        let context = SignatureContext(head)
        var added = HTTPFields()
        added.append(try await context.signature(parameters, label: label, by: signer.key))
        return Result(fields: fields + added, base: try context.signatureBase(for: parameters), label: label)
    }

    func digest(of input: RequestInput) async throws -> Result {
        let lines = try canonicalRequest(of: input)
        let digest = try await SaltedDigest(lines, keyID: signer.id, by: signer.key)
        return Result(
            fields: [HTTPField(name: .runwayDigest, value: digest.fieldValue)], base: lines.bytes, label: nil)
    }

    /// Adds a salted digest, and its secret encrypted with a server's public key.
    func sealedKey(of input: RequestInput, to serverKey: String, id: String) async throws -> Result {
        let lines = try canonicalRequest(of: input)
        let digest = try await SaltedDigest(lines, keyID: signer.id, by: signer.key)
        guard let key = try? SealedKey.publicKey(text: serverKey) else {
            throw CommandFailure(
                "--server-key needs a file with a public key for X25519, as PEM or as 32 bytes in Base64.")
        }
        let caller = try SealedKey.Caller(id: signer.id, text: signer.text)
        let sealed = try SealedKey(caller, to: key, serverKeyID: id, for: lines)
        return Result(
            fields: [
                HTTPField(name: .runwayDigest, value: digest.fieldValue),
                HTTPField(name: .runwaySealedKey, value: sealed.fieldValue),
            ], base: lines.bytes, label: nil)
    }

    private func canonicalRequest(of input: RequestInput) throws -> CanonicalRequest {
        let bytes = try nonce.map { text throws(CommandFailure) in try Self.nonceBytes(text) } ?? Self.randomBytes()
        return try CanonicalRequest(input.head, body: input.body, time: created, nonce: bytes)
    }

    /// Returns the label of `--label`. Without the option, returns a label that the request does not use yet.
    private func label(in fields: HTTPFields) throws -> String {
        let labels = Set(try fields.signatures().map(\.label))
        if let label {
            guard !labels.contains(label) else {
                throw CommandFailure("The request has a signature with the label \"\(label)\" already.")
            }
            return label
        }
        return (1...).lazy.map { "sig\($0)" }.first { !labels.contains($0) } ?? "sig"
    }

    /// Decodes a nonce of 16 bytes from base64url.
    private static func nonceBytes(_ text: String) throws(CommandFailure) -> [UInt8] {
        let base64 = text.replacing("-", with: "+").replacing("_", with: "/")
        guard let data = Data(base64Encoded: base64 + "=="), data.count == 16,
            data.base64EncodedString() == base64 + "=="
        else { throw CommandFailure("--nonce of a digest needs 16 bytes in Base64 for URLs, without padding.") }
        return Array(data)
    }

    private static func randomBytes() -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }
}

extension [UInt8] {
    fileprivate var hexadecimal: String {
        map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
