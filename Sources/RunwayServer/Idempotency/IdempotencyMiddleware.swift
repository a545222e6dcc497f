import Crypto
public import Foundation
import HTTPTypes
public import Hummingbird
import Logging
import NIOCore
import RunwayFormats
import RunwaySignatures

/// Executes a request with an `Idempotency-Key` only once, and replays its response to later requests with the same key
/// (draft-ietf-httpapi-idempotency-key-header).
///
/// ```swift
/// var rules = IdempotencyRules()
/// rules.requiresKey = { $0.path?.hasPrefix("/v1/orders") ?? false }
/// router.add(
///     middleware: IdempotencyMiddleware(rules, store: MemoryIdempotencyStore()) { request, _ in account(of: request) }
/// )
/// ```
///
/// Add the middleware after the middleware that verifies the sender of a request, and before any middleware with
/// effects.
///
/// A key is a string (RFC 8941 §3.3.3), or the same text without quotation marks. A key belongs to one principal. In
/// requests of other methods than POST, PATCH, PUT and DELETE, keys are ignored.
///
/// The first request with a key claims the key in the store. A later request with the same key, method, target, content
/// type and body receives the stored response, with `Idempotency-Replayed: true`, for ``IdempotencyRules/lifetime``.
///
/// A refused request receives a problem (RFC 9457). The `type` of the problem is `urn:runway:idempotency:` followed by
/// the reason. Its `lifetime` is the time for which responses are stored, in seconds:
///
/// | status | reason |
/// |---|---|
/// | 400 | `missing`, `malformed`, `unusablePrincipal` |
/// | 401 | `principal`, with `WWW-Authenticate`: its client renews the access token, and sends the request again |
/// | 409 | `inFlight`, while the first request is being executed, with `Retry-After`; `notStored` |
/// | 413 | `tooLarge` |
/// | 422 | `mismatch`: the requests differ |
/// | 429 | `full`, with `Retry-After` |
/// | 503 | `store`, with `Retry-After` |
///
/// A response that precedes an execution (``IdempotencyRules``) is not stored, and releases the key. An error that is
/// not an `HTTPResponseError` may come after an effect, so a response of status 500 is stored for it. If the process
/// ends during an execution, a request with the key is executed again after ``IdempotencyRules/lease``.
///
/// If the store fails to claim a key, the request is refused. If the store fails to store a response, the middleware
/// tries up to three times, with pauses of 50 and 500 ms, and logs each failure. If all attempts fail, the client
/// receives the response, and a request with the key is executed again after the lease.
///
/// A store of the app may return `false` for a repeated attempt although the response is stored. The request then
/// receives 409, although it was executed.
public struct IdempotencyMiddleware<Context: RequestContext>: RouterMiddleware {
    private let rules: IdempotencyRules
    private let store: any IdempotencyStore
    private let principal: @Sendable (Request, Context) async throws -> String?
    /// The `WWW-Authenticate` challenge for a request without a principal.
    private let challenge: String
    private let now: @Sendable () -> Date

    /// Creates middleware that replays stored responses to repeated requests of a principal.
    ///
    /// - Parameters:
    ///   - rules: The requirements for requests, and for the responses that are stored.
    ///   - store: Stores the responses. Use `SQLiteIdempotencyStore` of `RunwayServerStorage` if they must survive a
    ///     restart.
    ///   - now: Returns the date. The default is the system's clock.
    ///   - principal: Returns the verified sender of a request, or `nil` if it is unknown, for example because the
    ///     access token is missing or has expired. A request with a key and without a sender is refused with 401 and
    ///     the challenge `Bearer`, so that the client renews its token and retries. Throw an `HTTPError` for another
    ///     challenge. A principal that contains U+0000 is refused with 400. The closure is called before the body is
    ///     received, and again afterwards: a request whose principal has changed is refused, too.
    public init(
        _ rules: IdempotencyRules = IdempotencyRules(), store: any IdempotencyStore,
        now: @escaping @Sendable () -> Date = { Date() },
        principal: @escaping @Sendable (Request, Context) async throws -> String?
    ) {
        self.init(rules, store: store, now: now, challenge: "Bearer", principal: principal)
    }

