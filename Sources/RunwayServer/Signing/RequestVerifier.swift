package import HTTPTypes
import Hummingbird
import NIOCore
package import RunwaySignatures

/// Verifies requests by ``SignatureRules``.
struct RequestVerifier: Sendable {
    let rules: SignatureRules
    let keys: any KeyDirectory
    let signatures: SignatureVerifier
    let digests: DigestVerifier?
    let now: @Sendable () -> UnixTime
    /// The signatures that the policy requests, for requests with a body and without.
    private let wanted: (withBody: SignatureRequest?, without: SignatureRequest?)

    init(
        _ rules: SignatureRules, keys: any KeyDirectory, nonces: any NonceStore, now: @escaping @Sendable () -> UnixTime
    ) {
        (self.rules, self.keys, self.now) = (rules, keys, now)
        var signatures = SignatureVerifier(policy: rules.policy, keys: keys, nonces: nonces)
        // Only refusals of authentic requests are signed, so the time is judged after the signature.
        let judgesTimeLast = rules.responses != nil
        signatures.judgesTimeLast = judgesTimeLast
        self.signatures = signatures
        digests = rules.digests.map {
            DigestVerifier(
                rules: $0, policy: rules.policy, keys: keys, nonces: nonces, decoys: signatures.decoys,
                judgesTimeLast: judgesTimeLast)
        }
        wanted = (
            try? rules.policy.signatureRequest(hasBody: true), try? rules.policy.signatureRequest(hasBody: false)
        )
    }

    /// Returns the signer of a request, and the request with its verified body.
    ///
    /// - Parameter onStreamFailure: Creates the error that a streamed body throws at its end if its digest differs from
    ///   the signed one.
    /// - Throws: ``SignatureRefusal``, or the error of reading the body.
    func verify(
        _ request: Request, onStreamFailure: @escaping @Sendable (SignatureRefusal) async -> RefusedRequest
    ) async throws -> (signer: VerifiedSigner, request: Request) {
        let head = try rules.origin.head(of: request.head, at: now())
        let digests = digests(for: head)
        let streams = digests == nil && Self.isSigned(head) && rules.streamsBody(head)
        let length = head.headerFields[.contentLength].flatMap { Int($0) } ?? 0
        guard streams || length <= rules.maximumBodyByteCount else { throw tooLarge() }
        if let digests {
            let digest = try digests.digest(of: head, at: now())
            let body = try await wholeBody(of: request)
            // The current time is used, since the body may have arrived slowly.
            let signer = try await digests.verify(digest, of: head, body: Array(body.readableBytesView), at: now())
            return (signer, request.with(RequestBody(buffer: body)))
        }
        // A request without a body is received to its end before it is judged, so that it is judged only once.
        let isWhole = Self.isSigned(head) && rules.policy.coversBody && Self.hasNoBody(head)
        let isEmpty = isWhole ? try await isEmpty(request.body) : true
        let context = SignatureContext(head, structuredFieldTypes: rules.structuredFieldTypes)
        let accepted = try await signatures.accept(context, hasBody: Self.announcesBody(head), at: now())
        let signature = accepted.signature
        let signer = VerifiedSigner(
            keyID: signature.keyID, owner: signature.owner, way: .signature(signature), tag: rules.policy.tag,
            head: head, coversBody: signature.digest != nil || rules.policy.coversBody, key: accepted.key,
            times: accepted.times, nonce: accepted.nonce)
        if isWhole, isEmpty { return (signer, request.with(RequestBody(buffer: ByteBuffer()))) }
        let received = try await self.request(request, of: signer, signature, streams: streams, onStreamFailure)
        return (signer, received)
    }

