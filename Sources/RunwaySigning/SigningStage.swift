import HTTPTypes
public import Runway
import RunwayFormats
import RunwaySignatures

#if !Signing
    #error("RunwaySigning needs the package trait Signing.")
#endif

/// Signs the requests of one service as they are sent, and verifies the responses if the policy requires it.
///
/// The stage is at the place `FlightStep.signing`, below retries, redirects, merging, compression and hedging. Each
/// attempt, redirected request and envelope has a signature of its own bytes, and a cached response needs no signature.
///
/// ```swift
/// var pipeline = RequestPipeline()
/// let policy = SigningPolicy(.signature(tag: "shop-app"))
/// pipeline.insert(SigningStage(for: Shop.self, policy, keys: deviceKeys), before: .signing)
/// ```
///
/// Only requests to the service's own origin are signed, since a redirect can lead anywhere. Create one stage for each
/// layer: the stage stores the server's time relative to the layer's clock.
///
/// If the server refuses a signature, the call fails with `NetworkError.Kind.refused`. A server such as `RunwayServer`
/// states the reason and its time. The underlying error is then a `SignatureRefusal` with both, which are not
/// authenticated. In development, `RunwayServer` also states the signature base that it computed. The error and the
/// record then name the lines that differ, without secrets.
///
/// If the server refuses a signature with status 401, the stage sends the request again: once with the server's time,
/// if the device's clock was wrong, and once with the nonce and the components that the server asked for in
/// `Accept-Signature`. It does not do so after any other status.
///
/// A 401 passes unchanged if it has neither `Accept-Signature` with the tag of the policy nor a signature problem. A
/// 401 with either never reaches the stage that renews access tokens, even if the request was not signed because its
/// account has no key yet.
///
/// Some requests may not be executed twice. Such a request is sent again only if the server certainly did not execute
/// it. A refusal because of a used nonce proves the opposite: a copy of the request was accepted before. With
/// ``SigningPolicy/responses``, the refusal must also be signed, and must rule out that a copy was accepted since the
/// request was sent.
///
/// A request may be executed twice if its method is idempotent, if it has an `Idempotency-Key`, or if
/// `RetryPolicy.isRepeatable` says so.
///
/// Bodies pass unchanged. A stream that can be read twice is read an extra time for its digest; any other stream must
/// have a `Content-Digest`, or is read into memory up to ``SigningPolicy/maximumBufferedByteCount``.
public struct SigningStage: RequestStage {
    private let service: any APIService.Type
    private let policy: SigningPolicy
    private let keys: any RequestKeyStore
    private let serverTime = ServerTime()

    /// Creates a stage for the requests of one service.
    ///
    /// - Parameters:
    ///   - service: The service. Requests of other services pass unchanged.
    ///   - policy: The settings for signing requests and verifying responses.
    ///   - keys: Finds the key of an account.
    public init(for service: any APIService.Type, _ policy: SigningPolicy, keys: any RequestKeyStore) {
        (self.service, self.policy, self.keys) = (service, policy, keys)
    }

    /// The position of the stage: `signing`.
    public var step: FlightStep { .signing }
    /// `true`: the key store and the signer are abandoned at the deadline of the call and when the call is cancelled.
    public var endsInTime: Bool { true }

