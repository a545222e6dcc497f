import Foundation
import HTTPTypes
public import Hummingbird
import NIOCore
import RunwayFormats
import RunwayJSON
public import RunwaySignatures

/// Lets the devices of signed-in accounts enrol, list, replace and revoke keys of their own.
///
/// ```swift
/// EnrolmentRoutes(rules, keys: keys) { request, _ in account(of: request) }.add(to: router.group("v1"))
/// router.add(middleware: SignatureMiddleware(signatureRules, keys: keys))
/// ```
///
/// | request | effect |
/// |---|---|
/// | `POST device-keys/challenge` | issues a challenge, which the account can use once and for some minutes |
/// | `POST device-keys` | enrols a key of a device, which may replace another |
/// | `GET device-keys` | lists the account's keys |
/// | `DELETE device-keys/<id>` | revokes a key of the account |
///
/// Add the routes before ``SignatureMiddleware``, since a device has no key before it enrols one. Add them after the
/// middleware that authenticates accounts: anyone who has a user's access token can enrol a key for this user.
///
/// A device that replaces a key proves that it has both keys. A refused request fails with an ``EnrolmentRefusal``.
/// `docs/formats.md` defines the messages.
public struct EnrolmentRoutes<Context: RequestContext>: Sendable {
    private let rules: EnrolmentRules
    private let keys: any EnrolledKeyDirectory
    private let claims: any NonceStore
    private let limiter: FailureLimiter?
    private let now: @Sendable () -> UnixTime
    private let account: @Sendable (Request, Context) async throws -> String?

    /// Creates routes that enrol keys in a directory for signed-in accounts.
    ///
    /// - Parameters:
    ///   - rules: The requirements for enrolments.
    ///   - keys: The directory of enrolled keys. Pass the same directory to ``SignatureMiddleware``.
    ///   - claims: Records used challenges. The default is a `NonceMemory` for one server, with at most 100,000
    ///     challenges and 100 per account.
    ///   - now: Returns the time. The default is the system's clock.
    ///   - account: Returns the signed-in account, or `nil` if nobody is signed in.
    public init(
        _ rules: EnrolmentRules, keys: any EnrolledKeyDirectory, claims: (any NonceStore)? = nil,
        now: (@Sendable () -> UnixTime)? = nil,
        account: @escaping @Sendable (Request, Context) async throws -> String?
    ) {
        let now = now ?? { UnixTime(seconds: Int64(Date().timeIntervalSince1970)) }
        let claims =
            claims ?? NonceMemory(startedAt: now(), maximumNonces: 100_000, maximumNoncesPerKey: 100)
        (self.rules, self.keys, self.claims, self.now, self.account) = (rules, keys, claims, now, account)
        limiter = rules.failureLimits.map(FailureLimiter.init)
    }

    /// Adds the routes to a router or a router group.
    ///
    /// - Parameters:
    ///   - router: The router or group.
    ///   - path: The path below the group's. The default is `device-keys`.
    public func add(to router: some RouterMethods<Context>, path: RouterPath = "device-keys") {
        let group = router.group(path)
        group.post("challenge") { request, context in try await issueChallenge(request, context) }
        group.post { request, context in try await enrol(request, context) }
        group.get { request, context in try await list(request, context) }
        group.delete(":id") { request, context in
            try await revoke(context.parameters.get("id") ?? "", request, context)
        }
    }

    private func issueChallenge(_ request: Request, _ context: Context) async throws -> Response {
        let account = try await owner(request, context)
        let time = now()
        return response { writer in
            writer.member("challenge", rules.challenges.issue(at: time, for: Self.purpose(account)))
            writer.member("expires", (time + EnrolmentRules.challengeLifetime).seconds)
        }
    }

    private func enrol(_ request: Request, _ context: Context) async throws -> Response {
        let account = try await owner(request, context)
        if let limiter, limiter.isExceeded(by: account, at: now()) { throw EnrolmentRefusal.tooManyFailures }
        do {
            let body = try await body(of: request)
            // The account is checked again, since the login may have ended while the body arrived.
            guard try await owner(request, context).isExactly(account) else { throw EnrolmentRefusal.account }
            return try await enrol(request, body, of: account, at: now())
        } catch let refusal as EnrolmentRefusal {
            if [.malformed, .challenge, .proof, .attestation].contains(refusal) {
                limiter?.record(account, at: now())
            }
            throw refusal
        }
    }

