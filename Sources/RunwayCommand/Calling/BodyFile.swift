import Foundation
import HTTPTypes
import Runway

import struct Foundation.URL

/// A file that is sent as the body of a request. It is read while it is sent.
struct BodyFile: Sendable {
    /// The maximum size of standard input, which is held in memory: 16 MiB.
    static let maximumStandardInputByteCount = 16 << 20
    private static let partByteCount = 1 << 16

    let path: String
    /// The size of the file; `nil` for a file without a size, such as a pipe.
    let byteCount: Int?

    /// Opens the file, and reads its status.
    ///
    /// - Throws: ``CommandFailure`` if it can't be read.
    init(path: String) throws(CommandFailure) {
        var status = stat()
        guard stat(path, &status) == 0, access(path, R_OK) == 0 else { throw Self.unreadable(path, .current) }
        let kind = status.st_mode & S_IFMT
        guard kind != S_IFDIR else { throw Self.unreadable(path, SystemError(code: EISDIR)) }
        self.path = path
        byteCount = kind == S_IFREG ? Int(exactly: status.st_size) : nil
    }

    /// Returns the media type for the extension of a path, for a file whose type the user did not name.
    static func contentType(ofPath path: String) -> String {
        path.lowercased().hasSuffix(".json") ? "application/json" : "application/octet-stream"
    }

    /// The body. A regular file can be sent again, and has a `Content-Length`.
    var requestBody: RequestBody {
        .stream(
            BodyStream {
                let reader = FileReader(path: path)
                return { try await reader.read(Self.partByteCount) }
            }, byteCount: byteCount, isReplayable: byteCount != nil)
    }

    /// Whether standard input is a file, a pipe or a socket, and neither a terminal nor a device.
    static var isStandardInputRedirected: Bool {
        var status = stat()
        guard fstat(STDIN_FILENO, &status) == 0 else { return false }
        return [S_IFREG, S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT)
    }

    /// Reads all of standard input.
    ///
    /// - Throws: ``CommandFailure`` if it is larger than ``maximumStandardInputByteCount`` or can't be read.
    static func readStandardInput() async throws -> [UInt8] {
        if isatty(STDIN_FILENO) == 1 { Console.error.remark("Write the body; Ctrl-D on a line of its own ends it.") }
        let reader = FileReader(descriptor: STDIN_FILENO)
        var bytes: [UInt8] = []
        while let part = try await reader.read(partByteCount) {
            bytes += part
            guard bytes.count <= maximumStandardInputByteCount else {
                throw CommandFailure(
                    "Standard input is larger than \(ByteCount(maximumStandardInputByteCount)). Pass a file to --body.")
            }
        }
        return bytes
    }

    static func unreadable(_ path: String, _ error: SystemError) -> CommandFailure {
        CommandFailure("The file \"\(path)\" can't be read: \(error).")
    }
}

/// A file that is sent as a part of a form. The user writes a path, which `;type=` and a media type may follow.
struct FormFile: Equatable {
    let path: String
    let contentType: String

    /// Parses the text that follows the sign `@` in an item of the command line.
    ///
    /// - Throws: ``CommandFailure`` if there is no path, or the media type is malformed.
    init(_ text: String) throws(CommandFailure) {
        let mark = text.ranges(of: ";type=").last
        path = String(mark.map { text[..<$0.lowerBound] } ?? text[...])
        let named = mark.map { String(text[$0.upperBound...]) }
        guard !path.isEmpty else { throw CommandFailure("The item \"…@\(text)\" names no file.") }
        if let named, MediaType(named) == nil || !HTTPField.isValidValue(named) {
            throw CommandFailure("The media type of the file \"\(path)\" is malformed; such as: ;type=image/png.")
        }
        contentType = named ?? BodyFile.contentType(ofPath: path)
    }

    /// Creates the form part.
    ///
    /// - Throws: ``CommandFailure`` if the file can't be read.
    func part(name: String) throws(CommandFailure) -> FormPart {
        let file = try BodyFile(path: path)
        return FormPart(
            name: name, fileName: URL(fileURLWithPath: path).lastPathComponent, contentType: contentType,
            body: file.requestBody)
    }
}
