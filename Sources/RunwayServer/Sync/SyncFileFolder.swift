import Crypto
import Foundation
import Hummingbird
import NIOCore
import NIOPosix
import Synchronization

/// The files of spaces on the disk: a folder for each space, with a file for each digest. A file receives its final
/// name after it is complete, verified and on the drive.
struct SyncFileFolder: Sendable {
    enum Refusal: Error { case tooLarge, otherBytes, noSpace, forbidden }

    let path: String

    /// Performs blocking work on another thread.
    private func onDisk<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await NIOThreadPool.singleton.runIfActive(work)
    }

    private func folder(of space: UUID) -> String { "\(path)/\(space.uuidString.lowercased())" }
    private func path(of file: SyncFile) -> String { "\(folder(of: file.space))/\(file.digest)" }

    /// Opens a file, and records that it is in use; `nil` if it is absent. It is not removed while it is open.
    func open(_ file: SyncFile) async throws -> (file: UploadFile, byteCount: Int)? {
        try await onDisk { try UploadFile.use(path(of: file)) }
    }

    /// Receives a file.
    ///
    /// - Parameter isAllowed: Whether the sender still has the rights. It is called before the file becomes visible.
    /// - Throws: ``Refusal``, ``UploadFile/Failure``, or the error of the body; nothing is left.
    func store(
        _ file: SyncFile, _ body: RequestBody, upTo maximumByteCount: Int, if isAllowed: @escaping @Sendable () -> Bool
    ) async throws {
        let draft = "\(folder(of: file.space))/\(UUID().uuidString).new"
        let output = try await onDisk {
            try UploadFile.makeFolder(path)
            try UploadFile.makeFolder(folder(of: file.space))
            return try UploadFile(draft, O_WRONLY | O_CREAT | O_EXCL)
        }
        do {
            let received = Received()
            let reception = BodyReception(within: UploadLimits.content, by: ElapsedTime(ContinuousClock()))
            try await reception.receive(body) { part in
                let offset = received.add(part)
                guard offset + part.readableBytes <= maximumByteCount else { throw Refusal.tooLarge }
                try await onDisk { try part.withUnsafeReadableBytes { try output.write($0, at: offset) } }
            }
            guard received.digest == file.digest else { throw Refusal.otherBytes }
            try await onDisk {
                try output.sync()
                guard isAllowed() else { throw Refusal.forbidden }
                try UploadFile.move(draft, to: path(of: file))
            }
        } catch {
            try? await onDisk { UploadFile.remove(draft) }
            throw (error as? UploadFile.Failure)?.code == ENOSPC ? Refusal.noSpace : error
        }
    }

    /// Returns the digests of files for which no device has asked for a time. Removes drafts of that age.
    func digests(in space: UUID, unusedFor age: Duration) async throws -> Set<String> {
        try await onDisk {
            let (folder, end) = (folder(of: space), Date(timeIntervalSinceNow: -(age / .seconds(1))))
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            let unused = names.filter { UploadFile.isUnused("\(folder)/\($0)", since: end) }
            for name in unused where name.hasSuffix(".new") { UploadFile.remove("\(folder)/\(name)") }
            return Set(unused.filter { !$0.hasSuffix(".new") })
        }
    }

    /// Removes files that are not in use, and for which no device has asked for a time.
    func remove(_ digests: Set<String>, in space: UUID, unusedFor age: Duration) async throws {
        try await onDisk {
            let (folder, end) = (folder(of: space), Date(timeIntervalSinceNow: -(age / .seconds(1))))
            for digest in digests { UploadFile.removeUnused("\(folder)/\(digest)", since: end) }
        }
    }

    /// Counts the bytes of a body, and hashes them.
    private final class Received: Sendable {
        /// Guards the number of bytes and their hash.
        private let state = Mutex((byteCount: 0, hash: SHA256()))

        /// Returns the number of bytes before a part.
        func add(_ part: ByteBuffer) -> Int {
            state.withLock { state in
                defer { state.byteCount += part.readableBytes }
                part.withUnsafeReadableBytes { state.hash.update(bufferPointer: $0) }
                return state.byteCount
            }
        }

        var digest: String {
            state.withLock { $0.hash.finalize().map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
        }
    }
}