    private func enrol(
        _ request: Request, _ body: [UInt8], of account: String, at time: UnixTime
    ) async throws -> Response {
        let authority: String?
        do throws(SignatureRefusal) {
            authority = try rules.origin.head(of: request.head, at: time).authority
        } catch {
            throw EnrolmentRefusal.malformed
        }
        let sent = try EnrolmentRequest(body, account: account, authority: authority ?? "")
        try await claim(sent.statement.challenge, of: account, at: time)
        guard sent.statement.key.isValid(sent.proof, of: sent.statement.bytes) else { throw EnrolmentRefusal.proof }
        // A device that did not receive the response retries with the same key. The replaced key may have expired
        // since.
        let present = try await stored { try await keys.record(forKeyID: sent.statement.keyID) }
        if let present, present.isSame(owner: account, device: sent.statement.device), present.isActive(at: time) {
            return enrolled(present.id)
        }
        if let replaced = sent.statement.replacedKeyID {
            try await verify(sent, replacing: replaced, of: account, at: time)
        }
        var record = KeyRecord(
            id: sent.statement.keyID, key: sent.statement.key, owner: account, notBefore: time,
            notAfter: rules.keyLifetime.map { time + $0 })
        record.device = sent.statement.device
        if let attestation = rules.attestation {
            guard let evidence = sent.evidence else { throw EnrolmentRefusal.attestation }
            // The limit on keys is checked first, since a piece of evidence can be verified only once.
            let own = try await stored { try await keys.records(of: account) }
            let plan = KeyEnrolmentPlan(
                record, present: present, own: own, replacing: sent.statement.replacedKeyID, overlap: rules.overlap,
                upTo: rules.maximumKeysPerAccount, at: time)
            try check(plan.outcome)
            try await attestation.verify(evidence, of: sent.statement, at: time)
        }
        let outcome = try await stored {
            try await keys.enrol(
                record, replacing: sent.statement.replacedKeyID, overlap: rules.overlap,
                upTo: rules.maximumKeysPerAccount, at: time)
        }
        try check(outcome)
        return enrolled(record.id)
    }

    private func check(_ outcome: KeyEnrolment) throws(EnrolmentRefusal) {
        switch outcome {
        case .enrolled: return
        case .inUse: throw EnrolmentRefusal.keyInUse
        case .full: throw EnrolmentRefusal.tooManyKeys
        case .notReplaceable: throw EnrolmentRefusal.unknownKey
        }
    }

    private func enrolled(_ id: String) -> Response {
        response(.created) { writer in
            writer.name("id")
            writer.string(id)
        }
    }

    private func list(_ request: Request, _ context: Context) async throws -> Response {
        let account = try await owner(request, context)
        let time = now()
        let records = try await stored { try await keys.records(of: account) }
        return response { writer in
            writer.name("keys")
            writer.beginArray()
            for record in records { writer.key(record, at: time) }
            writer.endArray()
        }
    }

    private func revoke(_ id: String, _ request: Request, _ context: Context) async throws -> Response {
        let account = try await owner(request, context)
        guard try await stored({ try await keys.revoke(id, of: account) }) else { throw EnrolmentRefusal.unknownKey }
        return Response(status: .noContent)
    }

    // MARK: - Parts

    private func owner(_ request: Request, _ context: Context) async throws -> String {
        guard let account = try await account(request, context), !account.isEmpty else {
            throw EnrolmentRefusal.account
        }
        // Databases would truncate the name at U+0000 and take it for the name of another account.
        if account.utf8.contains(0) { throw EnrolmentRefusal.malformed }
        return account
    }

    private func body(of request: Request) async throws -> [UInt8] {
        do {
            let body = try await BodyCollector.shared.collect(request.body, upTo: EnrolmentRules.maximumBodyByteCount)
            return Array(body.readableBytesView)
        } catch is NIOTooManyBytesError {
            throw EnrolmentRefusal.malformed
        }
    }

    /// Marks a challenge as used, even if the enrolment fails: each challenge allows one attempt.
    private func claim(_ challenge: String, of account: String, at time: UnixTime) async throws(EnrolmentRefusal) {
        let purpose = Self.purpose(account)
        guard let issued = rules.challenges.time(of: challenge, for: purpose), issued <= time,
            time <= issued + EnrolmentRules.challengeLifetime
        else { throw EnrolmentRefusal.challenge }
        let nonce = Nonce(
            value: challenge, keyID: purpose, created: issued, expires: issued + EnrolmentRules.challengeLifetime)
        do throws(SignatureRefusal) {
            try await claims.use(nonce, at: time)
        } catch {
            throw error.reason == .store ? EnrolmentRefusal.store : .challenge
        }
    }

    private func verify(
        _ sent: EnrolmentRequest, replacing replaced: String, of account: String, at time: UnixTime
    ) async throws {
        let record = try await stored { try await keys.record(forKeyID: replaced) }
        guard let record, record.isSame(owner: account, device: sent.statement.device), record.isActive(at: time) else {
            throw EnrolmentRefusal.unknownKey
        }
        guard record.key.isValid(sent.replacedProof, of: sent.statement.bytes) else { throw EnrolmentRefusal.proof }
    }

    private func stored<Value>(_ work: () async throws -> Value) async throws(EnrolmentRefusal) -> Value {
        do { return try await work() } catch { throw EnrolmentRefusal.store }
    }

    /// Returns the purpose of an account's challenges. Because of the purpose, a challenge cannot be used as a
    /// signature nonce, or by another account.
    private static func purpose(_ account: String) -> String { "enrolment of \(account)" }

    private func response(
        _ status: HTTPResponse.Status = .ok, _ write: (inout JSONWriter) -> Void
    ) -> Response {
        Response(json: JSONWriter.object(write), status: status)
    }
}

extension JSONWriter {
    fileprivate mutating func key(_ record: KeyRecord, at time: UnixTime) {
        object { writer in
            writer.member("id", record.id)
            writer.member("device", record.device)
            writer.member("notBefore", record.notBefore?.seconds)
            writer.member("notAfter", record.notAfter?.seconds)
            writer.member("active", record.isActive(at: time))
        }
    }
}
