import Foundation

/// Metadata of a partial file, stored next to it, so that another process can resume the download.
struct PartialMetadata: Codable, Equatable, Sendable {
    /// The maximum size of a metadata file in bytes.
    static let maximumByteCount = 64 << 10

    /// The digest that identifies the request and the account of the download. A later download may use the same file
    /// for another request.
    var source: String
    /// The representation that the bytes belong to.
    var representation: Representation
    /// The boot session in which the bytes were written; `nil` if it is unknown.
    var bootSession: String?
    /// The number of bytes that were flushed to the storage device.
    var syncedByteCount = 0

    /// Returns the number of bytes in a partial file that certainly equal the received bytes.
    func reliableByteCount(of byteCount: Int, in session: String?) -> Int {
        // Written bytes survive the end of the process, but not a power failure.
        session != nil && session == bootSession ? byteCount : min(byteCount, syncedByteCount)
    }

    /// Returns the metadata as text: a line with a digest of the JSON, followed by the JSON.
    func text() throws -> [UInt8] {
        let json = Array(try JSONEncoder().encode(self))
        return Array(Self.firstLine(of: json).utf8) + [UInt8(ascii: "\n")] + json
    }

    /// Parses metadata. Returns `nil` if they are truncated, damaged, or in another format.
    init?(_ text: [UInt8]) {
        guard let end = text.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        let json = Array(text[(end + 1)...])
        guard Array(text[..<end]) == Array(Self.firstLine(of: json).utf8),
            let metadata = try? JSONDecoder().decode(Self.self, from: Data(json))
        else { return nil }
        self = metadata
    }

    init(source: String, representation: Representation, bootSession: String?, syncedByteCount: Int = 0) {
        self.source = source
        self.representation = representation
        self.bootSession = bootSession
        self.syncedByteCount = syncedByteCount
    }

    private static func firstLine(of json: [UInt8]) -> String {
        var hash = SHA256Hash()
        hash.update(json)
        return "runway-part-1 \(hash.digest.hexadecimal)"
    }
}
