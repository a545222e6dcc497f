public import Foundation

extension RequestBody {
    /// Returns a body with the bytes of a file, which is opened and read while it is sent.
    ///
    /// ```swift
    /// struct FilmUpload: Endpoint {
    ///     static let service = Listings.self
    ///     static let method = HTTPRequest.Method.put
    ///     static let encoding = ParameterEncoding.raw(contentType: "video/mp4")
    ///
    ///     @Unencoded var film: URL
    ///     @Unencoded var id: Int
    ///     var path: EndpointPath { "rental/\(id)/film" }
    ///     var content: RequestBody { get throws { try .file(film) } }
    /// }
    /// ```
    ///
    /// The file's length is sent with the body, and the body can be sent again. Only some hundred kilobytes of it are
    /// in memory at a time. If the file was replaced since the body was created, or changes while it is sent, the call
    /// fails as ``NetworkError/Kind/storage``, before the last byte is sent.
    ///
    /// - Throws: ``NetworkError/Kind/storage`` if the file is not a regular file or can't be read.
    public static func file(_ file: URL) throws(NetworkError) -> RequestBody {
        guard file.isFileURL else {
            throw NetworkError(
                .invalidParameters, in: .assembling, "The URL of the body is not a file URL.")
        }
        do throws(FileError) {
            let body = try FileBody(file.path)
            var stream = body.stream(of: 0..<body.status.byteCount)
            stream.filePart = BodyStream.FilePart(
                path: body.path, modified: body.status.modified, number: body.status.number
            ) { body.stream(of: $0) }
            return .stream(stream, byteCount: body.status.byteCount, isReplayable: true)
        } catch {
            throw NetworkError(error, in: .assembling)
        }
    }
}

/// A file that is sent only if it is unchanged since it was first opened.
struct FileBody: Sendable {
    /// The number of bytes that are read at once: 128 KiB.
    private static let partByteCount = 128 << 10

    let path: String
    let status: OpenFile.Metadata

    init(_ path: String) throws(FileError) {
        self.path = path
        // Opening a pipe would otherwise wait for a writer.
        status = try OpenFile(path, O_RDONLY | O_NONBLOCK).status()
        guard status.isPlainFile else {
            throw FileError(
                path, "can't be sent", reason: "it is \(status.isFolder ? "a folder" : "not a regular file")")
        }
    }

    /// Returns a stream of the bytes in one part of the file. The stream can be read any number of times.
    func stream(of part: Range<Int>) -> BodyStream {
        BodyStream {
            let queue = DiskQueue()
            var file: OpenFile?
            var offset = part.lowerBound
            return {
                do throws(FileError) {
                    try Self.stopIfCancelled(path)
                    let (opened, bytes) = try await queue.run { [file, offset] () throws(FileError) in
                        try read(part, from: file, at: offset)
                    }
                    file = opened
                    offset += bytes.count
                    return bytes.isEmpty ? nil : bytes
                } catch {
                    throw Task.isCancelled ? .cancelled(in: .transporting) : NetworkError(error, in: .transporting)
                }
            }
        }
    }

    private static func stopIfCancelled(_ path: String) throws(FileError) {
        if Task.isCancelled { throw FileError(path, "is no longer sent", reason: "the call was cancelled") }
    }

    private func read(
        _ part: Range<Int>, from file: OpenFile?, at offset: Int
    ) throws(FileError) -> (OpenFile, [UInt8]) {
        let file = if let file { file } else { try OpenFile(path, O_RDONLY | O_NONBLOCK) }
        if offset == part.lowerBound || offset == part.upperBound { try checkIsUnchanged(file) }
        let bytes = try file.read(min(Self.partByteCount, part.upperBound - offset), at: offset)
        if bytes.isEmpty, offset < part.upperBound { try checkIsUnchanged(file) }
        return (file, bytes)
    }

    private func checkIsUnchanged(_ file: OpenFile) throws(FileError) {
        let now = try file.status()
        guard now.isUnchanged(since: status) else {
            throw FileError(path, "can't be sent", reason: "it has changed since the call was made")
        }
    }
}
