import Foundation

extension RequestBody {
    /// Writes the body to a file that only the user can read. If there is no body, the file is empty.
    ///
    /// - Throws: ``FileError``, and the errors of reading the body.
    func write(to path: String) async throws {
        let disk = DiskQueue()
        let file = try await disk.run { () throws(FileError) in
            try OpenFile(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW)
        }
        switch self {
        case .none: break
        case .bytes(let bytes): try await disk.run { () throws(FileError) in try file.write(bytes, at: 0) }
        case .stream(let stream, let byteCount, _):
            var parts = RequestBodyParts(stream, byteCount: byteCount)
            var written = 0
            while let part = try await parts.next() {
                try await disk.run { [written] () throws(FileError) in try file.write(part, at: written) }
                written += part.count
            }
        }
    }
}
