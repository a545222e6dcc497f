import Crypto
package import RunwaySignatures

/// The length and hashes that one document lists for a file (§4.4, §4.5).
package struct FileDigest: Sendable {
    /// The length in bytes; `nil` if the document does not list it.
    package let length: Int64?
    /// The hashes by algorithm, in lower-case hexadecimal digits.
    package let hashes: [String: String]

    /// The maximum number of hashes of a file.
    static let maximumHashes = 16

    package init(length: Int64?, hashes: [String: String]) { (self.length, self.hashes) = (length, hashes) }

    /// The length and SHA-256 digest of bytes.
    package init(of bytes: [UInt8]) {
        self.init(length: Int64(bytes.count), hashes: ["sha256": Hexadecimal.sha256(bytes)])
    }

    /// Reads the members `length` and `hashes`. `isRequired` states that both must be present.
    init(_ object: CanonicalObject, isRequired: Bool) throws(MalformedMetadata) {
        length = isRequired || object["length"] != nil ? try object.integer("length", atLeast: 0) : nil
        var hashes: [String: String] = [:]
        if isRequired || object["hashes"] != nil {
            let object = try object.object("hashes")
            guard object.members.count <= Self.maximumHashes else { throw MalformedMetadata("too many hashes") }
            for member in object.members {
                guard case .string(let hash) = member.value else {
                    throw MalformedMetadata("\"\(member.name)\" is no string")
                }
                hashes[member.name] = hash
            }
            guard hashes["sha256"] != nil || hashes["sha512"] != nil else {
                throw MalformedMetadata("\"hashes\" has neither sha256 nor sha512")
            }
        }
        self.hashes = hashes
    }

    /// Returns whether bytes have the length, and every listed hash by SHA-256 or SHA-512. Other algorithms are
    /// ignored; a document always lists one of the two.
    package func matches(_ bytes: [UInt8]) -> Bool {
        if let length, length != Int64(bytes.count) { return false }
        if let hash = hashes["sha256"], hash != Hexadecimal.text(SHA256.hash(data: bytes)) { return false }
        if let hash = hashes["sha512"], hash != Hexadecimal.text(SHA512.hash(data: bytes)) { return false }
        return true
    }

    /// The member as a document lists it.
    package var object: CanonicalObject {
        var object: CanonicalObject = [:]
        object["length"] = length.map(CanonicalValue.integer)
        if let hashes = CanonicalObject(distinct: hashes.map { ($0.key, .string($0.value)) }), !hashes.members.isEmpty {
            object["hashes"] = .object(hashes)
        }
        return object
    }
}

/// A metadata file as another document lists it (§4.4).
package struct MetadataFile: Sendable {
    package let version: Int64
    package let digest: FileDigest

    package init(version: Int64, digest: FileDigest) { (self.version, self.digest) = (version, digest) }

    init(_ object: CanonicalObject) throws(MalformedMetadata) {
        version = try object.integer("version", atLeast: 1)
        digest = try FileDigest(object, isRequired: false)
    }

    /// The member as a document lists it.
    package var object: CanonicalObject {
        var object = digest.object
        object["version"] = .integer(version)
        return object
    }
}

/// The snapshot that is current (§4.6).
package struct TimestampContent: RoleContent {
    package static var type: String { "timestamp" }

    package let snapshot: MetadataFile

    package init(_ signed: CanonicalObject) throws(MalformedMetadata) {
        let files = try signed.objects("meta")
        guard files.count == 1, let file = files.first, file.name.isExactly("snapshot.json") else {
            throw MalformedMetadata("\"meta\" does not list snapshot.json only")
        }
        snapshot = try MetadataFile(file.object)
    }
}

/// The versions of all targets metadata that belong together (§4.4).
package struct SnapshotContent: RoleContent {
    package static var type: String { "snapshot" }

    /// The files by name, such as `targets.json`.
    package let files: [ExactText: MetadataFile]

    package init(_ signed: CanonicalObject) throws(MalformedMetadata) {
        var files: [ExactText: MetadataFile] = [:]
        for (name, object) in try signed.objects("meta") { files[ExactText(name)] = try MetadataFile(object) }
        self.files = files
    }
}
