import Dispatch
import Foundation
import Runway

/// A file that is sent as the body of a request, read while it is sent.
struct BodyFile: Sendable {
    /// The most that is read of standard input, which is held in memory: 16 MiB.
    static let maximumStandardInputByteCount = 16 << 20
    /// How much is read at once.
    private static let partByteCount = 1 << 16

    let path: String
    /// The size of the file; `nil` for one that has none, such as a pipe.
    let byteCount: Int?

    /// Reads the status of the file.
    ///
    /// - Throws: ``CommandFailure`` if it can't be read.
    init(path: String) throws(CommandFailure) {
        var status = stat()
        guard stat(path, &status) == 0, access(path, R_OK) == 0 else { throw Self.unreadable(path, .current) }
        let kind = status.st_mode & S_IFMT
        guard kind != S_IFDIR else { throw Self.unreadable(path, SystemError(code: EISDIR)) }
        self.path = path
        byteCount = kind == S_IFREG ? Int(status.st_size) : nil
    }

    /// The body. A regular file can be sent again, and its length is sent with it.
    var requestBody: RequestBody {
        .stream(
            BodyStream {
                let reader = FileReader(path: path)
                return { try await reader.read(Self.partByteCount) }
            }, byteCount: byteCount, isReplayable: byteCount != nil)
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

    fileprivate static func unreadable(_ path: String, _ error: SystemError) -> CommandFailure {
        CommandFailure("The file \"\(path)\" can't be read: \(error).")
    }
}

/// Reads a file on a queue of its own, since a read may block for any time.
private final class FileReader: Sendable {
    private let path: String?
    private let queue = DispatchQueue(label: "runway.body")
    // Only touched on the queue, one read after the other.
    private nonisolated(unsafe) var descriptor: Int32

    init(path: String) {
        self.path = path
        descriptor = -1
    }

    init(descriptor: Int32) {
        path = nil
        self.descriptor = descriptor
    }

    deinit {
        if path != nil, descriptor >= 0 { close(descriptor) }
    }

    /// The next part, of at most `count` bytes; `nil` at the end.
    ///
    /// - Throws: ``CommandFailure``, and `CancellationError` as soon as the task is cancelled, whatever becomes of the read.
    func read(_ count: Int) async throws -> [UInt8]? {
        let (results, continuation) = AsyncThrowingStream<[UInt8], any Error>.makeStream()
        queue.async { [self] in
            do throws(CommandFailure) {
                let bytes = try readNow(count)
                if !bytes.isEmpty { continuation.yield(bytes) }
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
        for try await bytes in results { return bytes }
        try Task.checkCancellation()
        return nil
    }

    private func readNow(_ count: Int) throws(CommandFailure) -> [UInt8] {
        let name = path ?? "standard input"
        if descriptor < 0, let path {
            descriptor = open(path, O_RDONLY | O_CLOEXEC)
            if descriptor < 0 { throw BodyFile.unreadable(name, .current) }
        }
        while true {
            var failure: SystemError?
            let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
                let received = Foundation.read(descriptor, buffer.baseAddress, count)
                if received < 0 { failure = .current }
                initializedCount = max(received, 0)
            }
            guard let failure else { return bytes }
            if failure.code != EINTR { throw BodyFile.unreadable(name, failure) }
        }
    }
}
