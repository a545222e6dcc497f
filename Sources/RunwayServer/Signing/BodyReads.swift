import RunwaySignatures
import Synchronization

/// Bounds how many bodies are read at the same time for the same nonce.
///
/// A nonce is claimed when the body is found to be the signed one, so that a body that was cut on its way does not use it up. Without a bound
/// a copy of one request could then have any number of bodies received. A second one is read while the first may be a cut one whose
/// connection has not ended yet.
final class BodyReads: Sendable {
    private struct Key: Hashable {
        let keyID: String
        let nonce: String
    }

    /// Guards how many bodies are being read for each nonce. A nonce of which none is read has no entry.
    private let counts = Mutex<[Key: Int]>([:])

    private static let maximumReads = 2

    /// Reads a body for a nonce; without a nonce there is no bound. Throws what `read` throws.
    ///
    /// - Throws: A ``SignatureRefusal`` as ``SignatureRefusal/Reason/replayed`` if too many are being read. One of them may be accepted, so
    ///   that a client must not send a request again that may not be executed twice.
    func read<Body>(for nonce: Nonce?, at time: UnixTime, _ read: () async throws -> Body) async throws -> Body {
        guard let nonce else { return try await read() }
        let key = Key(keyID: nonce.keyID, nonce: nonce.value)
        let isAllowed = counts.withLock { counts in
            guard counts[key, default: 0] < Self.maximumReads else { return false }
            counts[key, default: 0] += 1
            return true
        }
        guard isAllowed else {
            throw SignatureRefusal(.replayed, "other copies of the request are being received", at: time)
        }
        defer {
            counts.withLock { counts in
                let others = (counts[key] ?? 1) - 1
                counts[key] = others > 0 ? others : nil
            }
        }
        return try await read()
    }

    /// How many nonces have a body that is being read.
    var count: Int { counts.withLock { $0.count } }
}
