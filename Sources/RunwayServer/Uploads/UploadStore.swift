import Foundation
import HTTPTypes
import NIOCore
import NIOPosix
import RunwayFormats
import RunwaySignatures
import Synchronization

/// The uploads of a server, in a folder that only its user can access. Files of a server that was stopped are found
/// again.
final class UploadStore: Sendable {
    private struct State {
        var uploads: [String: StoredUpload] = [:]
        var space: UploadSpace
        var isLoaded = false
    }

    /// The largest record that is read, in bytes.
    private static let maximumRecordByteCount = 256 << 10

    let folder: String
    let limits: UploadLimits
    /// Measures the pace of content.
    let elapsedTime: ElapsedTime
    private let now: @Sendable () -> Date
    /// Guards which uploads there are. Held while the folder is read once, by a thread that may wait for the disk.
    private let state: Mutex<State>

    init(folder: String, limits: UploadLimits, by elapsedTime: ElapsedTime, now: @escaping @Sendable () -> Date) {
        self.folder = folder
        self.limits = limits
        self.elapsedTime = elapsedTime
        self.now = now
        state = Mutex(State(space: UploadSpace(limits)))
    }

    var time: Date { now() }

    /// Performs blocking work on a thread for it.
    func onDisk<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await NIOThreadPool.singleton.runIfActive(work)
    }

    /// Creates an upload, and its files.
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

    /// Returns the upload of an owner; `nil` if there is none.
    func find(_ id: Substring, of owner: UploadOwner) throws -> StoredUpload? {
        try load()
        removeExpired()
        guard let upload = state.withLock({ $0.uploads[String(id)] }),
            upload.owner.name.map(ExactText.init) == owner.name.map(ExactText.init)
        else { return nil }
        return upload
    }

    /// Takes bytes from the limits for an upload; returns `false`, and takes none, if fewer are left.
    func reserve(_ byteCount: Int, for upload: StoredUpload) -> Bool {
        state.withLock { $0.space.reserve(byteCount, of: upload.holders) }
    }

    func release(_ byteCount: Int, of upload: StoredUpload) {
        state.withLock { $0.space.release(byteCount, of: upload.holders) }
    }

    /// Removes an upload and its files, and cuts the connection of the request that appends to it.
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

    /// Marks an upload as complete, and removes its content.
    func complete(_ upload: StoredUpload) {
        let reserved = upload.reservedByteCount
        guard (try? upload.enter(.complete, in: nil, now: time)) == true else { return remove(upload) }
        release(reserved, of: upload)
        UploadFile.remove(upload.contentPath)
    }

    /// Lets a client complete an upload again that the app has not handled.
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

    /// Finds the files of a server that was stopped.
    private func load() throws {
        let now = time
        try state.withLock { state in
            if state.isLoaded { return }
            try UploadFile.makeFolder(folder)
            let session = UploadFile.bootSession
            for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
                let path = "\(folder)/\(name)"
                guard Self.isID(name) else {
                    // Files without a record are useless.
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

    /// Reads an upload that can be continued, or that is complete; `nil` for any other.
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
            // An offset must not decrease, and bytes from before the system's start may not have reached the disk.
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
