package import Foundation

/// A key file in the format of ``FileKeyDirectory``. It is opened once and read completely, so that it cannot be
/// replaced while it is read.
package struct KeyFile: Sendable {
    package let data: Data
    /// Whether only its user can read the file.
    package let isPrivate: Bool

    /// The maximum size of a file that is read: 16 MiB.
    private static let maximumBytes = 16 * 1_024 * 1_024

    /// Reads a regular file. The file must belong to the process's user or to root, and no other user may write it.
    package init(_ file: URL) throws(KeyFileError) {
        // Without O_NONBLOCK, opening a named pipe would block.
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
        // The read is limited, since the file may grow while it is read.
        guard let data = try? handle.read(upToCount: Self.maximumBytes + 1) ?? Data() else {
            throw KeyFileError(reason: "the file cannot be read")
        }
        guard data.count <= Self.maximumBytes else { throw KeyFileError(reason: "the file is too large") }
        self.data = data
        isPrivate = status.st_mode & 0o077 == 0
    }

    /// Returns the entries, whose identifiers are unique. Throws an error if an entry is not a valid key of its
    /// algorithm, or if the file has a secret and other users can read it.
    package func entries() throws(KeyFileError) -> [KeyEntry] {
        let contents: KeyFileContents
        let members: [String: [[String: AnyMember?]]]
        do {
            contents = try JSONDecoder().decode(KeyFileContents.self, from: data)
            members = try JSONDecoder().decode([String: [[String: AnyMember?]]].self, from: data)
        } catch {
            // The decoder's error is not passed on, since it quotes the file.
            throw KeyFileError(reason: "the file is not JSON of the expected form")
        }
        // Unknown members are refused, since a misspelt restriction would restrict nothing.
        guard members.count == 1 else { throw KeyFileError(reason: "the file has a member besides keys") }
        let known = Set(KeyEntry.CodingKeys.allCases.map(\.stringValue))
        for (entry, members) in zip(contents.keys, members.values.joined()) where !known.isSuperset(of: members.keys) {
            throw KeyFileError(reason: "\(entry.id) has a member that is not known")
        }
        var identifiers: Set<ExactText> = []
        for entry in contents.keys {
            guard identifiers.insert(ExactText(entry.id)).inserted else {
                throw KeyFileError(reason: "\(entry.id) occurs twice")
            }
            let record = try entry.record()
            guard isPrivate || !record.key.algorithm.isSymmetric && entry.privateKey == nil else {
                throw KeyFileError(reason: "other users can read the file, and \(entry.id) is a secret")
            }
        }
        return contents.keys
    }
}

private struct AnyMember: Decodable {
    init(from decoder: any Decoder) {}
}

package struct KeyFileContents: Codable, Sendable {
    package var keys: [KeyEntry]

    package init(keys: [KeyEntry]) { self.keys = keys }
}

package struct KeyEntry: Codable, Sendable {
    package var id: String
    package var alg: String
    package var owner: String
    /// The verification key: PEM, or base64 of the raw bytes.
    package var key: String
    /// The signing key; `nil` if it equals the verification key or the file does not contain it.
    package var privateKey: String?
    /// The time from which signatures are accepted, in seconds since 1970.
    package var notBefore: Int64?
    /// The time until which signatures are accepted, in seconds since 1970.
    package var notAfter: Int64?
    package var revoked: Bool?
    /// Components that signatures must cover in addition to the components of the verifier's policy. Each is a name or
    /// an identifier as in `Signature-Input`.
    package private(set) var covers: [String]?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case id, alg, owner, key, privateKey, notBefore, notAfter, revoked, covers
    }

    package init(id: String, key: SigningKey, owner: String) {
        (self.id, alg, self.owner) = (id, key.algorithm.name, owner)
        self.key = key.verificationKey.text
        privateKey = key.algorithm.isSymmetric ? nil : key.text
    }

    package init(id: String, publicKey: String, algorithm: SignatureAlgorithm, owner: String) {
        (self.id, alg, self.owner, key) = (id, algorithm.name, owner, publicKey)
    }

    /// Sets the components that signatures must cover in addition to the components of the verifier's policy.
    package mutating func require(_ components: [ComponentIdentifier]) {
        covers = components.isEmpty ? nil : components.map { $0.parameters.isEmpty ? $0.name : $0.serialized }
    }

    /// The signing key as text: the private key, or the shared secret. `nil` if the entry has only a public key.
    package var signingText: String? {
        SignatureAlgorithm(name: alg).flatMap { $0.isSymmetric ? key : privateKey }
    }

    /// Returns the record that a verifier uses.
    package func record() throws(KeyFileError) -> KeyRecord {
        let key: VerificationKey
        do {
            key = try VerificationKey(try algorithm(), text: self.key)
        } catch let error as KeyFileError {
            throw error
        } catch {
            throw KeyFileError(reason: "\(id) is not a key of its algorithm")
        }
        var record = KeyRecord(
            id: id, key: key, owner: owner, notBefore: notBefore.map(UnixTime.init),
            notAfter: notAfter.map(UnixTime.init)
        )
        record.isRevoked = revoked ?? false
        guard let components = CoveredComponents(texts: covers ?? []) else {
            throw KeyFileError(reason: "\(id) covers what is not a list of components")
        }
        record.requiredComponents = components.identifiers
        return record
    }

    /// Returns the signing key. Throws an error if the entry has only a public key, or if the key is malformed.
    package func signingKey() throws(KeyFileError) -> SigningKey {
        let algorithm = try algorithm()
        guard let text = signingText else {
            throw KeyFileError(reason: "\(id) has no private key, and can only verify")
        }
        guard let key = try? SigningKey(algorithm, text: text) else {
            throw KeyFileError(reason: "\(id) is not a key of its algorithm")
        }
        return key
    }

    private func algorithm() throws(KeyFileError) -> SignatureAlgorithm {
        guard let algorithm = SignatureAlgorithm(name: alg) else {
            throw KeyFileError(reason: "\(id) has an algorithm that is not known")
        }
        return algorithm
    }
}

extension KeyEntry: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A text without the keys, for logs.
    package var description: String { "KeyEntry(\(id), \(alg))" }
    /// The same as `description`.
    package var debugDescription: String { description }
    /// A mirror without the keys.
    package var customMirror: Mirror { Mirror(self, children: ["id": id, "alg": alg, "owner": owner]) }
}

/// The reason why a key file cannot be read. It contains no key.
public struct KeyFileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The problem in one sentence, for the author of the file.
    public let reason: String

    package init(reason: String) { self.reason = reason }

    /// The same as ``reason``.
    public var description: String { reason }
}
