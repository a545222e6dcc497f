import Crypto
import CryptoExtras
public import Foundation

/// A directory of keys in a JSON file.
///
/// ```json
/// {"keys": [
///   {"id": "device-7", "alg": "ecdsa-p256-sha256", "owner": "anna", "key": "-----BEGIN PUBLIC KEY-----\n…"},
///   {"id": "partner", "alg": "hmac-sha256", "owner": "partner", "key": "c2VjcmV0…", "notAfter": 1790000000}
/// ]}
/// ```
///
/// `key` is PEM for ECDSA and RSA, and Base64 of the raw bytes for the others. `notBefore` and `notAfter` are
/// seconds since 1970; `revoked` is `true` for a key that is refused.
///
/// Who can write the file can sign: it must be a regular file, and not a symbolic link, that belongs to the process's user or to
/// root and that no other user can write (mode 0644 or less). One with a secret must also be readable by its user alone (0600).
public final class FileKeyDirectory: KeyDirectory {
    /// The file.
    public let file: URL
    private let directory = InMemoryKeyDirectory()

    /// Reads the file. Throws a ``KeyFileError``.
    public init(_ file: URL) throws(KeyFileError) {
        self.file = file
        try reload()
    }

    /// The record of a key.
    public func record(forKeyID id: String) -> KeyRecord? { directory.record(forKeyID: id) }

    /// All records, sorted by identifier.
    public var all: [KeyRecord] { directory.all }

    /// Reads the file again, as a server does after it was changed. All keys are replaced at once. If it throws, the keys stay as
    /// they are.
    public func reload() throws(KeyFileError) {
        let file = try KeyFile(self.file)
        let contents: Contents
        do {
            contents = try JSONDecoder().decode(Contents.self, from: file.data)
        } catch {
            // The error of the decoder quotes the file.
            throw KeyFileError(reason: "the file is not JSON of the expected form")
        }
        var records: [KeyRecord] = []
        var identifiers: Set<String> = []
        for entry in contents.keys {
            guard identifiers.insert(entry.id).inserted else { throw KeyFileError(reason: "\(entry.id) occurs twice") }
            let record = try entry.record()
            guard file.isPrivate || !record.key.algorithm.isSymmetric else {
                throw KeyFileError(reason: "other users can read the file, and \(entry.id) is a secret")
            }
            records.append(record)
        }
        directory.replaceAll(records)
    }

    private struct Contents: Decodable {
        let keys: [Entry]
    }

    private struct Entry: Decodable {
        let id: String
        let alg: String
        let owner: String
        let key: String
        let notBefore: Int64?
        let notAfter: Int64?
        let revoked: Bool?

        func record() throws(KeyFileError) -> KeyRecord {
            guard let algorithm = SignatureAlgorithm(name: alg) else {
                throw KeyFileError(reason: "\(id) has an algorithm that is not known")
            }
            let key: VerificationKey
            do {
                key = try VerificationKey(algorithm, text: self.key)
            } catch {
                throw KeyFileError(reason: "\(id) is not a key of its algorithm")
            }
            var record = KeyRecord(
                id: id, key: key, owner: owner, notBefore: notBefore.map(UnixTime.init),
                notAfter: notAfter.map(UnixTime.init))
            record.isRevoked = revoked ?? false
            return record
        }
    }
}

/// The bytes of a file of keys, and who can read them. All of it is of one open file, which nobody can exchange meanwhile.
private struct KeyFile {
    let data: Data
    /// Whether no other user can read the file.
    let isPrivate: Bool

    /// The greatest size of the file: 16 MiB.
    private static let maximumBytes = 16 * 1_024 * 1_024

    init(_ file: URL) throws(KeyFileError) {
        // Without O_NONBLOCK, a named pipe would be waited for.
        let descriptor = open(file.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { throw KeyFileError(reason: "the file cannot be opened, or is a symbolic link") }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw KeyFileError(reason: "the file is not a regular file")
        }
        guard [geteuid(), 0].contains(status.st_uid), status.st_mode & 0o022 == 0 else {
            throw KeyFileError(reason: "the file belongs to another user, or other users can write it")
        }
        // The file may grow while it is read.
        guard let data = try? handle.read(upToCount: Self.maximumBytes + 1) ?? Data() else {
            throw KeyFileError(reason: "the file cannot be read")
        }
        guard data.count <= Self.maximumBytes else { throw KeyFileError(reason: "the file is too large") }
        self.data = data
        isPrivate = status.st_mode & 0o077 == 0
    }
}

/// Why a file of keys cannot be read. It has no key.
public struct KeyFileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A sentence for the person who wrote the file.
    public let reason: String

    /// The sentence.
    public var description: String { reason }
}

extension VerificationKey {
    /// Reads a key: PEM for ECDSA and RSA, Base64 of the raw bytes for the others.
    ///
    /// Throws a ``SignatureError`` or what swift-crypto throws if the text is not a key of the algorithm.
    public init(_ algorithm: SignatureAlgorithm, text: String) throws {
        switch algorithm {
        case .ecdsaP256SHA256: self = .p256(try P256.Signing.PublicKey(pemRepresentation: text))
        case .ecdsaP384SHA384: self = .p384(try P384.Signing.PublicKey(pemRepresentation: text))
        case .rsaPSSSHA512: self = .rsaPSS(try _RSA.Signing.PublicKey(pemRepresentation: text))
        case .rsaPKCS1SHA256: self = .rsaPKCS1(try _RSA.Signing.PublicKey(pemRepresentation: text))
        default:
            guard let bytes = Base64.decoded(text) else { throw SignatureError(.invalidKey, "the text") }
            self =
                switch algorithm {
                case .ed25519: .ed25519(try Curve25519.Signing.PublicKey(rawRepresentation: bytes))
                case .hmacSHA256: try .hmac(SymmetricKey(data: bytes))
                default: try .salted(SymmetricKey(data: bytes), by: algorithm)
                }
        }
    }
}
