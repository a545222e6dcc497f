import Foundation
import HTTPTypes
import RunwayServer
import RunwaySignatures

/// Verifies each signature of a request.
struct RequestVerification: Sendable {
    let input: RequestInput
    let keys: any KeyDirectory
    /// The tag that signatures must have; `nil` to accept any tag.
    var tag: String?
    /// The label of the signature to verify; `nil` to verify all signatures.
    var label: String?
    /// Whether only the signature and the body's digest are verified, and not the other requirements of a server.
    var isLoose = false
    /// The identifier of the key, for a message that does not name its key.
    var keyID: String?
    /// The server's private key and its identifier, for sealed keys.
    var serverKey: (text: String, id: String)?
    var now: UnixTime

    struct Finding: Sendable, Encodable {
        /// The label of the signature, or `runway-digest` for a salted digest.
        var label: String
        var keyID: String?
        var algorithm: String?
        var owner: String?
        var tag: String?
        /// The creation time of the signature, in seconds since 1970.
        var created: Int64?
        var components: String?
        /// The reason for the refusal, one word; `nil` if the signature is accepted.
        var refusal: String?
        /// The reason for the refusal, one sentence; `nil` if the signature is accepted.
        var detail: String?
        /// Whether the key created this signature or digest for this request.
        var isAuthentic = false
        var base: String?

        mutating func refuse(_ refusal: SignatureRefusal) {
            (self.refusal, detail) = (refusal.reason.name, refusal.detail)
        }

        mutating func refuse(_ reason: SignatureRefusal.Reason, _ detail: String) {
            (refusal, self.detail) = (reason.name, detail)
        }
    }

    /// Verifies each signature, and the salted digest if the request has one.
    ///
    /// - Throws: ``CommandFailure`` if the fields are malformed, or if there is neither a signature nor a digest.
    func findings() async throws -> [Finding] {
        var findings: [Finding] = []
        let signatures: [LabelledSignature]
        do throws(SignatureError) {
            signatures = try input.head.headerFields.signatures()
        } catch {
            throw CommandFailure("The fields of the signatures can't be read: \(error).", status: ExitStatus.refused)
        }
        for signature in signatures where label == nil || signature.label == label {
            findings.append(await finding(of: signature))
        }
        if label == nil, input.head.headerFields.contains(.runwayDigest) { findings.append(await digestFinding()) }
        guard !findings.isEmpty else {
            let name = label.map { " with the label \"\($0)\"" } ?? ""
            throw CommandFailure("The request has no signature\(name).", status: ExitStatus.refused)
        }
        return findings
    }

    // MARK: - Signatures of RFC 9421

    private func finding(of signature: LabelledSignature) async -> Finding {
        let parameters = signature.parameters
        var finding = Finding(
            label: signature.label, keyID: parameters.keyID ?? keyID, algorithm: parameters.algorithm,
            tag: parameters.tag, created: parameters.created?.seconds,
            components: parameters.components.identifiers.map(\.serialized).joined(separator: " "))
        await examine(signature, &finding)
        if !isLoose { await judge(signature, &finding) }
        return finding
    }

    /// Verifies the signature and the body's digest, and no other requirement.
    private func examine(_ signature: LabelledSignature, _ finding: inout Finding) async {
        do {
            let base = try SignatureContext(input.head).signatureBase(for: signature.parameters)
            finding.base = String(decoding: base, as: UTF8.self)
            guard let id = finding.keyID else {
                return finding.refuse(.parameters, "keyid is absent; --key-id names it")
            }
            guard let record = try await keys.record(forKeyID: id) else {
                return finding.refuse(.unknownKey, "the key \(id) is unknown")
            }
            finding.owner = record.owner.isEmpty ? nil : record.owner
            guard signature.parameters.algorithm.map({ $0 == record.key.algorithm.name }) ?? true else {
                return finding.refuse(.algorithm, "the key \(id) is one for \(record.key.algorithm)")
            }
            finding.algorithm = record.key.algorithm.name
            guard record.key.isValid(signature.signature, of: base) else {
                return finding.refuse(.invalid, "the signature is not that of this message by the key \(id)")
            }
            if signature.parameters.components.identifiers.contains(where: { $0.name == "content-digest" }) {
                let digest = try BodyDigest(.contentDigest, in: input.head.headerFields)
                guard (try? digest.verify(BodyDigest(of: input.body, by: digest.algorithms))) != nil else {
                    return finding.refuse(.body, "the signature is valid, and the body is not the one that was signed")
                }
            }
            finding.isAuthentic = true
        } catch {
            finding.refuse(.components, "\(error)")
        }
    }