    /// Returns the request with a body that matches its signature.
    ///
    /// The body may arrive slowly, so the signer is judged again afterwards. A refusal contains the time at which it is
    /// made, by which the client corrects its clock.
    private func request(
        _ request: Request, of signer: VerifiedSigner, _ signature: VerifiedSignature, streams: Bool,
        _ onStreamFailure: @escaping @Sendable (SignatureRefusal) async -> RefusedRequest
    ) async throws -> Request {
        guard signature.digest != nil || !rules.policy.coversBody else {
            let detail = "the signature does not cover content-digest"
            throw SignatureRefusal(.coverage, detail, at: now()).authentic()
        }
        if streams || signature.digest == nil {
            let body = VerifiedBody(base: request.body, digest: signature.digest) {
                [self] error async throws(RefusedRequest) in
                do throws(SignatureRefusal) {
                    if let error { throw SignatureRefusal(.body, error.description, at: now()).authentic() }
                    try await judge(signer, as: signer.head, ignoringTimes: true)
                } catch {
                    throw await onStreamFailure(error)
                }
            }
            return request.with(RequestBody(asyncSequence: body))
        }
        let body = try await wholeBody(of: request)
        do throws(SignatureRefusal) {
            let time = now()
            try body.withUnsafeReadableBytes { bytes throws(SignatureRefusal) in
                try signature.verifyBody(bytes, at: time)
            }
        } catch {
            throw error.authentic()
        }
        try await judge(signer, as: signer.head)
        return request.with(RequestBody(buffer: body))
    }

    /// Verifies a request that reaches the middleware with a verified signer. The request was verified before, or this
    /// process derived it from a verified request, for example from an envelope. Middleware with other rules may have
    /// verified that request without its body.
    func verify(_ request: Request, lent signer: VerifiedSigner) async throws -> Request {
        let isStreamed = rules.streamsBody(request.head) || !rules.policy.coversBody
        let received = isStreamed ? request : request.with(RequestBody(buffer: try await wholeBody(of: request)))
        try await judge(signer, as: request.head)
        return received
    }

    /// Judges a signer that was verified earlier, by the same or by other rules.
    ///
    /// - Parameters:
    ///   - request: The request that the signer is to be accepted for.
    ///   - ignoringTimes: Whether the signature may have become too old in the meantime, for example while a long body
    ///     is streamed.
    private func judge(
        _ signer: VerifiedSigner, as request: HTTPRequest, ignoringTimes: Bool = false
    ) async throws(SignatureRefusal) {
        let time = now()
        let record: KeyRecord?
        do {
            record = try await keys.record(forKeyID: signer.keyID)
        } catch {
            throw SignatureRefusal(.store, "the key directory has failed", at: time)
        }
        guard let record, record.isActive(at: time), record.key.isSame(as: signer.key),
            record.owner.isExactly(signer.owner)
        else {
            throw SignatureRefusal(.inactiveKey, "the key \(signer.keyID) is not accepted any more", at: time)
        }
        guard accepts(signer.way, by: record.key) else {
            throw SignatureRefusal(.algorithm, "the way or the algorithm of the signer is not accepted here", at: time)
        }
        guard rules.origin.has(signer.head) else {
            throw SignatureRefusal(.authority, "the signature is for another origin", at: time).authentic()
        }
        guard accepts(signer.nonce, of: signer.way) else {
            throw SignatureRefusal(.parameters, "the nonce of the signature was not claimed", at: time).authentic()
        }
        if !ignoringTimes, let refusal = signer.times.refusal(by: rules.policy, at: time) { throw refusal.authentic() }
        var head = request
        (head.scheme, head.authority) = (signer.head.scheme, signer.head.authority)
        let isSame = head == signer.head
        // The signature covers a merged request only through the digest of the envelope.
        guard signer.coversBody || isSame && !rules.policy.coversBody else {
            throw SignatureRefusal(.coverage, "the signature does not cover the body that was received", at: time)
                .authentic()
        }
        if isSame {
            let missing =
                switch signer.way {
                case .signature(let signature):
                    rules.policy.missing(from: signature.parameters.components, besides: record.requiredComponents)
                case .saltedDigest, .sealedKey: DigestVerifier.missing(rules.policy, record)
                }
            guard missing.isEmpty else {
                throw SignatureRefusal(.coverage, "the signature does not cover \(missing)", at: time).authentic()
            }
            return
        }
        var required: [ComponentIdentifier] = []
        for component in rules.policy.requiredComponents + record.requiredComponents
        where component.name != ComponentIdentifier.contentDigest.name && !required.contains(component) {
            required.append(component)
        }
        do throws(SignatureError) {
            let context = SignatureContext(head, structuredFieldTypes: rules.structuredFieldTypes)
            _ = try context.signatureBase(for: SignatureParameters(components: CoveredComponents(required)))
        } catch {
            throw SignatureRefusal(.components, error.description, at: time)
        }
    }

