import Foundation
import RunwayJSON

/// The file that stores the list of hosts. It has mode 0600 and is replaced as a whole.
struct HostListFile: Sendable {
    let path: String

    struct Content: Sendable {
        var list: HostList
        var fetched: Date
    }

    /// Reads the file. Returns `nil` if the file does not exist.
    ///
    /// - Throws: ``NetworkError/Kind/storage`` if the file was modified, or if other users can read or write it.
    func load(_ policy: HostListPolicy) throws(NetworkError) -> Content? {
        do {
            // The file may be larger than the list that was sent: an address in its canonical form may be longer, but
            // by less than half.
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

    /// Parses the bytes of a list file.
    ///
    /// - Throws: ``NetworkError/Kind/invalidConfiguration`` if the bytes were modified.
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

    /// The valid range of fetch dates, in seconds since 1970. It ends at the year 10000, beyond which calendars may
    /// fail.
    private static let dates = 0...253_402_300_799.0

    /// Replaces the list atomically.
    ///
    /// - Throws: ``FileError`` if the file can't be written.
    func save(_ content: Content) throws(FileError) {
        let seconds = content.fetched.timeIntervalSince1970
        let head = Array("{\"version\":1,\"fetched\":\(seconds),\"list\":".utf8)
        try PrivateFile.replace(path, with: head + content.list.json + [UInt8(ascii: "}")])
    }
}
