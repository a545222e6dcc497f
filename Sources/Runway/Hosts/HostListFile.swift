import Foundation
import RunwayJSON

/// The list of hosts that is stored on disk: one file of mode 0600, which is replaced as a whole.
struct HostListFile: Sendable {
    let path: String

    /// A list, and when it was fetched.
    struct Content: Sendable {
        var list: HostList
        var fetched: Date
    }

    /// Returns the content of the file; `nil` if it does not exist.
    ///
    /// - Throws: ``NetworkError/Kind/storage`` for a file that was changed, or that others can write or read.
    func load(_ policy: HostListPolicy) throws(NetworkError) -> Content? {
        do {
            // An address may be longer in its usual form than it was sent, though not by half.
            guard let bytes = try PrivateFile(reading: path)?.read(upTo: 2 * policy.maximumByteCount + 256) else {
                return nil
            }
            return try Self.content(of: bytes, policy, at: path)
        } catch {
            let detail =
                (error as? NetworkError)?.detail
                ?? "The stored list of hosts can't be read: \(error.redactedDescription)"
            throw NetworkError(.storage, in: .routing, detail)
        }
    }

    /// Returns the content of the bytes of such a file.
    ///
    /// - Throws: ``NetworkError/Kind/invalidConfiguration`` for bytes that were changed.
    static func content(
        of bytes: [UInt8], _ policy: HostListPolicy, at path: String
    ) throws(NetworkError) -> Content {
        let root: JSONValue
        do { root = try JSONDocument(bytes, limits: JSONLimits(maximumDepth: 16)).root } catch {
            throw NetworkError.invalidHostList("The stored list of hosts can't be read: \(error)")
        }
        guard root["version"].int == 1, let fetched = root["fetched"].double, dates.contains(fetched) else {
            throw NetworkError.invalidHostList("\(path) is not a list of hosts that Runway stored.")
        }
        return Content(
            list: try HostList(json: root["list"], policy: policy), fetched: Date(timeIntervalSince1970: fetched))
    }

    /// The seconds since 1970 that a date of fetching may have: until the year 10000, beyond which no calendar need
    /// reckon.
    private static let dates = 0...253_402_300_799.0

    /// Replaces the list atomically.
    ///
    /// - Throws: ``FileError`` if it can't be written.
    func save(_ content: Content) throws(FileError) {
        let seconds = content.fetched.timeIntervalSince1970
        let head = Array("{\"version\":1,\"fetched\":\(seconds),\"list\":".utf8)
        try PrivateFile.replace(path, with: head + content.list.json + [UInt8(ascii: "}")])
    }
}
