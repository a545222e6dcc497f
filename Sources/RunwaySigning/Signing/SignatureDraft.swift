import HTTPTypes
import Runway
import RunwaySignatures

struct SignedRequest: Sendable {
    var request: Request
    /// The request without its signature, to sign it again. A body that can be read only once has been read into
    /// memory.
    let source: Request
    /// The identifier of the key; `nil` if the request is not signed.
    var keyID: String?
    /// The signed bytes: a signature base, or the canonical lines of a salted digest.
    var base: [UInt8] = []
    /// The requirements for the signature of the response; `nil` if no signature was requested.
    var responsePolicy: VerificationPolicy?
}

/// The parameters of a signature to be made.
struct SignatureDraft: Sendable {
    let policy: SigningPolicy
    /// The signature that the server requested, or `nil`.
    let wanted: SignatureRequest?

    /// The lifetime of a signature if the server requests `expires`.
    private static let lifetime = Duration.seconds(60)

    /// Signs a request with the key that `findKey` returns. Every error marks the request as not sent.
    func signed(
        _ request: Request, with findKey: () async throws -> RequestKey?, at now: @Sendable () -> UnixTime
    ) async throws(NetworkError) -> SignedRequest {
        do {
            return try await sign(request, with: findKey(), at: now)
        } catch {
            throw NetworkError(signing: error)
        }
    }

    /// Signs a request. Throws the error of the signer, a `SignatureError`, or a `NetworkError`.
    func sign(
        _ request: Request, with key: RequestKey?, at now: @Sendable () -> UnixTime
    ) async throws -> SignedRequest {
        var source = request
        if key != nil, !(policy.way.isSignature && request.head.headerFields.contains(.contentDigest)) {
            try await source.bufferStream(upTo: policy.maximumBufferedByteCount)
        }
        var signed = SignedRequest(request: source, source: source)
        if let rule = policy.responses {
            let proof = key == nil ? nil : try proof(in: request.head.headerFields)
            signed.responsePolicy = try rule.askForSignature(of: &signed.request, covering: proof)
        }
        guard let key else { return signed }
        signed.keyID = key.id
        switch policy.way.format {
        case .signature(let tag, let coverage):
            signed.base = try await addSignature(to: &signed.request, by: key, tag: tag, coverage, at: now)
        case .saltedDigest: signed.base = try await addDigest(to: &signed.request, by: key, at: now).bytes
        case .sealedKey(let serverKey, let id):
            guard let caller = key.caller else { throw Self.misconfigured("A sealed key needs the key of a caller.") }
            let lines = try await addDigest(to: &signed.request, by: key, at: now)
            signed.base = lines.bytes
            signed.request.head.headerFields[.runwaySealedKey] =
                try SealedKey(caller, to: serverKey, serverKeyID: id, for: lines).fieldValue
        }
        return signed
    }

    /// Returns the component with which the response's signature covers the request's signature.
    private func proof(in fields: HTTPFields) throws -> ComponentIdentifier {
        switch policy.way.format {
        case .signature: ComponentIdentifier.field(.signature).member(try label(in: fields)).ofRequest
        case .saltedDigest, .sealedKey: ComponentIdentifier.field(.runwayDigest).ofRequest
        }
    }

    // MARK: - HTTP Message Signatures

    private func addSignature(
        to request: inout Request, by key: RequestKey, tag: String, _ coverage: SigningWay.Coverage,
        at now: @Sendable () -> UnixTime
    ) async throws -> [UInt8] {
        try await request.addContentDigest()
        let created = now()
        let parameters = try SignatureParameters(
            components: covered(coverage, in: request), created: created,
            expires: wanted?.wantsExpires == true ? created + Self.lifetime : nil,
            nonce: wanted?.nonce ?? RandomNonce().text, algorithm: try algorithm(of: key), keyID: key.id, tag: tag)
        let base = try context(of: request).signatureBase(for: parameters)
        let signature = try LabelledSignature(
            label: try label(in: request.head.headerFields), parameters: parameters,
            signature: try await key.signer.signature(of: base))
        request.head.headerFields.append(signature)
        return base
    }

    /// Returns the components of the policy, the digest if the request has a body, and those of the server's requested
    /// components that the request has.
    private func covered(_ coverage: SigningWay.Coverage, in request: Request) throws -> CoveredComponents {
        let hasDigest = request.head.headerFields.contains(.contentDigest)
        let own = try (hasDigest ? coverage.withDigest : coverage.withoutDigest).get()
        guard let wanted else { return own }
        var all = own.identifiers
        let context = context(of: request)
        for component in wanted.components.identifiers where !all.contains(component) {
            // Absent components are omitted, since no signature base can be made with them. The server may refuse the
            // signature because of this.
            if context.has(component) { all.append(component) }
        }
        return try CoveredComponents(all)
    }

    private func context(of request: Request) -> SignatureContext {
        SignatureContext(request.head, structuredFieldTypes: policy.structuredFieldTypes)
    }

    /// Returns the algorithm to name in the signature, or `nil` if the server did not request one.
    private func algorithm(of key: RequestKey) throws -> SignatureAlgorithm? {
        guard let wanted else { return nil }
        let isOther = wanted.namesUnknownAlgorithm || wanted.algorithm.map { $0 != key.signer.algorithm } == true
        guard !isOther, wanted.keyID == nil || wanted.keyID == key.id else {
            throw NetworkError(
                .refused, in: .signing, "The server asks for a signature by another key than \(key.id).",
                status: .unauthorized)
        }
        return wanted.algorithm
    }

    /// Returns the label that the server requested, or else a label that no other signature of the request has.
    private func label(in fields: HTTPFields) throws -> String {
        let signatures = try fields.signatures()
        if signatures.isEmpty { return wanted?.label ?? "sig1" }
        let labels = Set(signatures.map(\.label))
        if let wanted, !labels.contains(wanted.label) { return wanted.label }
        var number = 1
        while labels.contains("sig\(number)") { number += 1 }
        return "sig\(number)"
    }

    // MARK: - Salted digest

    private func addDigest(
        to request: inout Request, by key: RequestKey, at now: @Sendable () -> UnixTime
    ) async throws -> CanonicalRequest {
        let body = try await request.wholeBody(upTo: policy.maximumBufferedByteCount)
        let lines = try CanonicalRequest(request.head, body: body, time: now(), nonce: RandomNonce().bytes)
        request.head.headerFields[.runwayDigest] = try await SaltedDigest(lines, keyID: key.id, by: key.signer)
            .fieldValue
        return lines
    }

    private static func misconfigured(_ detail: String) -> NetworkError {
        NetworkError(.invalidConfiguration, in: .signing, detail, sending: .notSent)
    }
}

extension SignatureContext {
    /// Returns whether a signature of the message can cover the component.
    fileprivate func has(_ component: ComponentIdentifier) -> Bool {
        guard let covered = try? CoveredComponents([component]),
            let parameters = try? SignatureParameters(components: covered)
        else { return false }
        return (try? signatureBase(for: parameters)) != nil
    }
}
