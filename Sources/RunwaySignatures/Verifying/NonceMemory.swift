import Crypto
import Synchronization

/// Remembers used nonces in memory, for one server.
///
/// Its size is bounded: when it is full, claims are refused until nonces expire. It forgets everything when the server restarts;
/// signatures that were made before the start are therefore refused, and their signers have to sign again. A wall clock that is set
/// back lets no nonce be used twice: what has expired once stays expired.
///
/// A nonce takes 16 bytes in a set, by its digest: about 32 bytes with the set's spare room.
public final class NonceMemory: NonceStore {
    /// Parts with locks of their own, so that claims seldom wait for each other.
    private let shards: [Shard]
    private let start: UnixTime
    private let maximumPerShard: Int
    /// The first interval that has not expired at any time so far.
    private let firstInterval = Atomic(Int64.min)

    /// - Parameters:
    ///   - startedAt: When the server started.
    ///   - maximumNonces: The greatest number of nonces. By default one million, which is about 32 MB.
    public init(startedAt: UnixTime, maximumNonces: Int = 1_000_000) {
        precondition(maximumNonces > 0, "A nonce memory has room for at least one nonce")
        start = startedAt
        let count = min(16, maximumNonces)
        maximumPerShard = (maximumNonces + count - 1) / count
        shards = (0..<count).map { _ in Shard() }
    }

    /// Claims a nonce.
    public func claim(_ nonce: Nonce, at now: UnixTime) -> NonceClaim {
        if nonce.created < start { return .beforeMemory }
        let fingerprint = Fingerprint(nonce)
        let first = firstInterval.max(NonceTable.interval(of: now), ordering: .relaxed).newValue
        let interval = NonceTable.interval(of: nonce.expires)
        if interval < first || nonce.expires < now { return .beforeMemory }
        let shard = shards[Int(fingerprint.low % UInt64(shards.count))]
        return shard.state.withLock { table in
            table.evict(before: first)
            return table.claim(fingerprint, in: interval, maximum: maximumPerShard)
        }
    }

    /// The number of nonces that are remembered.
    public var count: Int { shards.reduce(0) { $0 + $1.state.withLock { $0.count } } }

    private final class Shard: Sendable {
        let state = Mutex(NonceTable())
    }
}

/// 16 bytes of a digest of key and nonce: nobody can make two that are equal.
private struct Fingerprint: Hashable, Sendable {
    let high: UInt64
    let low: UInt64

    init(_ nonce: Nonce) {
        var hash = SHA256()
        // The length of the identifier separates it from the nonce.
        var length = UInt64(nonce.keyID.utf8.count)
        withUnsafeBytes(of: &length) { hash.update(bufferPointer: $0) }
        hash.update(data: Array(nonce.keyID.utf8))
        hash.update(data: Array(nonce.value.utf8))
        (high, low) = hash.finalize().withUnsafeBytes {
            ($0.loadUnaligned(as: UInt64.self), $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        }
    }
}

/// Nonces in sets by the time at which they expire, so that a whole set is removed at once.
private struct NonceTable {
    private var sets: [Int64: Set<Fingerprint>] = [:]
    private var firstInterval = Int64.min
    private(set) var count = 0

    /// The seconds that a set spans.
    private static let interval: Int64 = 16

    mutating func claim(_ nonce: Fingerprint, in interval: Int64, maximum: Int) -> NonceClaim {
        // Another claim may have removed the set meanwhile.
        if interval < firstInterval { return .beforeMemory }
        if sets.values.contains(where: { $0.contains(nonce) }) { return .replayed }
        if count >= maximum { return .full }
        sets[interval, default: []].insert(nonce)
        count += 1
        return .claimed
    }

    mutating func evict(before interval: Int64) {
        guard interval > firstInterval else { return }
        firstInterval = interval
        for (key, nonces) in sets where key < interval {
            count -= nonces.count
            sets[key] = nil
        }
    }

    static func interval(of time: UnixTime) -> Int64 {
        let (quotient, remainder) = time.seconds.quotientAndRemainder(dividingBy: interval)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