    /// Returns whether these rules accept the kind of proof with which a request was verified by other rules of the
    /// same tag.
    private func accepts(_ way: VerifiedSigner.Way, by key: VerificationKey) -> Bool {
        switch way {
        case .signature: rules.policy.algorithms.contains(key.algorithm)
        case .saltedDigest:
            rules.digests.map { $0.algorithms.contains(key.algorithm) && !$0.requiresSealedKey } ?? false
        case .sealedKey: rules.digests.map { $0.algorithms.contains(key.algorithm) && !$0.serverKeys.isEmpty } ?? false
        }
    }

    /// Returns whether the nonce of a request that other rules with the same tag have verified also meets these rules.
    private func accepts(_ claimed: Nonce?, of way: VerifiedSigner.Way) -> Bool {
        switch (rules.policy.nonces, way) {
        case (.unchecked, _): true
        case (.once, _): claimed != nil
        case (.equal(let expected), .signature(let signature)): signature.parameters.nonce == expected
        case (.equal(let expected), .saltedDigest), (.equal(let expected), .sealedKey): claimed?.value == expected
        }
    }

    /// Returns the description of an acceptable signature after a refusal, or `nil` if no signature would be accepted
    /// now.
    func accepted(after refusal: SignatureRefusal, of request: HTTPRequest) async -> SignatureRequest? {
        guard ![.store, .tooManyFailures, .bodyTooLarge, .authority].contains(refusal.reason) else { return nil }
        // A salted digest cannot use a nonce of the server, so its caller has to wait.
        if refusal.reason == .nonceUnknown, proof(of: request) == .digest { return nil }
        let hasBody = Self.announcesBody(request) || refusal.reason == .body
        var accepted = hasBody ? wanted.withBody : wanted.without
        // The signature was valid, so the key's owner may learn the requirements of the key.
        if refusal.reason == .coverage, refusal.base != nil, let keyID = taggedSignature(of: request)?.parameters.keyID,
            let record = try? await keys.record(forKeyID: keyID)
        {
            var policy = rules.policy
            for component in record.requiredComponents where !policy.requiredComponents.contains(component) {
                policy.requiredComponents.append(component)
            }
            accepted = try? policy.signatureRequest(hasBody: hasBody)
        }
        // A replayed request was already accepted, and with another nonce the client would send it a second time.
        if refusal.reason != .replayed { accepted?.nonce = rules.policy.serverNonces?.issue(at: refusal.time) }
        return accepted
    }

    /// Returns a copy of the refusal that contains the signature base of the request, if it can be computed. For
    /// development.
    func explained(_ refusal: SignatureRefusal, of request: HTTPRequest) -> SignatureRefusal {
        guard refusal.base == nil, let head = try? rules.origin.head(of: request, at: refusal.time),
            let signature = taggedSignature(of: head)
        else { return refusal }
        let context = SignatureContext(head, structuredFieldTypes: rules.structuredFieldTypes)
        return refusal.with(base: context.availableBase(for: signature.parameters))
    }

    /// Returns the verifier for a request's salted digest. Returns `nil` if the request has no digest, or no digest is
    /// accepted. Also returns `nil` if the request has a signature: then only the signature counts, so that the digest
    /// cannot bypass it. Signatures with another tag, which a proxy may add, are ignored, but a malformed signature
    /// field counts as a signature.
    private func digests(for head: HTTPRequest) -> DigestVerifier? {
        guard let digests, head.headerFields.contains(.runwayDigest),
            let signatures = try? head.headerFields.signatures(),
            !signatures.contains(where: { $0.parameters.tag == rules.policy.tag })
        else { return nil }
        return digests
    }

    /// Returns the number of seconds for which the caller must wait; `nil` if it can retry immediately or must not
    /// retry.
    func retryAfter(_ refusal: SignatureRefusal, by proof: RequestProof?) -> Int? {
        switch (refusal.reason, proof) {
        case (.tooManyFailures, _): return 1
        case (.nonceUnknown, .digest):
            // A new digest is accepted once the store has recorded nonces for as long as clocks may be ahead. A full
            // store has space sooner.
            let start = refusal.acceptedUntil ?? refusal.time
            let tolerance = rules.policy.clockTolerance
            let wait = (start + tolerance).seconds - refusal.time.seconds
            return Int(clamping: min(max(wait, 1), max(tolerance.components.seconds, 1)))
        default: return nil
        }
    }

