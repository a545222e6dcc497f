/// The nonce of a valid signature.
public struct Nonce: Sendable, Hashable {
    /// The value of the `nonce` parameter.
    public let value: String
    /// The identifier of the key. Nonces of different keys are independent.
    public let keyID: String
    /// The earliest time, by the verifier's clock, when the signature can have been made: `created` minus the tolerance
    /// for the signer's clock, or the time when the server issued the nonce.
    public let created: UnixTime
    /// The time until which the signature is accepted. The nonce must be stored until then.
    public let expires: UnixTime

    /// Creates a nonce to claim.
    public init(value: String, keyID: String, created: UnixTime, expires: UnixTime) {
        (self.value, self.keyID, self.created, self.expires) = (value, keyID, created, expires)
    }
}

/// The result of claiming a nonce.
public enum NonceClaim: Sendable, Hashable {
    /// The nonce was unused; it now counts as used.
    case claimed
    /// The nonce was used before.
    case replayed
    /// The store is full, in total or for this key.
    case full
    /// The signature may have been made before the associated time, when the store began to record nonces. The nonce
    /// was not used since, but may have been used before.
    case beforeStart(UnixTime)
    /// It is unknown whether the nonce was used: the signature may have been made before the store began to record
    /// nonces, or it has expired.
    case beforeMemory
}

/// Records used nonces.
///
/// Use ``NonceMemory`` for one server, in memory. Use `SQLiteNonceStore` of `RunwayServerStorage` for one server that
/// must accept requests immediately after a restart. Servers that share keys need a shared store, or clients that
/// always reach the same server: otherwise, a request can be replayed once at each server. Implement the protocol with
/// a database that can insert a row if it is absent.
public protocol NonceStore: Sendable {
    /// Claims a nonce atomically: only one of several claims of a nonce is ``NonceClaim/claimed``. If the function
    /// throws, the signature is refused.
    func claim(_ nonce: Nonce, at now: UnixTime) async throws -> NonceClaim
}

extension NonceStore {
    /// Claims the nonce of a valid signature. Throws the refusal if the nonce cannot be claimed.
    package func use(_ nonce: Nonce, at now: UnixTime) async throws(SignatureRefusal) {
        let claim: NonceClaim
        do {
            claim = try await self.claim(nonce, at: now)
        } catch {
            throw refusal(.store, "the nonce store has failed", now, acceptedUntil: nonce.expires)
        }
        switch claim {
        case .claimed: return
        case .replayed: throw refusal(.replayed, "the nonce has been used", now, acceptedUntil: now)
        case .full: throw refusal(.nonceUnknown, "the nonce memory is full", now, acceptedUntil: nonce.expires)
        case .beforeStart(let start):
            throw refusal(.nonceUnknown, "the signature is older than the nonce memory", now, acceptedUntil: start)
        case .beforeMemory:
            throw refusal(.nonceUnknown, "the nonce memory cannot know the nonce", now, acceptedUntil: now)
        }
    }

    private func refusal(
        _ reason: SignatureRefusal.Reason, _ detail: String, _ now: UnixTime, acceptedUntil: UnixTime
    ) -> SignatureRefusal {
        SignatureRefusal(reason, detail, at: now).authentic(acceptedUntil: acceptedUntil)
    }
}
