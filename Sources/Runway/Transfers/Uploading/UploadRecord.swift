import Foundation
import Synchronization

/// The state of an incomplete upload, stored next to its file, so that a later call can continue it.
struct UploadRecord: Codable, Equatable, Sendable {
    /// The maximum size of a record in bytes.
    static let maximumByteCount = 16 << 10
    /// The maximum size of the stored URL in bytes.
    static let maximumLocationByteCount = 4 << 10

    /// The digest of the service, the account and the request.
    var source: String
    /// The URL of the upload. It is secret: anybody who knows it may append to the upload.
    var location: String
    var byteCount: Int
    /// The part of the file that was passed to the transport, or was about to be.
    var passed: Extent
    /// The time of the file's last modification, in nanoseconds since 1970.
    var modified: Int64
    /// The file's inode number.
    var number: UInt64

    /// Some or all of the bytes of a file. Both cases are encoded as one digit, so the length of a record does not
    /// depend on the case.
    enum Extent: Int, Codable { case part, whole }

    /// Returns the record as text: a line with a digest of the JSON, followed by the JSON.
    func text() -> [UInt8]? {
        guard let json = try? JSONEncoder().encode(self) else { return nil }
        return Array(Self.firstLine(of: Array(json)).utf8) + [UInt8(ascii: "\n")] + json
    }

    init(source: String, location: String, byteCount: Int, passed: Extent, file: BodyStream.FilePart) {
        self.source = source
        self.location = location
        self.byteCount = byteCount
        self.passed = passed
        modified = file.modified
        number = file.number
    }

    /// Parses a record. Returns `nil` if it is truncated, damaged, or in another format.
    init?(_ text: [UInt8]) {
        guard let end = text.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        let json = Array(text[(end + 1)...])
        guard Array(text[..<end]) == Array(Self.firstLine(of: json).utf8),
            let record = try? JSONDecoder().decode(Self.self, from: Data(json))
        else { return nil }
        self = record
    }

    private static func firstLine(of json: [UInt8]) -> String {
        var hash = SHA256Hash()
        hash.update(json)
        return "runway-upload-2 \(hash.digest.hexadecimal)"
    }
}

/// The file with the record of an upload. While it is open, it is locked and reserved for one call, so that no other
/// call of any process continues the upload. Where files can't be locked (``AppGroup``), only other calls of this layer
/// are excluded.
///
/// An unreadable record counts as absent. If the record can't be written, the upload continues only within its call.
final class UploadRecordFile: Sendable {
    private struct State {
        var file: OpenFile?
        /// Whether records may no longer be stored, because another call uses the file or this call has ended.
        var isTaken = false
        var isCancelled = false
        /// Whether the file contains a record: the record that this call read, or the last record that this call
        /// enqueued before the close.
        var isStored = false
    }

    private let path: String
    private let claims: FileClaims
    private let queue = DiskQueue()
    /// Guards the open file.
    private let state = Mutex(State())

    init(beside file: String, _ claims: FileClaims) {
        path = file + ".upload"
        self.claims = claims
    }

    deinit { release() }

    /// Waits while a cancelled call uses the record, so that this call continues where the cancelled one ended.
    ///
    /// - Throws: ``NetworkError/Kind/cancelled`` or ``NetworkError/Kind/timedOut`` if the call ends while it waits.
    func waitForCancelled(in flight: Flight) async throws(NetworkError) {
        try await claims.waitForCancelled(path, in: flight)
    }

    /// Records that the call was cancelled. The next call then waits until this call releases the record.
    func cancel() {
        state.withLock { state in
            state.isCancelled = true
            if state.file != nil { claims.cancel(path) }
        }
    }

    /// Whether the file contains a record: the record that this call read, or the last record that this call enqueued
    /// before the close.
    var isStored: Bool { state.withLock { $0.isStored } }

    /// Returns the stored record, or `nil` if there is none.
    func load() async -> UploadRecord? {
        try? await queue.run { () throws(FileError) in
            guard let file = try OpenFile.existing(self.path, O_RDWR | O_NOFOLLOW | O_NONBLOCK), try self.take(file)
            else {
                return nil
            }
            let record = UploadRecord(try file.read(UploadRecord.maximumByteCount, at: 0))
            self.state.withLock { $0.isStored = record != nil }
            return record
        }
    }

    /// Stores a record after all earlier records. `makeRecord` is called at that time; it returns `nil` to store none.
    func save(_ makeRecord: @escaping @Sendable () -> UploadRecord?) async {
        try? await queue.run { () throws(FileError) in
            // The task that reads the body may save a record after the file is closed. In this case the earlier record
            // must remain in the file.
            guard let record = makeRecord(), !self.state.withLock({ $0.isTaken }) else { return }
            self.state.withLock { $0.isStored = false }
            guard let text = record.text(), text.count <= UploadRecord.maximumByteCount else { return }
            var file = self.state.withLock { $0.file }
            if file == nil {
                let new = try OpenFile(self.path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK)
                guard try self.take(new) else { return }
                file = new
            }
            guard let stored = file, try stored.isInPlace() else { return }
            // If the process ends between these two writes and the former record was longer, the digest does not match
            // and the record is ignored.
            try stored.write(text, at: 0)
            try stored.truncate(to: text.count)
            try stored.sync()
            self.state.withLock { $0.isStored = true }
        }
    }

    /// Removes the record if this call owns it.
    func remove() async {
        try? await queue.run { () throws(FileError) in
            guard let file = self.state.withLock({ $0.file }) else { return }
            self.state.withLock { $0.isStored = false }
            if try file.isInPlace() { try OpenFile.remove(self.path) }
            self.release()
        }
    }

    /// Waits for the pending writes, and releases the file for other calls. Later writes are discarded.
    func close() async {
        try? await queue.run { () throws(FileError) in
            self.release()
            self.state.withLock { $0.isTaken = true }
        }
    }

    private func release() {
        state.withLock { state in
            guard let file = state.file else { return }
            // Closing the descriptor might not release the lock: a process that is being started may hold a copy of the
            // descriptor.
            file.unlock()
            claims.release(path)
            state.file = nil
        }
    }

    /// Reserves and locks a file until it is closed. Returns `false` if the file belongs to another user or is
    /// accessible to others.
    private func take(_ file: OpenFile) throws(FileError) -> Bool {
        let status = try file.status()
        let isOwn = status.isPlainFile && status.isPrivate && claims.claim(path)
        let isUsable = isOwn && file.lock() && (try? file.isInPlace()) == true
        if isOwn, !isUsable { claims.release(path) }
        state.withLock { state in
            if isUsable { state.file = file } else { state.isTaken = true }
            if isUsable, state.isCancelled { claims.cancel(path) }
        }
        return isUsable
    }
}