    private init(
        _ rules: IdempotencyRules, store: any IdempotencyStore, now: @escaping @Sendable () -> Date, challenge: String,
        principal: @escaping @Sendable (Request, Context) async throws -> String?
    ) {
        (self.rules, self.store, self.now) = (rules, store, now)
        (self.challenge, self.principal) = (challenge, principal)
    }

    /// Executes the request, or returns the stored response if a request with the same key was executed before.
    public func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard IdempotencyRules.methods.contains(request.method) else { return try await next(request, context) }
        let values = request.headers[values: .idempotencyKey]
        if values.isEmpty {
            if rules.requiresKey(request.head) { throw problem(.missing) }
            return try await next(request, context)
        }
        guard values.count == 1, let text = Self.key(values[0]),
            (1...rules.maximumKeyByteCount).contains(text.utf8.count)
        else { throw problem(.malformed) }
        guard let sender = try await principal(request, context) else { throw problem(.principal) }
        // SQLite would truncate the name at U+0000, and mix up the responses of two principals.
        guard !sender.utf8.contains(0) else { throw problem(.unusablePrincipal) }
        let body: ByteBuffer
        do {
            body = try await BodyCollector.shared.collect(request.body, upTo: rules.maximumBodyByteCount)
        } catch is NIOTooManyBytesError {
            throw problem(.tooLarge)
        }
        var request = request
        request.body = RequestBody(buffer: body)
        // The principal is checked again, since a login may be revoked while a slow body arrives.
        guard try await sender.isExactly(principal(request, context)) else { throw problem(.principal) }
        let execution = IdempotentExecution(
            key: IdempotencyKey(principal: sender, text: text), token: UUID(), rules: rules, store: store, now: now)
        if let response = try await claim(execution, Self.fingerprint(request.head, body), context) { return response }
        return try await execution.run(request, context, next)
    }

    /// Claims the key. Returns a response if the request must not be executed.
    private func claim(
        _ execution: IdempotentExecution, _ fingerprint: [UInt8], _ context: Context
    ) async throws -> Response? {
        let found: IdempotencyClaim
        do {
            found = try await store.claim(
                execution.key, fingerprint: fingerprint, token: execution.token, at: now(), lease: rules.lease)
        } catch is StoreRefusal {
            throw problem(.full)
        } catch {
            context.logger.error("idempotency store failed", metadata: ["error": "\(type(of: error))"])
            throw problem(.store)
        }
        switch found {
        case .claimed: return nil
        case .mismatch: throw problem(.mismatch)
        case .inFlight(let end):
            // The response of the running request usually arrives long before its lease ends.
            throw problem(.inFlight, retryAfter: min(5, Int(max(1, end.timeIntervalSince(now())))))
        case .completed(let response):
            guard let body = response.body else { throw problem(.notStored) }
            var fields = response.headerFields
            fields[.idempotencyReplayed] = "true"
            return Response(
                status: HTTPResponse.Status(code: response.status), headers: fields,
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
        }
    }

    private func problem(_ reason: IdempotencyProblem.Reason, retryAfter: Int = 1) -> IdempotencyProblem {
        IdempotencyProblem(reason: reason, lifetime: rules.lifetime, retryAfter: retryAfter, challenge: challenge)
    }

    /// Returns the key in a field value: the text of a string (RFC 8941 §3.3.3), or a value without quotation marks,
    /// spaces and commas.
    private static func key(_ value: String) -> String? {
        guard value.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else { return nil }
        guard value.hasPrefix("\"") else { return value.contains { "\" ,;".contains($0) } ? nil : value }
        var text = ""
        var rest = value.dropFirst()
        while let character = rest.popFirst() {
            switch character {
            case "\"": return rest.isEmpty ? text : nil
            case "\\":
                guard let escaped = rest.popFirst(), escaped == "\"" || escaped == "\\" else { return nil }
                text.append(escaped)
            default: text.append(character)
            }
        }
        return nil
    }

    /// Returns a hash that identifies the request. Header fields that differ between attempts, such as a signature, are
    /// not included.
    private static func fingerprint(_ head: HTTPRequest, _ body: ByteBuffer) -> [UInt8] {
        var digest = SHA256()
        for part in [head.method.rawValue, head.path ?? "", head.headerFields[.contentType] ?? ""] {
            digest.update(data: Array(part.utf8))
            digest.update(data: [0])
        }
        digest.update(data: Array(body.readableBytesView))
        return Array(digest.finalize())
    }
}

