import Foundation

/// What is known of a partial file, kept beside it, so that another process can go on where this one ended.
struct PartialMetadata: Codable, Equatable, Sendable {
    /// The largest note that is read, in bytes.
    static let maximumByteCount = 64 << 10

    /// The digest of what was asked for: the same place may be meant for another file the next time.
    var source: String
    /// What the file was begun of.
    var representation: Representation
    /// In which session of the system the bytes were written.
    var bootSession: String?
    /// How many bytes have certainly reached the disk.
    var syncedByteCount = 0

    /// How many bytes of a partial file can be relied upon.
    func reliableByteCount(of byteCount: Int, in session: String?) -> Int {
        // What a process wrote outlives the process, but not the power.
        session != nil && session == bootSession ? byteCount : min(byteCount, syncedByteCount)
    }

    /// The note as it is kept: a line with the digest of what follows, and JSON.
    func text() throws -> [UInt8] {
        let json = Array(try JSONEncoder().encode(self))
        return Array(Self.firstLine(of: json).utf8) + [UInt8(ascii: "\n")] + json
    }

    /// Reads a note; `nil` for one that is cut off, damaged, or of another form.
    init?(_ text: [UInt8]) {
        guard let end = text.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        let json = Array(text[(end + 1)...])
        guard Array(text[..<end]) == Array(Self.firstLine(of: json).utf8),
            let note = try? JSONDecoder().decode(Self.self, from: Data(json))
        else { return nil }
        self = note
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
