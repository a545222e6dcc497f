package import Foundation
import Runway
import RunwaySignatures
import RunwayTUF

/// The metadata that a client has accepted, in a folder of its own: one file for each role, as it was received, and the
/// time of the last update. Each file is replaced as a whole.
package struct MetadataFolder: Sendable {
    package let url: URL

    /// - Parameter url: The folder, which must exist. Nothing else may write into it.
    package init(_ url: URL) { self.url = url }

    /// Returns the bytes of a role; `nil` if the file is absent, unreadable, or longer than the limit. What is read was
    /// accepted once, and is verified again like a response.
    func read(_ role: String, upTo maximumByteCount: Int) -> [UInt8]? {
        bytes(of: file(of: role), upTo: maximumByteCount)
    }

    /// Stores the bytes of a role.
    func store(_ bytes: [UInt8], as role: String) throws(FileError) {
        try PrivateFile.replace(file(of: role).path, with: bytes)
    }

    /// Removes the bytes of a role, if there are any.
    func remove(_ role: String) throws(FileError) { try PrivateFile.remove(file(of: role).path) }

    /// The time of the last complete update; `nil` before the first.
    var lastUpdate: UnixTime? {
        guard let bytes = bytes(of: timeFile, upTo: 64) else { return nil }
        return Int64(String(decoding: bytes, as: UTF8.self)).map { UnixTime(seconds: $0) }
    }

    /// Stores the time of a complete update, if it is a day later than the stored one: a file is written seldom, and a
    /// clock that is set back gains at most a day.
    func store(lastUpdate time: UnixTime) throws(FileError) {
        if let last = lastUpdate, time < last + .seconds(86_400) { return }
        try PrivateFile.replace(timeFile.path, with: Array(String(time.seconds).utf8))
    }

    /// No role has this file, since the files of roles end in `.json`.
    private var timeFile: URL { url.appending(path: "last-update.txt") }

    private func file(of role: String) -> URL { url.appending(path: MetadataName.file(of: role)) }

    private func bytes(of file: URL, upTo maximumByteCount: Int) -> [UInt8]? {
        guard let handle = try? FileHandle(forReadingFrom: file) else { return nil }
        defer { try? handle.close() }
        guard let data = try? handle.read(upToCount: maximumByteCount + 1), data.count <= maximumByteCount else {
            return nil
        }
        return Array(data)
    }
}
