import Foundation
import HTTPTypes
public import Hummingbird
import Logging
public import Metrics
import NIOHTTP1
public import RunwaySignatures

/// Passes only requests whose signature is verified. Handlers find the signer in the context.
///
/// ```swift
/// let router = Router(context: BasicSignedRequestContext.self)
/// let rules = SignatureRules(tag: "app", origin: PublicOrigin("api.example.com"))
/// router.add(middleware: SignatureMiddleware(rules, keys: keys))
/// router.get("orders") { request, context in "orders of \(context.signer?.owner ?? "")" }
/// ```
///
/// Add the middleware before all other middleware that reads or changes requests.
///
/// The middleware finds the signature by its tag. It verifies the signature with the bytes of path and query as
/// received, claims the nonce, and compares the digest with the body before a handler runs. If the body was truncated
/// or changed in transit, the nonce is used up. When the body has arrived, the key and the age of the signature are
/// judged again, so a key that was revoked meanwhile is refused.
///
/// Every other request gets the response of a ``RefusedRequest``. While the store of keys or nonces fails, every
/// request does. Hummingbird's middleware has no access to trailer fields, so a signature that covers one is refused.
///
/// The items of a ``MergingRouter``'s envelope have the signer of the envelope, since their contexts are copies of its
/// context. Each item must have the components that the rules and the key require. No other request has the signer,
/// since the context of a received request starts without one.
///
/// Middleware with the same tag and other rules verifies the signature again. Its directory must have the same key of
/// the same owner. The signature must be for its origin, be young enough, and have a claimed nonce, as its rules
/// require.
///
/// Requests that ``ResponseSigning/passesUnsigned`` chooses pass without a signer if they have no signature.
///
/// The middleware counts `runway_signatures_total` by `outcome`: `accepted`, or the reason of the refusal.
public struct SignatureMiddleware<Context: SignedRequestContext>: RouterMiddleware {
    private let rules: SignatureRules
    private let verifier: RequestVerifier
    private let limiter: FailureLimiter?
    private let outcomes: SignatureOutcomes

    /// Creates middleware that verifies the signature of every request before the next responder handles it.
    ///
    /// - Parameters:
    ///   - rules: The requirements for requests.
    ///   - keys: Finds keys by their identifiers.
    ///   - nonces: Records used nonces. The default is a `NonceMemory` that starts now, for one server. With it, the
    ///     server also issues nonces, with a random key unless the policy has `VerificationPolicy.serverNonces`. For
    ///     its first 30 seconds, requests with a client nonce are refused, and clients sign again with the nonce in the
    ///     refusal; salted digests cannot use such a nonce. A `SQLiteNonceStore` of `RunwayServerStorage` accepts
    ///     requests immediately. Middleware with the same keys must share a store; several servers behind one name must
    ///     share a store and the key of `serverNonces`.
    ///   - metrics: Creates the counters. The default is the process-wide factory.
    ///   - now: Returns the time. The default is the system's clock.
    public init(
        _ rules: SignatureRules, keys: any KeyDirectory, nonces: (any NonceStore)? = nil,
        metrics: any MetricsFactory = MetricsSystem.factory,
        now: (@Sendable () -> UnixTime)? = nil
    ) {
        let now = now ?? { UnixTime(seconds: Int64(Date().timeIntervalSince1970)) }
        var rules = rules
        if nonces == nil, rules.policy.serverNonces == nil { rules.policy.serverNonces = ServerNonces() }
        let nonces = nonces ?? NonceMemory(startedAt: now())
        self.rules = rules
        if let warning = rules.warning { Logger(label: "runway.signatures").warning("\(warning)") }
        verifier = RequestVerifier(rules, keys: keys, nonces: nonces, now: now)
        limiter = rules.failureLimits.map(FailureLimiter.init)
        outcomes = SignatureOutcomes(metrics)
    }