extension IdempotencyMiddleware where Context: SignedRequestContext {
    /// Creates middleware whose principals are the owners of the keys that ``SignatureMiddleware`` has verified. A
    /// request without a signer is refused with 401 and the challenge `Signature`.
    ///
    /// - Parameters:
    ///   - rules: The requirements for requests, and for the responses that are stored.
    ///   - store: Stores the responses.
    ///   - now: Returns the date. The default is the system's clock.
    public init(
        _ rules: IdempotencyRules = IdempotencyRules(), store: any IdempotencyStore,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.init(rules, store: store, now: now, challenge: "Signature") { _, context in context.signer?.owner }
    }
}

/// The execution of one request with a claimed key.
private struct IdempotentExecution: Sendable {
    let key: IdempotencyKey
    let token: UUID
    let rules: IdempotencyRules
    let store: any IdempotencyStore
    let now: @Sendable () -> Date

    /// Executes the request, and stores its response or releases its key.
    func run<Context: RequestContext>(
        _ request: Request, _ context: Context, _ next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            return try await finish(try await next(request, context), context)
        } catch let error as any HTTPResponseError {
            return try await finish(try error.response(from: request, context: context), context)
        } catch {
            // The request may have had an effect, so it must not be executed again.
            _ = try? await finish(Response(status: .internalServerError), context)
            throw error
        }
    }

    private func finish(_ response: Response, _ context: some RequestContext) async throws -> Response {
        if IdempotencyRules.statusesBeforeExecution.contains(response.status.code) {
            do {
                try await store.release(key, token: token)
            } catch {
                context.logger.error("idempotency key not released", metadata: ["error": "\(type(of: error))"])
            }
            return response
        }
        let body = GatheredBody(
            upTo: rules.maximumResponseByteCount, within: ByteBudget(rules.maximumResponseByteCount))
        var stored = IdempotentResponse(
            status: response.status.code,
            headerFields: HTTPFields(response.headers.filter { rules.storedFields.contains($0.name) }), body: nil)
        var sent = response
        if let byteCount = response.body.contentLength, byteCount <= rules.maximumResponseByteCount {
            try await body.gather(response.body)
            stored.body = body.bytes
            sent.body = ResponseBody(byteBuffer: ByteBuffer(bytes: body.bytes))
        }
        // The response is sent even if it cannot be stored, since the request was executed. A repeated request gets 409
        // until the lease ends.
        let isStored = await complete(with: stored, context) ?? true
        return isStored
            ? sent : IdempotencyProblem(reason: .notStored, lifetime: rules.lifetime, retryAfter: 1).response
    }

    /// Stores a response, in up to three attempts. Returns whether it is stored, as the store reports; `nil` if all
    /// attempts fail.
    private func complete(with response: IdempotentResponse, _ context: some RequestContext) async -> Bool? {
        let expiry = now().addingTimeInterval(rules.lifetime / .seconds(1))
        var waits = [Duration.milliseconds(50), .milliseconds(500)].makeIterator()
        while true {
            do {
                return try await store.complete(key, token: token, with: response, until: expiry)
            } catch {
                context.logger.error("idempotent response not stored", metadata: ["error": "\(type(of: error))"])
                guard let wait = waits.next() else { return nil }
                // In a cancelled task, the wait ends immediately and the next attempt follows, since the request was
                // executed, even if the client has disconnected.
                try? await Task.sleep(for: wait)
            }
        }
    }
}
