import HTTPTypes
import Hummingbird
import NIOCore
import RunwaySignatures

/// Verifies requests by rules.
struct RequestVerifier: Sendable {
    let rules: SignatureRules
    let keys: any KeyDirectory
    let signatures: SignatureVerifier
    let digests: DigestVerifier?
    let now: @Sendable () -> UnixTime
    /// The signatures that the policy asks for, of requests with a body and without.
    private let wanted: (withBody: SignatureRequest?, without: SignatureRequest?)

    init(
        rules: SignatureRules, keys: any KeyDirectory, signatures: SignatureVerifier, digests: DigestVerifier?,
        now: @escaping @Sendable () -> UnixTime
    ) {
        (self.rules, self.keys, self.signatures, self.digests, self.now) = (rules, keys, signatures, digests, now)
        wanted = (
            try? rules.policy.signatureRequest(hasBody: true), try? rules.policy.signatureRequest(hasBody: false)
        )
    }

    /// Returns who signed a request, and the request with its verified body.
    ///
    /// - Parameter onStreamFailure: Makes the error that a streamed body throws at its end if its digest differs from the signed one.
    /// - Throws: ``SignatureRefusal``, or what reading the body throws.
    func verify(
        _ request: Request, onStreamFailure: @escaping @Sendable (SignatureRefusal) async -> RefusedRequest
    ) async throws -> (signer: VerifiedSigner, request: Request) {
        let time = now()
        let head = try rules.origin.head(of: request.head, at: time)
        let digests = digests(for: head)
        let streams = digests == nil && Self.isSigned(head) && rules.streamsBody(head)
        let length = head.headerFields[.contentLength].flatMap { Int($0) } ?? 0
        guard streams || length <= rules.maximumBodyByteCount else { throw tooLarge() }
        if let digests {
            let digest = try digests.digest(of: head, at: time)
            let body = try await wholeBody(of: request)
            // By the time at which the nonce is claimed: the body may have come slowly.
            let signer = try await digests.verify(digest, of: head, body: Array(body.readableBytesView), at: now())
            return (signer, request.with(RequestBody(buffer: body)))
        }
        let context = SignatureContext(head, structuredFieldTypes: rules.structuredFieldTypes)
        let signature = try await signatures.verify(context, hasBody: Self.announcesBody(head), at: time)
        let signer = VerifiedSigner(
            keyID: signature.keyID, owner: signature.owner, way: .signature(signature), tag: rules.policy.tag,
            head: head, coversBody: signature.digest != nil || rules.policy.coversBody)
        do {
            let received = try await self.request(request, with: signature, streams: streams, onStreamFailure)
            return (signer, received)
        } catch let refusal as SignatureRefusal {
            throw refusal.authentic()
        }
    }

    /// The request with a body that is the one of its signature.
    ///
    /// The body may come slowly: a refusal has the time at which it is made, by which the client corrects its clock.
    private func request(
        _ request: Request, with signature: VerifiedSignature, streams: Bool,
        _ onStreamFailure: @escaping @Sendable (SignatureRefusal) async -> RefusedRequest
    ) async throws -> Request {
        guard let digest = signature.digest else {
            return rules.policy.coversBody ? try await withoutBody(request) : request
        }
        if streams {
            let body = DigestedBody(base: request.body, digest: digest) { [now] error in
                await onStreamFailure(SignatureRefusal(.body, error.description, at: now()))
            }
            return request.with(RequestBody(asyncSequence: body))
        }
        let body = try await wholeBody(of: request)
        let time = now()
        try body.withUnsafeReadableBytes { bytes throws(SignatureRefusal) in try signature.verifyBody(bytes, at: time) }
        return request.with(RequestBody(buffer: body))
    }

