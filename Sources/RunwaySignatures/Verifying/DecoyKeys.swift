package import Crypto
import Synchronization

/// Keys that verify the signatures of unknown keys, so that an unknown key takes as long as a known key.
///
/// An unknown identifier always behaves like a key of the same kind, an algorithm and a length. A keyed hash of the
/// identifier chooses the kind among those that the directory has had so far. So neither the length of a tried
/// signature, nor a second try with another, shows whether the key exists.
///
/// The decoy of an asymmetric kind is the first key of that kind that was found: the signature of an unknown key is
/// refused whatever the verification returns. Kinds that a directory names are known from the start
/// (``KeyDirectory/exampleKeys``). If it names none, the only decoy is a key of P-256 until a key is found.
package final class DecoyKeys: Sendable {
    /// Guards the decoys and their kinds, sorted, so that all servers that have seen the same kinds choose the same
    /// decoy.
    private let decoys = Mutex<[(kind: KeyKind, record: KeyRecord)]>([])
    /// The decoy before any key is found.
    private static let first = KeyRecord(decoy: .p256(P256.Signing.PrivateKey().publicKey))
    /// Chooses the kind for an identifier.
    private let keyed: KeyedSHA256

    /// The most kinds that have decoys. Keys of further kinds are verified without a decoy.
    private static let maximumKinds = 32

    /// - Parameters:
    ///   - secret: The key of the hash. Servers behind one name should share it.
    ///   - examples: A key of each kind that the directory has.
    package init(secret: SymmetricKey = SymmetricKey(size: .bits256), examples: [VerificationKey] = []) {
        keyed = KeyedSHA256(secret)
        for key in examples { learn(key) }
    }

    /// Returns the record of the found key, or the record of a decoy for the identifier. Both take the same time.
    ///
    /// If a found key is the first of its kind, a decoy of that kind is added.
    package func record(forKeyID keyID: String, found: KeyRecord?) -> KeyRecord {
        let decoy = decoy(forKeyID: keyID)
        let isKnown = found != nil
        let record = found ?? decoy
        learn(record.key, isKnown: isKnown)
        return record
    }

    /// Returns the key that verifies a signature of an unknown key with this identifier.
    package func key(forKeyID keyID: String) -> VerificationKey { decoy(forKeyID: keyID).key }

    private func decoy(forKeyID keyID: String) -> KeyRecord {
        let code = keyed.code(of: Array(keyID.utf8))
        let number = code.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
        return decoys.withLock { decoys in
            decoys.isEmpty ? Self.first : decoys[Int(number % UInt32(decoys.count))].record
        }
    }

    /// Adds a decoy of the kind of a found key, unless there is one.
    ///
    /// - Parameters:
    ///   - key: The key that verifies a signature.
    ///   - isKnown: Whether the key was found. A decoy is not added, but looking for its kind takes the same work.
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
    /// Creates the record of a decoy, which is accepted at any time.
    fileprivate init(decoy key: VerificationKey) { self.init(id: "", key: key, owner: "") }
}

/// The facts about a key that the time of a verification can show: its algorithm, and the length of its signatures.
struct KeyKind: Sendable, Hashable, Comparable {
    let algorithm: String
    let length: Int

    static func < (left: KeyKind, right: KeyKind) -> Bool {
        (left.algorithm, left.length) < (right.algorithm, right.length)
    }
}

extension VerificationKey {
    var kind: KeyKind { KeyKind(algorithm: algorithm.name, length: signatureLength) }

    /// A key of the same kind: for a shared secret another secret of the same length, otherwise the public key itself.
    fileprivate var decoy: VerificationKey {
        switch storage {
        case .hmac(let secret): VerificationKey(algorithm, .hmac(SymmetricKey(size: .init(bitCount: secret.bitCount))))
        case .salted(let secret):
            VerificationKey(algorithm, .salted(SymmetricKey(size: .init(bitCount: secret.bitCount))))
        case .ed25519, .p256, .p384, .rsa: self
        }
    }
}
