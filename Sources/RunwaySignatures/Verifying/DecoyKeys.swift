package import Crypto
import Synchronization

/// Keys that verify the signatures of unknown keys, so that the verification takes as long as with a known key.
///
/// An unknown identifier always behaves like a key of the same kind (algorithm and length). A keyed hash of the
/// identifier selects the kind among those known so far. Neither the required signature length nor a second attempt
/// therefore reveals whether the key exists.
///
/// The decoy of an asymmetric kind is the first found key of the kind, since a signature of an unknown key is refused
/// in any case. Kinds in ``KeyDirectory/exampleKeys`` are known from the start. Without examples, the only decoy is a
/// P-256 key until a key is found.
package final class DecoyKeys: Sendable {
    /// Guards the decoys. They are sorted by kind, so that all servers that know the same kinds select the same decoy.
    private let decoys = Mutex<[(kind: KeyKind, record: KeyRecord)]>([])
    /// The decoy that unknown keys are verified with before any key is found.
    private static let first = KeyRecord(decoy: .p256(P256.Signing.PrivateKey().publicKey))
    /// Hashes an identifier to select the kind of its decoy.
    private let keyed: KeyedSHA256

    /// The maximum number of kinds with decoys. Keys of further kinds are verified without a decoy.
    private static let maximumKinds = 32

    /// - Parameters:
    ///   - secret: The key of the hash. Servers behind one name should share it.
    ///   - examples: A key of each kind in the directory.
    package init(secret: SymmetricKey = SymmetricKey(size: .bits256), examples: [VerificationKey] = []) {
        keyed = KeyedSHA256(secret)
        for key in examples { learn(key) }
    }

    /// Returns the record of the found key, or else a decoy for the identifier. Both take the same time.
    ///
    /// If the found key is the first of its kind, a decoy of this kind is added.
    package func record(forKeyID keyID: String, found: KeyRecord?) -> KeyRecord {
        let decoy = decoy(forKeyID: keyID)
        let isKnown = found != nil
        let record = found ?? decoy
        learn(record.key, isKnown: isKnown)
        return record
    }

    package func key(forKeyID keyID: String) -> VerificationKey { decoy(forKeyID: keyID).key }

    private func decoy(forKeyID keyID: String) -> KeyRecord {
        let code = keyed.code(of: Array(keyID.utf8))
        let number = code.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
        return decoys.withLock { decoys in
            decoys.isEmpty ? Self.first : decoys[Int(number % UInt32(decoys.count))].record
        }
    }

    /// Adds a decoy for the kind of a found key, unless the kind has a decoy.
    ///
    /// - Parameters:
    ///   - key: The key that verifies a signature.
    ///   - isKnown: Whether the key was found. If `false`, no decoy is added, but the same work is done.
    func learn(_ key: VerificationKey, isKnown: Bool = true) {
        let kind = key.kind
        decoys.withLock { decoys in
            let isNew = !decoys.contains { $0.kind == kind }
            guard isNew, isKnown, decoys.count < Self.maximumKinds else { return }
            decoys.append((kind, KeyRecord(decoy: key.decoy)))
            decoys.sort { $0.kind < $1.kind }
        }
    }
}

extension KeyRecord {
    /// Creates the record of a decoy, which is always active.
    fileprivate init(decoy key: VerificationKey) { self.init(id: "", key: key, owner: "") }
}

/// The properties of a key that the time of a verification can reveal: its algorithm, and the length of its signatures.
struct KeyKind: Sendable, Hashable, Comparable {
    let algorithm: String
    let length: Int

    static func < (left: KeyKind, right: KeyKind) -> Bool {
        (left.algorithm, left.length) < (right.algorithm, right.length)
    }
}

extension VerificationKey {
    var kind: KeyKind { KeyKind(algorithm: algorithm.name, length: signatureLength) }

    /// A key of the same kind: a random secret of the same length for a shared secret, otherwise the same public key.
    fileprivate var decoy: VerificationKey {
        switch storage {
        case .hmac(let secret): VerificationKey(algorithm, .hmac(SymmetricKey(size: .init(bitCount: secret.bitCount))))
        case .salted(let secret):
            VerificationKey(algorithm, .salted(SymmetricKey(size: .init(bitCount: secret.bitCount))))
        case .ed25519, .p256, .p384, .rsa: self
        }
    }
}