    /// Checks the other requirements of a server. A refusal replaces the earlier one, as in a server's response.
    private func judge(_ signature: LabelledSignature, _ finding: inout Finding) async {
        guard let own = signature.parameters.tag else { return finding.refuse(.noSignatureWithTag, "it has no tag") }
        guard tag == nil || tag == own else { return finding.refuse(.noSignatureWithTag, "its tag is \(own)") }
        await judge(input.head, tag: own, &finding)
    }

    /// Passes the request to a server's middleware, which judges the signature.
    private func judge(_ head: HTTPRequest, tag: String, _ finding: inout Finding) async {
        let scheme = head.scheme ?? "https"
        guard let authority = head.authority.flatMap({ Authority.normalized($0, scheme: scheme) }) else {
            return finding.refuse(.malformed, "no Host names the server of the request")
        }
        var rules = SignatureRules(tag: tag, origin: PublicOrigin(authority, scheme: scheme))
        // The limit on bodies depends on the server, so no limit applies here.
        rules.maximumBodyByteCount = input.body.count
        var digests = DigestRules()
        digests.algorithms = [.saltedSHA256, .saltedMD5]
        if let serverKey { digests.serverKeys[serverKey.id] = try? SealedKey.privateKey(text: serverKey.text) }
        rules.digests = digests
        do {
            try await rules.judge(head, body: input.body, keys: keys, at: now)
        } catch let refusal as SignatureRefusal {
            finding.refuse(refusal)
        } catch {
            finding.refuse(.body, "\(error)")
        }
    }

    // MARK: - The salted digest and the sealed key

    private func digestFinding() async -> Finding {
        var finding = Finding(label: "runway-digest")
        do {
            let digest = try SaltedDigest(input.head.headerFields)
            (finding.keyID, finding.algorithm) = (digest.keyID, digest.algorithm.name)
            finding.created = digest.time.seconds
            let lines = try digest.canonicalRequest(of: input.head, body: input.body)
            finding.base = String(decoding: lines.bytes, as: UTF8.self)
            guard let record = try await keys.record(forKeyID: digest.keyID) else {
                finding.refuse(.unknownKey, "the key \(digest.keyID) is unknown")
                return finding
            }
            finding.owner = record.owner.isEmpty ? nil : record.owner
            verify(digest, lines, record, &finding)
            guard finding.isAuthentic, !isLoose else { return finding }
            // A server that finds an HTTP Message Signature ignores the salted digest. So the signature is removed
            // here.
            var head = input.head
            (head.headerFields[.signature], head.headerFields[.signatureInput]) = (nil, nil)
            await judge(head, tag: tag ?? "", &finding)
        } catch {
            finding.refuse(.malformed, "\(error)")
        }
        return finding
    }

    private func verify(
        _ digest: SaltedDigest, _ lines: CanonicalRequest, _ record: KeyRecord, _ finding: inout Finding
    ) {
        guard record.key.algorithm == digest.algorithm else {
            return finding.refuse(.algorithm, "the key \(digest.keyID) is one for \(record.key.algorithm)")
        }
        guard digest.isValid(of: lines, by: record.key) else {
            return finding.refuse(.invalid, "the digest is not that of this request by the key \(digest.keyID)")
        }
        if input.head.headerFields.contains(.runwaySealedKey) {
            guard let serverKey else {
                return finding.refuse(.unknownKey, "the request has a sealed key; --server-key opens it")
            }
            do {
                let sealed = try SealedKey(input.head.headerFields)
                guard sealed.serverKeyID == serverKey.id else {
                    return finding.refuse(.unknownKey, "the key is sealed to \(sealed.serverKeyID)")
                }
                try sealed.verify(
                    digest, of: lines, by: record.key, openedWith: SealedKey.privateKey(text: serverKey.text))
            } catch {
                return finding.refuse(.invalid, "the sealed key is not that of this request and its digest")
            }
        }
        finding.isAuthentic = true
    }
}