    /// Checks a request that reaches the middleware with a signer: the same request once more, or one that was made in this process
    /// from a verified one, as the items of an envelope are. Middleware with other rules may have verified it.
    func check(_ request: HTTPRequest, lent signer: VerifiedSigner) async throws(SignatureRefusal) {
        let time = now()
        let record: KeyRecord?
        do {
            record = try await keys.record(forKeyID: signer.keyID)
        } catch {
            throw SignatureRefusal(.store, "the key directory has failed", at: time)
        }
        guard let record, record.isActive(at: time) else {
            throw SignatureRefusal(.inactiveKey, "the key \(signer.keyID) is not accepted any more", at: time)
        }
        guard accepts(signer.way, by: record.key) else {
            throw SignatureRefusal(.algorithm, "the way or the algorithm of the signer is not accepted here", at: time)
        }
        var head = request
        (head.scheme, head.authority) = (signer.head.scheme, signer.head.authority)
        let isSame = head == signer.head
        // The signature covers an item only through the digest of the envelope.
        guard signer.coversBody || isSame && !rules.policy.coversBody else {
            throw SignatureRefusal(.coverage, "the signature does not cover the body that was received", at: time)
        }
        if isSame {
            let missing =
                switch signer.way {
                case .signature(let signature):
                    rules.policy.missing(from: signature.parameters.components, besides: record.requiredComponents)
                case .saltedDigest, .sealedKey: DigestVerifier.missing(rules.policy, record)
                }
            guard missing.isEmpty else {
                throw SignatureRefusal(.coverage, "the signature does not cover \(missing)", at: time)
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

    /// Whether these rules accept the way in which other rules with the same tag verified a request.
    private func accepts(_ way: VerifiedSigner.Way, by key: VerificationKey) -> Bool {
        switch way {
        case .signature: rules.policy.algorithms.contains(key.algorithm)
        case .saltedDigest:
            rules.digests.map { $0.algorithms.contains(key.algorithm) && !$0.requiresSealedKey } ?? false
        case .sealedKey: rules.digests.map { $0.algorithms.contains(key.algorithm) && !$0.serverKeys.isEmpty } ?? false
        }
    }

    /// What signature would be accepted after a refusal. `nil` if none would now.
    func accepted(after refusal: SignatureRefusal, of request: HTTPRequest) async -> SignatureRequest? {
        guard ![.store, .tooManyFailures, .bodyTooLarge, .authority].contains(refusal.reason) else { return nil }
        // A salted digest can't have a nonce of the server: its caller has to wait.
        if refusal.reason == .nonceUnknown, proof(of: request) == .digest { return nil }
        let hasBody = Self.announcesBody(request) || refusal.reason == .body
        var accepted = hasBody ? wanted.withBody : wanted.without
        // The signature was valid: its key's owner may know what the key requires.
        if refusal.reason == .coverage, refusal.base != nil, let keyID = taggedSignature(of: request)?.parameters.keyID,
            let record = try? await keys.record(forKeyID: keyID)
        {
            var policy = rules.policy
            for component in record.requiredComponents where !policy.requiredComponents.contains(component) {
                policy.requiredComponents.append(component)
            }
            accepted = try? policy.signatureRequest(hasBody: hasBody)
        }
        // A copy of the request was accepted: with another nonce the client would send it a second time.
        if refusal.reason != .replayed { accepted?.nonce = rules.policy.serverNonces?.issue(at: refusal.time) }
        return accepted
    }

    /// A refusal with the signature base of the request, as far as it can be made, if the refusal has none. For development.
    func explained(_ refusal: SignatureRefusal, of request: HTTPRequest) -> SignatureRefusal {
        guard refusal.base == nil, let head = try? rules.origin.head(of: request, at: refusal.time),
            let signature = taggedSignature(of: head)
        else { return refusal }
        let context = SignatureContext(head, structuredFieldTypes: rules.structuredFieldTypes)
        return refusal.with(base: context.availableBase(for: signature.parameters))
    }

    /// Verifies a request by its salted digest. `nil` if it has none, if none is accepted, or if the request has a signature: it is
    /// then verified by that alone, and the digest is no way around it. Signatures with another tag, which a proxy may add, do not
    /// count; fields that are malformed do.
    private func digests(for head: HTTPRequest) -> DigestVerifier? {
        guard let digests, head.headerFields.contains(.runwayDigest),
            let signatures = try? head.headerFields.signatures(within: rules.policy.limits),
            !signatures.contains(where: { $0.parameters.tag == rules.policy.tag })
        else { return nil }
        return digests
    }

    /// After how many seconds a caller is accepted who can do nothing but wait.
    func retryAfter(_ refusal: SignatureRefusal, by proof: RequestProof?) -> Int? {
        switch (refusal.reason, proof) {
        case (.tooManyFailures, _): return 1
        case (.nonceUnknown, .digest):
            // A digest that is made now is accepted when the memory is as old as clocks may be ahead; a full one has room sooner.
            let start = refusal.acceptedUntil ?? refusal.time
            let tolerance = rules.policy.clockTolerance
            let wait = (start + tolerance).seconds - refusal.time.seconds
            return Int(clamping: min(max(wait, 1), max(tolerance.components.seconds, 1)))
        default: return nil
        }
    }

    /// By what a request is verified.
    func proof(of head: HTTPRequest) -> RequestProof? {
        if digests(for: head) != nil { return .digest }
        return taggedSignature(of: head).map { .signature(label: $0.label) }
    }

    /// Whether a request shows in no way who sent it.
    static func isUnsigned(_ head: HTTPRequest) -> Bool {
        !isSigned(head) && !head.headerFields.contains(.runwayDigest)
    }

    /// Whether a request has a field of signatures.
    private static func isSigned(_ head: HTTPRequest) -> Bool {
        head.headerFields.contains(.signature) || head.headerFields.contains(.signatureInput)
    }

    private func taggedSignature(of request: HTTPRequest) -> LabelledSignature? {
        let signatures = try? request.headerFields.signatures(within: rules.policy.limits)
        return signatures?.first { $0.parameters.tag == rules.policy.tag }
    }

    /// Whether the header section says that a body follows. HTTP/2 need not say it: what follows unsaid is refused when it is read.
    private static func announcesBody(_ head: HTTPRequest) -> Bool {
        head.headerFields[.contentLength].map { $0 != "0" } ?? head.headerFields.contains(.transferEncoding)
    }

    private func wholeBody(of request: Request) async throws -> ByteBuffer {
        do {
            return try await request.body.collect(upTo: rules.maximumBodyByteCount)
        } catch is NIOTooManyBytesError {
            throw tooLarge()
        }
    }

    private func withoutBody(_ request: Request) async throws -> Request {
        do {
            return request.with(RequestBody(buffer: try await request.body.collect(upTo: 0)))
        } catch is NIOTooManyBytesError {
            throw SignatureRefusal(.coverage, "the signature does not cover content-digest", at: now())
        }
    }

    private func tooLarge() -> SignatureRefusal {
        SignatureRefusal(.bodyTooLarge, "the body has more than \(rules.maximumBodyByteCount) bytes", at: now())
    }
}

/// A body whose digest is compared at its end.
struct DigestedBody: AsyncSequence, Sendable {
    let base: RequestBody
    let digest: BodyDigest
    let failure: @Sendable (SignatureError) async -> RefusedRequest

    func makeAsyncIterator() -> Iterator {
        Iterator(
            base: base.makeAsyncIterator(), digest: digest, digester: BodyDigester(digest.algorithms), failure: failure)
    }

    struct Iterator: AsyncIteratorProtocol {
        var base: RequestBody.AsyncIterator
        let digest: BodyDigest
        var digester: BodyDigester
        let failure: @Sendable (SignatureError) async -> RefusedRequest

        @concurrent mutating func next() async throws -> ByteBuffer? {
            if let part = try await base.next() {
                part.withUnsafeReadableBytes { digester.update($0) }
                return part
            }
            do throws(SignatureError) {
                try digest.verify(digester.finish())
            } catch {
                throw await failure(error)
            }
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
