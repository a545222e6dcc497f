import Foundation
import HTTPTypes
import NIOCore
import NIOPosix
import RunwayFormats
import RunwaySignatures
import Synchronization

/// The uploads of a server, in a folder that only its user can access. After a restart, the server reads the files
/// again.
final class UploadStore: Sendable {
    private struct State {
        var uploads: [String: StoredUpload] = [:]
        var space: UploadSpace
        var isLoaded = false
    }

    /// The maximum size of a record that is read, in bytes.
    private static let maximumRecordByteCount = 256 << 10

    let folder: String
    let limits: UploadLimits
    let elapsedTime: ElapsedTime
    private let now: @Sendable () -> Date
    /// Guards the set of uploads. A thread that may block holds it while the folder is first read.
    private let state: Mutex<State>

    init(folder: String, limits: UploadLimits, by elapsedTime: ElapsedTime, now: @escaping @Sendable () -> Date) {
        self.folder = folder
        self.limits = limits
        self.elapsedTime = elapsedTime
        self.now = now
        state = Mutex(State(space: UploadSpace(limits)))
    }

    var time: Date { now() }

    /// Performs blocking work on another thread.
    func onDisk<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await NIOThreadPool.singleton.runIfActive(work)
    }

    /// Creates an upload and its files.
    ///
    /// - Throws: ``UploadProblem`` if a limit is reached, ``UploadFile/Failure``.
    func create(_ record: UploadRecord) throws -> StoredUpload {
        try load()
        removeExpired()
        var record = record
        record.bootSession = UploadFile.bootSession
        if let length = record.length, length > limits.maximumByteCount { throw UploadProblem.tooLarge }
        var generator = SystemRandomNumberGenerator()
        let id = (0..<3).map { _ in
            let number = String(generator.next(), radix: 36)
            return String(repeating: "0", count: 13 - number.count) + number
        }.joined()
        let upload = StoredUpload(id: id, path: "\(folder)/\(id)", record, offset: 0, now: time)
        do throws(UploadSpace.Shortage) {
            try state.withLock { state throws(UploadSpace.Shortage) in
                try state.space.add(announcing: record.length ?? 0, of: upload.holders)
                state.uploads[id] = upload
            }
        } catch {
            switch error {
            case .uploads: throw UploadProblem.tooMany
            case .uploadsOfHolder: throw UploadProblem.tooManyOfClient
            case .bytes: throw UploadProblem.noSpace
            }
        }
        do {
            _ = try UploadFile(upload.contentPath, O_WRONLY | O_CREAT | O_EXCL)
            try upload.save()
        } catch {
            remove(upload)
            throw error
        }
        return upload
    }

    /// Returns the upload with an id, or `nil` if the owner has no such upload.
    func find(_ id: Substring, of owner: UploadOwner) throws -> StoredUpload? {
        try load()
        removeExpired()
        guard let upload = state.withLock({ $0.uploads[String(id)] }),
            upload.owner.name.map(ExactText.init) == owner.name.map(ExactText.init)
        else { return nil }
        return upload
    }

    /// Reserves bytes for an upload. Returns `false` and reserves nothing if too few bytes are left.
    func reserve(_ byteCount: Int, for upload: StoredUpload) -> Bool {
        state.withLock { $0.space.reserve(byteCount, of: upload.holders) }
    }

    func release(_ byteCount: Int, of upload: StoredUpload) {
        state.withLock { $0.space.release(byteCount, of: upload.holders) }
    }

    /// Removes an upload and its files, and closes the connection of the request that is appending.
    func remove(_ upload: StoredUpload) {
        let reserved = upload.invalidate()
        state.withLock { state in
            if state.uploads.removeValue(forKey: upload.id) != nil {
                state.space.remove(reserved, of: upload.holders)
            }
        }
        UploadFile.remove(upload.path)
        UploadFile.remove(upload.contentPath)
    }

    /// Marks an upload as complete and removes its content.
    func complete(_ upload: StoredUpload) {
        let reserved = upload.reservedByteCount
        guard (try? upload.enter(.complete, in: nil, now: time)) == true else { return remove(upload) }
        release(reserved, of: upload)
        UploadFile.remove(upload.contentPath)
    }

    /// Lets a client complete an upload again, since the app has not handled it.
    func reopen(_ upload: StoredUpload) {
        if (try? upload.enter(.receiving, in: nil, now: time)) != true { remove(upload) }
    }

    private func removeExpired() {
        let now = time
        let all = state.withLock { Array($0.uploads.values) }
        for upload in all where !upload.isHeld {
            let status = upload.status(now: now)
            let lifetime = status.stage == .complete ? UploadLimits.completeLifetime : limits.lifetime
            if status.stage != .handling, status.age >= lifetime { remove(upload) }
        }
    }

    /// Reads the uploads that an earlier run of the server stored.
    private func load() throws {
        let now = time
        try state.withLock { state in
            if state.isLoaded { return }
            try UploadFile.makeFolder(folder)
            let session = UploadFile.bootSession
            for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
                let path = "\(folder)/\(name)"
                guard Self.isID(name) else {
                    // Removes files without a record.
                    let id = name.prefix { $0 != "." }
                    let isOrphan = name.hasSuffix(".new") || UploadFile.byteCount(at: "\(folder)/\(id)") == nil
                    if isOrphan, Self.isID(id) { UploadFile.remove(path) }
                    continue
                }
                guard let upload = Self.read(name, at: path, session: session, now: now),
                    (0...limits.maximumByteCount).contains(upload.reservedByteCount)
                else {
                    UploadFile.remove(path)
                    UploadFile.remove(path + ".content")
                    continue
                }
                state.uploads[name] = upload
                state.space.restore(upload.reservedByteCount, of: upload.holders)
            }
            state.isLoaded = true
        }
    }

    /// Reads an upload. Returns `nil` if the upload is incomplete and cannot be continued.
    private static func read(_ id: String, at path: String, session: String?, now: Date) -> StoredUpload? {
        guard let size = UploadFile.byteCount(at: path), size <= maximumRecordByteCount,
            let bytes = try? UploadFile(path, O_RDONLY).read(maximumRecordByteCount, at: 0),
            let record = try? JSONDecoder().decode(UploadRecord.self, from: Data(bytes))
        else { return nil }
        let modified = (try? FileManager.default.attributesOfItem(atPath: path))?[.modificationDate] as? Date
        switch record.stage {
        case .handling: return nil
        case .complete:
            return StoredUpload(id: id, path: path, record, offset: record.byteCount, now: modified ?? now)
        case .receiving:
            // An upload is not continued after a reboot, since its offset must not decrease, but bytes written before
            // the reboot may not have reached the disk.
            guard record.bootSession != nil, record.bootSession == session,
                let offset = UploadFile.byteCount(at: path + ".content"), offset <= record.length ?? .max
            else { return nil }
            let content = (try? FileManager.default.attributesOfItem(atPath: path + ".content"))?[.modificationDate]
            return StoredUpload(id: id, path: path, record, offset: offset, now: content as? Date ?? modified ?? now)
        }
    }

    private static func isID(_ name: some StringProtocol) -> Bool {
        name.utf8.count == 39
            && name.utf8.allSatisfy {
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
            }
    }
}
