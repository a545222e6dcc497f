public import Foundation

/// A directory of keys in a JSON file.
///
/// ```json
/// {"keys": [
///   {"id": "device-7", "alg": "ecdsa-p256-sha256", "owner": "anna", "key": "-----BEGIN PUBLIC KEY-----\n…"},
///   {"id": "partner", "alg": "hmac-sha256", "owner": "partner", "key": "c2VjcmV0…", "notAfter": 1790000000, "covers": ["x-shop"]}
/// ]}
/// ```
///
/// `key` is PEM for ECDSA and RSA, and Base64 of the raw bytes for the others. `notBefore` and `notAfter` are seconds
/// since 1970; `revoked` is `true` for a key that is refused. `covers` has the components that signatures must cover
/// besides those of the verifier's policy, by name, or as `Signature-Input` has them if they have parameters.
/// `privateKey` is what `runway keys` adds for a signer; a verifier needs none. A file with any other member is
/// refused.
///
/// Who can write the file can sign: it must be a regular file, and not a symbolic link, that belongs to the process's
/// user or to root and that no other user can write (mode 0644 or less). One with a secret or a private key must also
/// be readable by its user alone (0600).
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

    /// A key of each kind: of each algorithm, and for RSA of each length.
    public var exampleKeys: [VerificationKey] { directory.exampleKeys }

    /// Reads the file again, as a server does after it was changed. All keys are replaced at once. If it throws, the
    /// keys stay as they are.
    public func reload() throws(KeyFileError) {
        var records: [KeyRecord] = []
        for entry in try KeyFile(file).entries() { records.append(try entry.record()) }
        directory.replaceAll(records)
    }
}