    /// Signs the request, sends it, and verifies the response if the policy requires it.
    public func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        guard flight.service == service, request.isForServer(of: flight) else {
            return try await next.send(request, in: flight)
        }
        var request = request
        var corrections = Corrections()
        while true {
            do throws(NetworkError) {
                let signed = try await sign(request, corrections, in: flight)
                request = signed.source
                let sent = serverTime.moment(by: flight.clock)
                let response = try await next.send(signed.request, in: flight).withReadProblem(in: flight)
                if let decision = try await correct(&corrections, after: response, to: signed, sent: sent, in: flight) {
                    flight.note(decision)
                    continue
                }
                return try await verified(response, to: signed, in: flight)
            } catch {
                guard corrections.isRefused else { throw error }
                // The error must state that the request was sent, since the server received and refused it.
                var error = error
                error.sending = .sent
                throw error
            }
        }
    }

    private func sign(
        _ request: Request, _ corrections: Corrections, in flight: Flight
    ) async throws(NetworkError) -> SignedRequest {
        let owner = KeyOwner(service: flight.service.name, environment: flight.environment, account: flight.account)
        let (keys, clock, serverTime) = (keys, flight.clock, serverTime)
        let draft = SignatureDraft(policy: policy, wanted: corrections.wanted)
        let signed: SignedRequest
        if let key = keys.keyInMemory(for: owner), key.signsAtOnce, !request.body.isStream, !Task.isCancelled {
            signed = try await draft.signed(request, with: { key }, at: { serverTime.now(by: clock) })
        } else {
            signed = try await flight.runInTime(.notSent) { () async throws(NetworkError) -> SignedRequest in
                // The time is read after waiting for the key, since the server checks when the signature was made.
                try await draft.signed(
                    request, with: { try await keys.key(for: owner) }, at: { serverTime.now(by: clock) })
            }
        }
        flight.note(signed.keyID.map { SigningDecision.signed(keyID: $0, policy.way) } ?? .unsigned)
        return signed
    }

    /// Returns the corrections for signing the request again, if the server refused the signature and might accept
    /// another one.
    ///
    /// - Throws: The refusal, if it certainly concerns the signature and cannot be corrected.
    private func correct(
        _ corrections: inout Corrections, after response: Response, to signed: SignedRequest,
        sent: ServerTime.Moment, in flight: Flight
    ) async throws(NetworkError) -> SigningDecision? {
        guard response.mayRefuseSignature else { return nil }
        let problem = SignatureProblem(response)
        guard response.head.status == .unauthorized else {
            // The server received another body, component or authority than the app signed. Signing again cannot
            // correct this.
            if let problem { throw refusal(response, problem, of: signed, in: flight) }
            return nil
        }
        let wanted = policy.way.wantedSignature(in: response.head.headerFields)
        guard signed.keyID != nil else {
            // Without a key, nothing can be corrected. The error must not look like a refused access token, which would
            // be renewed in vain.
            if wanted != nil || problem != nil { throw refusal(response, problem, of: signed, in: flight) }
            return nil
        }
        corrections.isRefused = true
        var decision: SigningDecision?
        // The nonce of the older refusal was used or has aged, so it is replaced.
        corrections.wanted?.nonce = wanted?.nonce
        if problem?.needsNewSignature == true, !corrections.isRepeated {
            corrections.isRepeated = true
            decision = .repeated
        }
        if let wanted, corrections.wanted == nil, !policy.way.provides(wanted) {
            corrections.wanted = wanted
            decision = .meetsRequest
        }
        // The `Date` of other 401 responses is ignored, since a gateway with another clock may have sent them.
        let concernsSignature = wanted != nil || problem != nil
        let time = concernsSignature ? problem?.time ?? ServerTime.date(of: response, flight.clock) : nil
        if let time, !corrections.hasTime,
            let difference = serverTime.adopt(time, sent: sent, within: SigningPolicy.maximumCorrection, flight.clock)
        {
            corrections.hasTime = true
            decision = .correctedTime(by: difference)
        }
        // If the request cannot be sent again, later calls still use the corrected time.
        let elapsed = flight.clock.now - sent.instant
        if decision != nil, try await !maySend(again: signed, after: response, problem, within: elapsed, in: flight) {
            decision = nil
        }
        if decision == nil, concernsSignature { throw refusal(response, problem, of: signed, in: flight) }
        return decision
    }

    /// Returns whether a refused request may be sent again: its body can be sent again, and the request was not
    /// executed or may be executed twice.
    ///
    /// - Parameter elapsed: The time since a moment before the request was sent.
    private func maySend(
        again signed: SignedRequest, after response: Response, _ problem: SignatureProblem?, within elapsed: Duration,
        in flight: Flight
    ) async throws(NetworkError) -> Bool {
        guard signed.request.body.isReplayable else { return false }
        if signed.request.isRepeatable(in: flight) { return true }
        // A copy of the request was accepted before, since someone on the network path sent it twice. An unreadable
        // reason may mean the same.
        if problem?.isReplay == true { return false }
        if case .stream = response.body { return false }
        guard policy.responses != nil else { return true }
        // Anyone on the network path can refuse a request that the server has executed, or send it again until the
        // server refuses it.
        if problem?.excludesCopies(sentBefore: elapsed) == false { return false }
        do throws(NetworkError) {
            _ = try await verify(response, to: signed, in: flight)
            return true
        } catch {
            guard error.kind == .notTrusted else { throw error }
            return false
        }
    }

    /// Returns the error of a refused signature. It includes the differences between the two signature bases if the
    /// server discloses its own.
    private func refusal(
        _ response: Response, _ problem: SignatureProblem?, of signed: SignedRequest, in flight: Flight
    ) -> NetworkError {
        var difference: BaseDifference?
        if signed.keyID != nil, let received = problem?.signatureBase {
            difference = BaseDifference(signed: signed.base, received: received, in: flight)
        }
        if let difference { flight.note(SigningDecision.compared("\(difference)")) }
        var error =
            signed.keyID == nil
            ? NetworkError(unsigned: response, problem, of: flight.account)
            : NetworkError(refused: response, problem, difference)
        // The body is removed since its authenticity is not verified.
        if policy.responses != nil { error.rawData = nil }
        return error
    }

    private func verified(
        _ response: Response, to signed: SignedRequest, in flight: Flight
    ) async throws(NetworkError) -> Response {
        guard policy.responses != nil else { return response }
        // The server does not sign such refusals, since it does not know the client.
        if let problem = SignatureProblem(response) {
            if response.mayRefuseSignature { throw refusal(response, problem, of: signed, in: flight) }
            if response.mayPrecedeVerification { return response.unverifiedFailure }
        }
        let verified = try await verify(response, to: signed, in: flight)
        flight.note(SigningDecision.verifiedResponse)
        return verified
    }

    private func verify(
        _ response: Response, to signed: SignedRequest, in flight: Flight
    ) async throws(NetworkError) -> Response {
        guard let rule = policy.responses, let accepted = signed.responsePolicy else { return response }
        let now = serverTime.now(by: flight.clock)
        let verification = VerificationOfResponse(
            policy: accepted, keys: rule.keys, structuredFieldTypes: policy.structuredFieldTypes, time: now)
        return try await flight.runInTime(.sent) { () async throws(NetworkError) -> Response in
            try await verification.verify(response, to: signed.request.head)
        }
    }
}

