/// A nonce of a signature that was found to be valid.
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

    /// A nonce.
    public init(value: String, keyID: String, created: UnixTime, expires: UnixTime) {
        (self.value, self.keyID, self.created, self.expires) = (value, keyID, created, expires)
    }
}

/// What became of a claim to a nonce.
public enum NonceClaim: Sendable, Hashable {
    /// It was not used before, and is from now on.
    case claimed
    /// It was used before.
    case replayed
    /// There is no room to remember it, or none for this key.
    case full
    /// The signature may have been made before the memory began, at this time: nothing can tell whether its nonce was
    /// used before then. It was not used since.
    case beforeStart(UnixTime)
    /// The signature may have been made before the memory began, or has expired: nothing can tell whether its nonce was
    /// used.
    case beforeMemory
}

/// Remembers the nonces that were used.
///
/// ``NonceMemory`` does in memory, for one server, and `SQLiteNonceStore` of `RunwayServerStorage` in a file, for one
/// that must accept requests right after a restart. Servers that share keys need a store that they share, or clients
/// that always reach the same server: otherwise a request can be replayed once at each. Implement the protocol over a
/// database that can insert if absent.
public protocol NonceStore: Sendable {
    /// Claims a nonce atomically: of several claims to the same nonce of a key, one is ``NonceClaim/claimed``. If it
    /// throws, the signature is refused.
    func claim(_ nonce: Nonce, at now: UnixTime) async throws -> NonceClaim
}

extension NonceStore {
    /// Claims a nonce of a signature that was found to be valid, or throws why it is refused.
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
