import Foundation

/// The digests of a body that a server sent (RFC 9530), without deprecated algorithms (RFC 9530 §5).
struct ContentDigests {
    private var sha256: (expected: [UInt8], hash: SHA256Hash)?
    private var sha512: (expected: [UInt8], hash: SHA512Hash)?

    /// Parses the value of a `Content-Digest` or `Repr-Digest` field. Returns `nil` if it contains no digest that can
    /// be checked.
    init?(_ value: String?) {
        guard let value else { return nil }
        for member in FieldList.elements(of: value) {
            guard let equals = member.firstIndex(of: "=") else { continue }
            let digest = member[member.index(after: equals)...].prefix { $0 != ";" }
            // Bytes in a structured field are enclosed in colons (RFC 8941 §3.3.5).
            guard digest.count >= 2, digest.hasPrefix(":"), digest.hasSuffix(":"),
                let bytes = Data(base64Encoded: String(digest.dropFirst().dropLast())).map(Array.init)
            else { continue }
            switch member[..<equals] {
            case "sha-256": sha256 = (bytes, SHA256Hash())
            case "sha-512": sha512 = (bytes, SHA512Hash())
            default: break
            }
        }
        if sha256 == nil, sha512 == nil { return nil }
    }

    mutating func update(_ bytes: [UInt8]) {
        sha256?.hash.update(bytes)
        sha512?.hash.update(bytes)
    }

    /// Whether the received bytes match the server's digests.
    var areMet: Bool {
        if let sha256, sha256.hash.digest != sha256.expected { return false }
        if let sha512, sha512.hash.digest != sha512.expected { return false }
        return true
    }
}

extension PartialFile {
    /// The number of bytes that are read from a file at once.
    private static let stepByteCount = 1 << 20

    /// Returns whether the bytes in a range match the digests of a field; `true` if the field can't be checked.
    ///
    /// - Throws: ``FileError``, and `CancellationError` when the task is cancelled.
    func meets(_ field: String?, in range: Range<Int>) async throws -> Bool {
        guard var digests = ContentDigests(field) else { return true }
        for offset in stride(from: range.lowerBound, to: range.upperBound, by: Self.stepByteCount) {
            if Task.isCancelled { throw CancellationError() }
            let count = min(Self.stepByteCount, range.upperBound - offset)
            let bytes = try await read(count, at: offset)
            guard bytes.count == count else { return false }
            digests.update(bytes)
        }
        return digests.areMet
    }
}