/// The corrections made in one attempt. Each kind is made at most once.
private struct Corrections {
    var isRefused = false
    var hasTime = false
    /// Whether the request was signed again without a correction.
    var isRepeated = false
    /// The signature that the server requested, or `nil`.
    var wanted: SignatureRequest?
}

extension Response {
    /// Whether a server may refuse a signature with this status.
    fileprivate var mayRefuseSignature: Bool {
        [.badRequest, .unauthorized, .misdirectedRequest].contains(head.status)
    }

    /// Whether a server may refuse a request with this status before it verifies the signature.
    fileprivate var mayPrecedeVerification: Bool {
        [.contentTooLarge, .tooManyRequests, .serviceUnavailable].contains(head.status)
    }

    /// Returns the response. If its body is a stream that may be a signature problem, reads the body into memory.
    fileprivate func withReadProblem(in flight: Flight) async throws(NetworkError) -> Response {
        guard mayRefuseSignature || mayPrecedeVerification, case .stream(let stream) = body,
            SignatureProblem.isShortProblem(head)
        else { return self }
        let bytes = try await flight.runInTime(.sent) { () async throws(NetworkError) -> [UInt8] in
            do {
                return try await stream.collect(upTo: SignatureProblem.maximumByteCount)
            } catch {
                throw error as? NetworkError
                    ?? NetworkError(.invalidResponse, in: .signing, "The refusal can't be read.", sending: .sent)
            }
        }
        var response = self
        response.body = .whole(RawData(bytes, response: head))
        return response
    }

    /// A copy of this failed response without its body, and without header fields except `Retry-After` and `Date`. Its
    /// verdict follows from the status.
    fileprivate var unverifiedFailure: Response {
        var failure = self
        let fields = head.headerFields.filter { [.retryAfter, .date].contains($0.name) }
        failure.head.headerFields = HTTPFields(fields)
        failure.body = .whole(RawData([], response: failure.head))
        failure.verdict = Verdict(status: head.status, headerFields: failure.head.headerFields)
        return failure
    }
}

extension RequestBody {
    fileprivate var isStream: Bool { if case .stream = uncounted { true } else { false } }
}

extension Request {
    /// Returns whether the request goes to the service's server: to its origin, or, if the origin has the scheme
    /// `http`, to the same host by `https`.
    func isForServer(of flight: Flight) -> Bool {
        guard let own = flight.serviceOrigin else { return false }
        let target = Origin(head)
        return target == own || target.host == own.host && own.scheme == "http" && target.scheme == "https"
    }

    /// Whether the request may be executed twice.
    fileprivate func isRepeatable(in flight: Flight) -> Bool {
        flight.retryPolicy.isRepeatable || head.method.isIdempotent
            || head.headerFields.contains(.idempotencyKey)
    }
}
