import Crypto
import Synchronization

/// Records used nonces in memory, for one server.
///
/// Its size is limited: when it is full, claims are refused until nonces expire. Each key has a quota, so that one key
/// cannot cause the signatures of all other keys to be refused.
///
/// After a restart of the server, the memory is empty. Signatures that may have been made before the start are refused,
/// and their signers must sign again. Since a signer's clock may be ahead, these are all signatures whose `created` is
/// before the start plus the 30 seconds of clock tolerance. For that long, only signatures with a nonce of
/// ``ServerNonces`` are accepted.
///
/// If the wall clock is set back, no nonce can be used twice: signatures that expire no later than a removed nonce are
/// refused. If the clock was far ahead for a moment, signatures from before that moment are refused, and later ones are
/// accepted.
///
/// A nonce is stored as a digest of 16 bytes in a set, which takes about 35 bytes with the set's spare capacity. The
/// memory has 16 parts. In each part that has nonces of a key, the key takes about 32 more bytes.
public final class NonceMemory: NonceStore {
    /// The parts. Each has its own lock, so that claims seldom wait for each other.
    private let shards: [Shard]
    private let start: UnixTime
    private let maximumPerShard: Int
    private let maximumPerKeyAndShard: Int

    /// - Parameters:
    ///   - startedAt: The time when the server started.
    ///   - maximumNonces: The maximum number of nonces. The default is one million, about 35 MB.
    ///   - maximumNoncesPerKey: The maximum number of nonces per key identifier, from 1 to `maximumNonces`. The default
    ///     is a quarter of `maximumNonces`, and at least 1. If all requests are signed with one key, pass
    ///     `maximumNonces`.
    ///
    /// Both limits are divided among 16 parts by the nonces' digests, so a claim may be refused slightly before a limit
    /// is reached.
    public init(startedAt: UnixTime, maximumNonces: Int = 1_000_000, maximumNoncesPerKey: Int? = nil) {
        precondition(maximumNonces > 0, "A nonce memory has room for at least one nonce")
        let maximumPerKey = maximumNoncesPerKey ?? max(1, maximumNonces / 4)
        precondition(
            (1...maximumNonces).contains(maximumPerKey), "A key's quota is between 1 and the room of the memory")
        start = startedAt
        let count = min(16, maximumNonces)
        maximumPerShard = (maximumNonces + count - 1) / count
        maximumPerKeyAndShard = (maximumPerKey + count - 1) / count
        shards = (0..<count).map { _ in Shard() }
    }

    /// Records a nonce as used. Returns whether it was new.
    public func claim(_ nonce: Nonce, at now: UnixTime) -> NonceClaim {
        if nonce.created < start { return .beforeStart(start) }
        if nonce.expires < now { return .beforeMemory }
        let fingerprint = Fingerprint(nonce)
        let shard = shards[Int(fingerprint.nonce % UInt64(shards.count))]
        return shard.state.withLock { table in
            table.evict(at: now)
            return table.claim(
                fingerprint, expiring: nonce.expires, maximum: maximumPerShard, maximumPerKey: maximumPerKeyAndShard)
        }
    }

    /// The number of recorded nonces.
    public var count: Int { shards.reduce(0) { $0 + $1.state.withLock { $0.count } } }

    private final class Shard: Sendable {
        /// Guards the nonces of the shard.
        let state = Mutex(NonceTable())
    }
}

/// Eight bytes of a digest of the key identifier, followed by eight bytes of a digest of the key identifier and the
/// nonce.
///
/// If two nonces have the same fingerprint, the second one is refused; no nonce is ever accepted twice. To cause this
/// for another key, an attacker must match 16 given bytes.
private struct Fingerprint: Hashable, Sendable {
    let key: UInt64
    let nonce: UInt64

    init(_ nonce: Nonce) {
        var hash = SHA256()
        // Hashing the length first separates the identifier from the nonce.
        var length = UInt64(nonce.keyID.utf8.count)
        withUnsafeBytes(of: &length) { hash.update(bufferPointer: $0) }
        Self.add(nonce.keyID, to: &hash)
        // A copy is finalised, since a finalised hash must not be updated.
        let ofKey = hash
        Self.add(nonce.value, to: &hash)
        key = Self.prefix(of: ofKey.finalize())
        self.nonce = Self.prefix(of: hash.finalize())
    }

    private static func add(_ text: String, to hash: inout SHA256) {
        var text = text
        text.withUTF8 { hash.update(bufferPointer: UnsafeRawBufferPointer($0)) }
    }

    private static func prefix(of digest: SHA256Digest) -> UInt64 {
        digest.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
    }
}

/// Stores nonces in one set for each range of expiry times, so that a whole set is removed at once.
private struct NonceTable {
    private struct Expiring {
        var nonces: Set<Fingerprint> = []
        var lastExpiry = UnixTime(seconds: .min)
    }

    private var sets: [Int64: Expiring] = [:]
    /// The number of nonces per key, by the digest of the key identifier.
    private var countsByKey: [UInt64: Int] = [:]
    /// The latest expiry time of a removed nonce. The clock's time is not used. If it were, and the clock was ahead for
    /// a moment, all signatures up to the wrong time would be refused.
    private var lastRemovedExpiry = UnixTime(seconds: .min)
    private(set) var count = 0

    /// The range of expiry times in one set, in seconds.
    private static let interval: Int64 = 16

    mutating func claim(
        _ nonce: Fingerprint, expiring expiry: UnixTime, maximum: Int, maximumPerKey: Int
    ) -> NonceClaim {
        if sets.values.contains(where: { $0.nonces.contains(nonce) }) { return .replayed }
        // If the clock was set back, the nonce may be a removed one.
        if expiry <= lastRemovedExpiry { return .beforeMemory }
        if count >= maximum || countsByKey[nonce.key, default: 0] >= maximumPerKey { return .full }
        let interval = Self.interval(of: expiry)
        sets[interval, default: Expiring()].nonces.insert(nonce)
        sets[interval, default: Expiring()].lastExpiry.raise(to: expiry)
        countsByKey[nonce.key, default: 0] += 1
        count += 1
        return .claimed
    }

    /// Removes the sets in which all nonces have expired.
    mutating func evict(at now: UnixTime) {
        let current = Self.interval(of: now)
        for (interval, expired) in sets where interval < current {
            lastRemovedExpiry.raise(to: expired.lastExpiry)
            count -= expired.nonces.count
            for nonce in expired.nonces { release(nonce.key) }
            sets[interval] = nil
        }
    }

    private mutating func release(_ key: UInt64) {
        guard let count = countsByKey[key] else { preconditionFailure("Every nonce in a set is counted for its key") }
        countsByKey[key] = count > 1 ? count - 1 : nil
    }

    private static func interval(of time: UnixTime) -> Int64 {
        let (quotient, remainder) = time.seconds.quotientAndRemainder(dividingBy: interval)
        return remainder < 0 ? quotient - 1 : quotient
    }
}

extension UnixTime {
    fileprivate mutating func raise(to time: UnixTime) { self = max(self, time) }
}
