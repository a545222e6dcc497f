import Foundation
import RunwaySignatures

/// The keys of a file: a file of `runway keys`, a PEM file, or a secret in Base64.
struct KeySource: Sendable {
    let path: String
    private let entries: [KeyEntry]
    /// Whether the file contains one key without an identifier.
    private let isBare: Bool

    /// Reads the file.
    ///
    /// - Parameter algorithm: The algorithm of a PEM file or a secret. `nil` selects the algorithm that the PEM
    ///   determines, `rsa-pss-sha512` for RSA, and `hmac-sha256` for a secret.
    /// - Throws: ``CommandFailure`` if the file can't be used.
    init(path: String, algorithm: SignatureAlgorithm?) throws(CommandFailure) {
        self.path = path
        do throws(KeyFileError) {
            let file = try KeyFile(URL(fileURLWithPath: path))
            guard let text = String(validating: file.data, as: UTF8.self)?.trimmed, !text.isEmpty else {
                throw KeyFileError(reason: "it is empty, or no text")
            }
            isBare = !text.hasPrefix("{")
            if isBare {
                let entry = try KeyEntry(bare: text, algorithm: algorithm)
                guard file.isPrivate || entry.signingText == nil else {
                    throw KeyFileError(
                        reason: "other users can read it, and it is a secret; \"chmod 600\" makes it private")
                }
                entries = [entry]
            } else {
                if algorithm != nil { throw KeyFileError(reason: "its keys have their algorithms; omit --alg") }
                entries = try file.entries()
            }
        } catch {
            throw CommandFailure("The key file \"\(path)\" can't be used: \(error.reason).")
        }
    }

    /// Whether a file is neither JSON nor PEM.
    static func isBareSecret(_ path: String) throws(CommandFailure) -> Bool {
        do throws(KeyFileError) {
            let text = String(decoding: try KeyFile(URL(fileURLWithPath: path)).data, as: UTF8.self).trimmed
            return !text.hasPrefix("{") && !text.hasPrefix("-----BEGIN ")
        } catch {
            throw CommandFailure("The key file \"\(path)\" can't be used: \(error.reason).")
        }
    }

    struct Signer: Sendable {
        let id: String
        let key: SigningKey
        /// The key as text. A sealed key contains this text.
        let text: String
    }

    /// Returns the signing key with an identifier. If `id` is `nil`, returns the key that became active last.
    ///
    /// - Throws: ``CommandFailure`` if there is no such key.
    func signer(id: String?, at now: UnixTime) throws(CommandFailure) -> Signer {
        let entry = try signingEntry(id: id, at: now)
        guard let id = id ?? (isBare ? nil : entry.id) else {
            throw CommandFailure("The key file \"\(path)\" has no identifier for its key; name it with --key-id.")
        }
        do throws(KeyFileError) {
            if !isBare, try !entry.record().isActive(at: now) {
                Console.error.warn("The key \(id) is not active: a server refuses what it signs.")
            }
            return Signer(id: id, key: try entry.signingKey(), text: entry.signingText ?? "")
        } catch {
            throw CommandFailure("The key file \"\(path)\" can't sign: \(error.reason).")
        }
    }

    private func signingEntry(id: String?, at now: UnixTime) throws(CommandFailure) -> KeyEntry {
        if isBare {
            guard entries[0].signingText != nil else {
                throw CommandFailure("The key file \"\(path)\" has a public key, which can only verify.")
            }
            return entries[0]
        }
        if let id {
            guard let entry = entries.first(where: { $0.id == id }) else {
                throw CommandFailure("The key file \"\(path)\" has no key \"\(id)\".")
            }
            return entry
        }
        let active = entries.filter { $0.signingText != nil && (try? $0.record().isActive(at: now)) == true }
        guard let entry = active.max(by: { ($0.notBefore ?? .min) < ($1.notBefore ?? .min) }) else {
            throw CommandFailure("The key file \"\(path)\" has no active key that signs.")
        }
        return entry
    }

    /// Returns the keys that verify signatures. The key of a PEM file or a secret has the identifier `id`. If `id` is
    /// `nil`, that key matches every identifier.
    func directory(id: String?) throws(CommandFailure) -> any KeyDirectory {
        do throws(KeyFileError) {
            var records: [KeyRecord] = []
            for entry in entries { records.append(try entry.record()) }
            guard isBare, let record = records.first else { return InMemoryKeyDirectory(records) }
            return BareKey(id: id, key: record.key)
        } catch {
            throw CommandFailure("The key file \"\(path)\" can't verify: \(error.reason).")
        }
    }
}

/// A directory with one key. A key without an identifier matches every identifier.
private struct BareKey: KeyDirectory {
    let id: String?
    let key: VerificationKey

    func record(forKeyID id: String) -> KeyRecord? {
        self.id ?? id == id ? KeyRecord(id: id, key: key, owner: "") : nil
    }
}

extension KeyEntry {
    /// Parses a private or public key in PEM, or a secret in Base64.
    fileprivate init(bare text: String, algorithm: SignatureAlgorithm?) throws(KeyFileError) {
        let isPEM = text.hasPrefix("-----BEGIN ")
        let possible: [SignatureAlgorithm] =
            isPEM ? [.ecdsaP256SHA256, .ecdsaP384SHA384, .ed25519, .rsaPSSSHA512, .rsaPKCS1SHA256] : [.hmacSHA256]
        for algorithm in algorithm.map({ [$0] }) ?? possible {
            if let key = try? SigningKey(algorithm, text: text) {
                self.init(id: "", key: key, owner: "")
                return
            }
            if isPEM, (try? VerificationKey(algorithm, text: text)) != nil {
                self.init(id: "", publicKey: text, algorithm: algorithm, owner: "")
                return
            }
        }
        let name = algorithm.map { " of \($0)" } ?? ""
        throw KeyFileError(
            reason: "it has no key\(name): it must be a file of \"runway keys\", PEM, or at least 16 bytes in Base64")
    }
}

extension String {
    fileprivate var trimmed: String { trimmingCharacters(in: .whitespacesAndNewlines) }
}
