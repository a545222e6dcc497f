import Dispatch
import Foundation

/// Reads a file on its own queue, since a read may block.
final class FileReader: Sendable {
    private let path: String?
    private let queue = DispatchQueue(label: "runway.reader")
    // The descriptor is accessed only on the serial queue.
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

    /// Reads up to `count` bytes. Returns `nil` at the end of the file.
    ///
    /// - Throws: ``CommandFailure`` if the read fails. `CancellationError` as soon as the task is cancelled, even if
    ///   the read is still blocked.
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