    func proof(of head: HTTPRequest) -> RequestProof? {
        if digests(for: head) != nil { return .digest }
        return taggedSignature(of: head).map { .signature(label: $0.label) }
    }

    /// Returns whether a request has neither a signature nor a digest.
    static func isUnsigned(_ head: HTTPRequest) -> Bool {
        !isSigned(head) && !head.headerFields.contains(.runwayDigest)
    }

    private static func isSigned(_ head: HTTPRequest) -> Bool {
        head.headerFields.contains(.signature) || head.headerFields.contains(.signatureInput)
    }

    private func taggedSignature(of request: HTTPRequest) -> LabelledSignature? {
        let signatures = try? request.headerFields.signatures()
        return signatures?.first { $0.parameters.tag == rules.policy.tag }
    }

    /// Returns whether the header section announces a body. HTTP/2 requires no announcement; an unannounced body is
    /// refused when it is read.
    private static func announcesBody(_ head: HTTPRequest) -> Bool {
        head.headerFields[.contentLength].map { $0 != "0" } ?? head.headerFields.contains(.transferEncoding)
    }

    private func wholeBody(of request: Request) async throws -> ByteBuffer {
        do {
            return try await BodyCollector.shared.collect(request.body, upTo: rules.maximumBodyByteCount)
        } catch is NIOTooManyBytesError {
            throw tooLarge()
        }
    }

    /// Returns whether the header section mentions no body. If a body nevertheless follows, it is refused.
    private static func hasNoBody(_ head: HTTPRequest) -> Bool {
        !announcesBody(head) && !head.headerFields.contains(.contentDigest)
    }

    private func isEmpty(_ body: RequestBody) async throws -> Bool {
        do {
            _ = try await BodyCollector.shared.collect(body, upTo: 0)
            return true
        } catch is NIOTooManyBytesError {
            return false
        }
    }

    private func tooLarge() -> SignatureRefusal {
        SignatureRefusal(.bodyTooLarge, "the body has more than \(rules.maximumBodyByteCount) bytes", at: now())
    }
}

extension SignatureRules {
    /// Judges a received request as a ``SignatureMiddleware`` with these rules and no recorded nonces would.
    ///
    /// - Throws: `SignatureRefusal`.
    package func judge(_ head: HTTPRequest, body: [UInt8], keys: any KeyDirectory, at now: UnixTime) async throws {
        let nonces = NonceMemory(startedAt: UnixTime(seconds: .min), maximumNonces: 1)
        let verifier = RequestVerifier(self, keys: keys, nonces: nonces, now: { now })
        let request = Request(head: head, body: RequestBody(buffer: ByteBuffer(bytes: body)))
        _ = try await verifier.verify(request) { refusal in
            RefusedRequest(refusal: refusal, accepted: nil, isExplained: true)
        }
    }
}

/// A streamed body whose signature is judged at its end.
struct VerifiedBody: AsyncSequence, Sendable {
    /// Judges the request at the end of its body. `mismatch` is set if the body's digest differs from the signed one.
    typealias Judge = @Sendable (_ mismatch: SignatureError?) async throws(RefusedRequest) -> Void

    let base: RequestBody
    /// The signed digest; `nil` if the signature does not cover the body.
    let digest: BodyDigest?
    let judge: Judge

    func makeAsyncIterator() -> Iterator {
        Iterator(
            base: base.makeAsyncIterator(), digest: digest, digester: BodyDigester(digest?.algorithms ?? []),
            judge: judge)
    }

    struct Iterator: AsyncIteratorProtocol {
        var base: RequestBody.AsyncIterator
        let digest: BodyDigest?
        var digester: BodyDigester
        let judge: Judge

        @concurrent mutating func next() async throws -> ByteBuffer? {
            if let part = try await base.next() {
                part.withUnsafeReadableBytes { digester.update($0) }
                return part
            }
            do throws(SignatureError) {
                try digest?.verify(digester.finish())
            } catch {
                return try await refuse(error)
            }
            try await judge(nil)
            return nil
        }

        private func refuse(_ mismatch: SignatureError) async throws(RefusedRequest) -> ByteBuffer? {
            try await judge(mismatch)
            return nil
        }
    }
}

extension Request {
    fileprivate func with(_ body: RequestBody) -> Request {
        var request = self
        request.body = body
        return request
    }
}
