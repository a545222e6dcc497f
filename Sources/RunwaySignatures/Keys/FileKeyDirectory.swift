public import Foundation

/// A directory of keys in a JSON file.
///
/// ```json
/// {"keys": [
///   {"id": "device-7", "alg": "ecdsa-p256-sha256", "owner": "anna", "key": "-----BEGIN PUBLIC KEY-----\n…"},
///   {"id": "partner", "alg": "hmac-sha256", "owner": "partner", "key": "c2VjcmV0…",
///    "notAfter": 1790000000, "covers": ["x-shop"]}
/// ]}
/// ```
///
/// The members of a key:
///
/// - `key` is PEM for ECDSA and RSA, and Base64 of the raw bytes for other algorithms.
/// - `notBefore` and `notAfter` are seconds since 1970.
/// - `revoked` is `true` for a key that is refused.
/// - `covers` lists the components that signatures must cover in addition to those of the verifier's policy. A
///   component is given by its name, or in the form of `Signature-Input` if it has parameters.
/// - `privateKey` is added by `runway keys` for a signer; a verifier does not need it.
///
/// A file with any other member is refused.
///
/// Anyone who can write the file can sign. The file must therefore be a regular file, not a symbolic link. It must
/// belong to the process's user or to root, and no other user may write it (mode 0644 or less). A file with a secret or
/// a private key must also be readable only by its user (0600).
public final class FileKeyDirectory: KeyDirectory {
    /// The location of the file.
    public let file: URL
    private let directory = InMemoryKeyDirectory()

    /// Reads the file.
    ///
    /// - Throws: ``KeyFileError``.
    public init(_ file: URL) throws(KeyFileError) {
        self.file = file
        try reload()
    }

    /// Returns the record of a key, or `nil` if the file has no key with the identifier.
    public func record(forKeyID id: String) -> KeyRecord? { directory.record(forKeyID: id) }

    /// All records, sorted by identifier.
    public var all: [KeyRecord] { directory.all }

    /// One key of each kind in the directory. The algorithm determines the kind, and for RSA also the length of the
    /// key.
    public var exampleKeys: [VerificationKey] { directory.exampleKeys }

    /// Reads the file again. All keys are replaced at once. If reading throws, the previous keys stay.
    public func reload() throws(KeyFileError) {
        var records: [KeyRecord] = []
        for entry in try KeyFile(file).entries() { records.append(try entry.record()) }
        directory.replaceAll(records)
    }
}