    /// Verifies a request and passes it on, or throws a ``RefusedRequest``. A signed refusal is returned as a response.
    public func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        if let signer = context.signer, signer.tag == rules.policy.tag {
            let received: Request
            do {
                received = try await verifier.verify(request, lent: signer)
            } catch let refusal as SignatureRefusal {
                return try await refuse(request, refusal, context, source: nil)
            }
            return try await next(received, context)
        }
        if let signing = rules.responses, RequestVerifier.isUnsigned(request.head), signing.passesUnsigned(request.head)
        {
            let head: HTTPRequest
            do throws(SignatureRefusal) {
                head = try rules.origin.head(of: request.head, at: verifier.now())
            } catch {
                return try await refuse(request, error, context, source: nil)
            }
            return try await respond(to: request, head: head, by: nil, context, signing, next)
        }
        let source = limiter == nil ? nil : rules.source(of: request.head, from: context.remoteAddress)
        let verified: (signer: VerifiedSigner, request: Request)
        do {
            if let source, let limiter, limiter.isExceeded(by: source, at: verifier.now()) {
                throw SignatureRefusal(.tooManyFailures, "too many requests of this source failed", at: verifier.now())
            }
            let (head, isExplained) = (request.head, rules.explainsRefusals)
            verified = try await verifier.verify(request) { [verifier, outcomes, limiter] refusal in
                outcomes.count(refusal.reason)
                if let source, refusal.reason.countsAgainstSource(of: head) {
                    limiter?.record(source, at: refusal.time)
                }
                let accepted = await verifier.accepted(after: refusal, of: head)
                return RefusedRequest(refusal: refusal, accepted: accepted, isExplained: isExplained)
            }
        } catch let refusal as SignatureRefusal {
            return try await refuse(request, refusal, context, source: source)
        }
        outcomes.countAccepted()
        var context = context
        context.signer = verified.signer
        guard let signing = rules.responses else { return try await next(verified.request, context) }
        return try await respond(
            to: verified.request, head: verified.signer.head, by: RequestProof(verified.signer.way), context, signing,
            next)
    }

    /// Passes a request on and signs the response.
    private func respond(
        to request: Request, head: HTTPRequest, by proof: RequestProof?, _ context: Context,
        _ signing: ResponseSigning, _ next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        func signed(_ response: Response) async throws -> Response {
            try await signing.signed(
                response, to: head, by: proof, structuredFieldTypes: rules.structuredFieldTypes, at: verifier.now,
                logger: context.logger)
        }
        do {
            do {
                return try await signed(try await next(request, context))
            } catch let error as any HTTPResponseError {
                return try await signed(try error.response(from: request, context: context))
            }
        } catch {
            // Errors of HTTP parsing are handled by the server, which also closes the connection.
            if Task.isCancelled || error is HTTPParserError { throw error }
            // If the error were thrown, Hummingbird would respond without a signature.
            let reason = error is GatheredBody.TooLarge ? "the body is too long to be signed" : "\(type(of: error))"
            context.logger.error("a request failed", metadata: ["error": "\(reason)"])
            return try await signed(Response(status: .internalServerError))
        }
    }

    /// Returns the response of a refusal if the server signs it.
    ///
    /// - Throws: The ``RefusedRequest`` otherwise.
    private func refuse(
        _ request: Request, _ refusal: SignatureRefusal, _ context: Context, source: String?
    ) async throws -> Response {
        outcomes.count(refusal.reason)
        // If refusals are signed, the time is judged last. A forgery with an invalid time has then cost as much work as
        // any other forgery, so it counts as one.
        let isForged = rules.responses != nil && !refusal.isAuthentic && [.tooOld, .inFuture].contains(refusal.reason)
        if let source, isForged || refusal.reason.countsAgainstSource(of: request.head) {
            limiter?.record(source, at: refusal.time)
        }
        // Only the reason is logged, since key identifiers, header fields and signature bases come from the client.
        context.logger.debug("request refused", metadata: ["runway.signature": "\(refusal.reason)"])
        let accepted = await verifier.accepted(after: refusal, of: request.head)
        var refused = RefusedRequest(
            refusal: rules.explainsRefusals ? verifier.explained(refusal, of: request.head) : refusal,
            accepted: accepted, isExplained: rules.explainsRefusals)
        let proof = verifier.proof(of: request.head)
        refused.retryAfter = verifier.retryAfter(refusal, by: proof)
        // Only refusals of authentic requests are signed, since otherwise anyone could make the server sign.
        guard let signing = rules.responses, refusal.isAuthentic,
            let head = try? rules.origin.head(of: request.head, at: refusal.time)
        else { throw refused }
        let response = refused.response(from: request, context: context)
        return try await signing.signed(
            response, to: head, by: proof, structuredFieldTypes: rules.structuredFieldTypes, at: { refusal.time },
            logger: context.logger)
    }
}

/// Counts the outcomes of requests.
struct SignatureOutcomes: Sendable {
    private let factory: any MetricsFactory
    private let accepted: Counter

    init(_ factory: any MetricsFactory) {
        self.factory = factory
        accepted = Self.counter("accepted", factory)
    }

    func countAccepted() { accepted.increment() }

    func count(_ reason: SignatureRefusal.Reason) { Self.counter(reason.name, factory).increment() }

    private static func counter(_ outcome: String, _ factory: any MetricsFactory) -> Counter {
        Counter(label: "runway_signatures_total", dimensions: [("outcome", outcome)], factory: factory)
    }
}
