/// A nonce of a valid signature.
public struct Nonce: Sendable, Hashable {
    /// The value of the parameter `nonce`.
    public let value: String
    /// The identifier of the key. Two keys may use the same nonce.
    public let keyID: String
    /// The earliest moment, by the verifier's clock, at which the signature can have been made: `created` minus the
    /// tolerance for the signer's clock, or the moment at which the server issued the nonce.
    public let created: UnixTime
    /// The last moment at which the signature is accepted: the nonce must be remembered until then.
    public let expires: UnixTime

    /// Creates a nonce.
    public init(value: String, keyID: String, created: UnixTime, expires: UnixTime) {
        (self.value, self.keyID, self.created, self.expires) = (value, keyID, created, expires)
    }
}

/// The result of claiming a nonce.
public enum NonceClaim: Sendable, Hashable {
    /// The nonce was unused, and counts as used from now on.
    case claimed
    /// The nonce was used before.
    case replayed
    /// The store has no room to remember the nonce, or no room for this key.
    case full
    /// The signature may have been made before the memory began, at this time, so that a use of its nonce before then
    /// is unknown. It was not used since.
    case beforeStart(UnixTime)
    /// The signature may have been made before the memory began, or has expired, so that it is unknown whether its
    /// nonce was used.
    case beforeMemory
}

/// Remembers used nonces.
///
/// Use ``NonceMemory`` for one server, in memory, and `SQLiteNonceStore` of `RunwayServerStorage` for one server that
/// must accept requests right after a restart, in a file. Servers that share keys need a shared store, or clients that
/// always reach the same server: otherwise a request can be replayed once at each server. Implement the protocol over a
/// database that can insert if absent.
public protocol NonceStore: Sendable {
    /// Claims a nonce atomically: only one of several claims to the same nonce of a key is ``NonceClaim/claimed``. If
    /// the function throws, the signature is refused.
    func claim(_ nonce: Nonce, at now: UnixTime) async throws -> NonceClaim
}

extension NonceStore {
    /// Claims the nonce of a valid signature. Throws the reason if the signature is refused.
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
