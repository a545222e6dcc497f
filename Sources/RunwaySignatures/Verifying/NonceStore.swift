/// A nonce of a signature that was found to be valid.
public struct Nonce: Sendable, Hashable {
    /// The value of the parameter `nonce`.
    public let value: String
    /// The identifier of the key. Two keys may use the same nonce.
    public let keyID: String
    /// The earliest moment, by the verifier's clock, at which the signature can have been made: `created` minus the tolerance for
    /// the signer's clock, or the moment at which the server issued the nonce.
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
    /// The signature was made before the memory began, or has expired: nothing can tell whether its nonce was used.
    case beforeMemory
}

/// Remembers the nonces that were used.
///
/// ``NonceMemory`` does in memory, for one server, and `SQLiteNonceStore` of `RunwayServerStorage` in a file, for one that must accept
/// requests right after a restart. Servers that share keys need a store that they share, or clients that always
/// reach the same server: otherwise a request can be replayed once at each. Implement the protocol over a database that can insert
/// if absent.
public protocol NonceStore: Sendable {
    /// Claims a nonce atomically: of several claims to the same nonce of a key, one is ``NonceClaim/claimed``. If it throws, the
    /// signature is refused.
    func claim(_ nonce: Nonce, at now: UnixTime) async throws -> NonceClaim
}

extension NonceStore {
    /// Claims a nonce, or throws why the signature is refused.
    package func use(_ nonce: Nonce, at now: UnixTime) async throws(SignatureRefusal) {
        let claim: NonceClaim
        do {
            claim = try await self.claim(nonce, at: now)
        } catch {
            throw SignatureRefusal(.store, "the nonce store has failed", at: now)
        }
        switch claim {
        case .claimed: return
        case .replayed: throw SignatureRefusal(.replayed, "the nonce has been used", at: now)
        case .full: throw SignatureRefusal(.nonceUnknown, "the nonce memory is full", at: now)
        case .beforeMemory:
            throw SignatureRefusal(.nonceUnknown, "the signature is older than the nonce memory", at: now)
        }
    }
}
