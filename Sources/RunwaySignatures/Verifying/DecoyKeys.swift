package import Crypto
import Synchronization

/// Keys with which signatures of unknown keys are verified, so that an unknown key takes as long as a known one.
///
/// An unknown identifier behaves at every attempt like a key of one kind, which a keyed hash of the identifier chooses
/// among the kinds that the directory has had so far: algorithms and lengths. So neither the length of the signature
/// that somebody tries, nor a second try with another, shows whether the key exists. The decoy of an asymmetric kind is
/// the first key of that kind that was found: whatever the verification says, the signature of an unknown key is
/// refused. The kinds that a directory names are known from the start (``KeyDirectory/exampleKeys``). If it names none,
/// there is one for P-256 until a key is found.
package final class DecoyKeys: Sendable {
    /// Guards records of the keys and their kinds, sorted, so that all servers that have seen the same kinds choose
    /// alike.
    private let decoys = Mutex<[(kind: KeyKind, record: KeyRecord)]>([])
    /// The decoy before any key was found.
    private static let first = KeyRecord(decoy: .p256(P256.Signing.PrivateKey().publicKey))
    /// Chooses the kind for an identifier.
    private let keyed: KeyedSHA256

    /// The most kinds. Keys of further kinds are verified, and have no decoy.
    private static let maximumKinds = 32

    /// - Parameters:
    ///   - secret: The key of the hash. Servers behind one name should have the same.
    ///   - examples: Keys of the kinds that the directory has.
    package init(secret: SymmetricKey = SymmetricKey(size: .bits256), examples: [VerificationKey] = []) {
        keyed = KeyedSHA256(secret)
        for key in examples { learn(key) }
    }

    /// Returns the record of a key that was found, or that of a decoy for its identifier. Both cases take the same
    /// time.
    ///
    /// A decoy is added of the kind of a key that was found, unless there is one.
    package func record(forKeyID keyID: String, found: KeyRecord?) -> KeyRecord {
        let decoy = decoy(forKeyID: keyID)
        let isKnown = found != nil
        let record = found ?? decoy
        learn(record.key, isKnown: isKnown)
        return record
    }

    /// The key for a signature of an unknown key with an identifier.
    package func key(forKeyID keyID: String) -> VerificationKey { decoy(forKeyID: keyID).key }

    private func decoy(forKeyID keyID: String) -> KeyRecord {
        let code = keyed.code(of: Array(keyID.utf8))
        let number = code.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
        return decoys.withLock { decoys in
            decoys.isEmpty ? Self.first : decoys[Int(number % UInt32(decoys.count))].record
        }
    }

    /// Adds a decoy of the kind of a key that was found, unless there is one.
    ///
    /// - Parameters:
    ///   - key: The key with which a signature is verified.
    ///   - isKnown: Whether the key was found. A decoy adds nothing; looking for its kind is the same work.
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
    /// The record of a decoy, which is accepted at any time.
    fileprivate init(decoy key: VerificationKey) { self.init(id: "", key: key, owner: "") }
}

/// What the time of a verification can show of a key: its algorithm, and the length of its signatures.
struct KeyKind: Sendable, Hashable, Comparable {
    let algorithm: String
    let length: Int

    static func < (left: KeyKind, right: KeyKind) -> Bool {
        (left.algorithm, left.length) < (right.algorithm, right.length)
    }
}

extension VerificationKey {
    var kind: KeyKind { KeyKind(algorithm: algorithm.name, length: signatureLength) }

    /// A key of the same kind: for a secret of both sides another secret of the same length, and otherwise the public
    /// key itself.
    fileprivate var decoy: VerificationKey {
        switch storage {
        case .hmac(let secret): VerificationKey(algorithm, .hmac(SymmetricKey(size: .init(bitCount: secret.bitCount))))
        case .salted(let secret):
            VerificationKey(algorithm, .salted(SymmetricKey(size: .init(bitCount: secret.bitCount))))
        case .ed25519, .p256, .p384, .rsa: self
        }
    }
}
