import Dispatch
public import Foundation
public import Runway
import RunwaySQLite
import Synchronization

/// Stores responses in a folder on the device's disk, below the memory of a `NetworkLayer`. For example:
///
/// ```swift
/// let network = NetworkLayer(transport: transport, diskCache: DiskCache(in: folder))
/// ```
///
/// The cache is used for endpoints whose cache policy requires it: `.timeToLive(onDisk: true)`,
/// `.timeToLive(diskLifetime: .seconds(86_400))`, `.untilEvicted(onDisk: true)` or `.http(onDisk: true)`. Small
/// responses are rows of an SQLite database; larger ones are files in the same folder.
///
/// **Limits.** ``DiskCacheLimits`` hold after every write. The least recently used responses are evicted first, also
/// across launches. If the process is killed, uses of its last second may be missing from this order. Stored responses
/// are not.
///
/// **Failures.** No failure of the cache fails a call: a response that can't be read is not found. Every body is
/// verified with a checksum. A database that is damaged, or was written by a newer version of the app, is set aside and
/// reported, and a new one is begun. A full disk, or a folder that can't be used, is reported once until the problem is
/// over.
///
/// If the process is killed, only the changes that were not yet written are lost. A power loss may lose the last
/// moments.
///
/// **One process.** The first cache that opens the folder has it until ``close()`` has returned, the cache is released,
/// or the process ends. Any other cache finds and stores nothing, whether it is in this process or in another one. Its
/// clears wait until the folder is free.
///
/// **Erasure.** A clear, such as at sign-out, removes the rows and the files of all covered responses before it ends.
/// SQLite overwrites the rows (`secure_delete`) and empties its log. The blocks of removed files are free, but not
/// overwritten. If the disk has no space for that, all responses are removed.
///
/// Only the user can read the files, and they are excluded from backups on Apple's systems. Keys are stored as SHA-256
/// digests. The names of services, endpoints and accounts are not encrypted.
public final class DiskCache: CacheTier {
    private enum Phase {
        /// The cache has not been used yet, or a failure closed it. The next operation opens it.
        case closed
        case open(DiskCacheStore, DiskCacheIndex)
        /// The app closed the cache for good.
        case ended
    }

    private struct State {
        var phase = Phase.closed
        /// The sequence numbers of last uses that have not been written yet, by entry id.
        var uses: [Int64: Int64] = [:]
        var isWritingUsesSoon = false
        /// Whether the latest response could not be decrypted. The cache reports this once, until a response can be
        /// decrypted.
        var isKeyMissing = false
        /// The operations that failed at their last attempt. Each is reported once, until it succeeds.
        var failing: Set<Operation> = []
    }

    /// The operations that can fail temporarily.
    private enum Operation { case open, read, write, clear }

    /// The limits of the cache.
    public let limits: DiskCacheLimits
    private let folder: URL
    private let sealing: (any PayloadSealing)?
    private let report: @Sendable (StorageError) -> Void
    /// Guards the index.
    private let state = Mutex(State())
    /// The queue for opening, writing and closing.
    private let writing = DispatchQueue(label: "runway.disk-cache.writing", qos: .utility)
    /// The queue for reading, so that lookups do not wait for writes.
    private let reading = DispatchQueue(label: "runway.disk-cache.reading")

    /// Creates a cache in a folder. The first lookup reads the folder.
    ///
    /// - Parameters:
    ///   - folder: A folder that nothing else uses. It is created if it does not exist. On iOS, a cache in the
    ///     container of an app group finds and stores nothing, since the system ends an app that is suspended while it
    ///     holds a lock there.
    ///   - limits: The limits of the stored responses; see ``DiskCacheLimits`` for the defaults.
    ///   - sealing: Encrypts metadata and bodies. The default, `nil`, stores them unencrypted. A response that can't be
    ///     decrypted is not found, and stays on disk. A cache with encryption does not find responses that were stored
    ///     without it, and a cache without encryption does not find encrypted responses.
    ///   - report: Receives the problems of the folder and the cache's reactions, on a thread of the cache; a problem
    ///     does not make a call fail. ``StorageError/Kind/corrupted`` and ``StorageError/Kind/keyUnavailable`` mean
    ///     that responses are not found, ``StorageError/Kind/unavailable`` that the cache can't be used until the
    ///     problem is over. The default ignores them.
    public init(
        in folder: URL, limits: DiskCacheLimits = DiskCacheLimits(), sealing: (any PayloadSealing)? = nil,
        report: @escaping @Sendable (StorageError) -> Void = { _ in }
    ) {
        self.folder = folder
        self.limits = limits
        self.sealing = sealing
        self.report = report
    }

    deinit { end() }

    /// The number of stored responses; 0 before the first lookup.
    public var count: Int { index?.count ?? 0 }

    /// The size of the stored responses, as ``DiskCacheLimits/maximumByteCount`` counts it; 0 before the first lookup.
    public var byteCount: Int { index?.byteCount ?? 0 }

    /// The size of the index's write-ahead log in bytes. SQLite moves the log to its file at about 4 MiB. A larger log
    /// for a long time means that SQLite can't move it.
    public var logByteCount: Int { SQLiteFile.logByteCount(of: database) }

    private var database: URL { folder.appending(path: DiskCacheStore.databaseName) }

    private var index: DiskCacheIndex? {
        state.withLock { if case .open(_, let index) = $0.phase { index } else { nil } }
    }

    /// Returns the response that is stored for a key; `nil` if none is stored, or if it is damaged.
    ///
    /// - Throws: An error of SQLite or of the file system, or an error if another cache uses the folder.
    public func find(_ key: CacheTierKey) async throws -> CacheTierEntry? {
        let key = CacheDigest(key, isSealed: sealing != nil)
        if !isOpen { _ = try await run(on: writing) { try $0.open() } }
        guard let (entry, store) = use(key) else { return nil }
        // With encryption the fast path is not used, since the app's code may wait for the system's keys.
        if sealing == nil, let content = store.readFromMemory(entry) {
            noteSuccess(of: .read)
            return content
        }
        do {
            let stored = try await run(on: reading) { cache in
                try store.read(entry).map { Self.opened($0, key, with: cache.sealing) }
            }
            noteSuccess(of: .read)
            if let stored {
                note(isKeyMissing: stored == nil)
                return stored
            }
            try await run(on: writing) { try $0.removeDamaged(entry) }
        } catch {
            try await run(on: writing) { $0.fail(error, of: store, in: .read) }
            throw error
        }
        return nil
    }

    /// Returns `false` if no response is stored for a key. Returns `true` before the first lookup, which reads the
    /// index.
    public func mayHold(_ key: CacheTierKey) -> Bool {
        let key = CacheDigest(key, isSealed: sealing != nil)
        return state.withLock { if case .open(_, let index) = $0.phase { index.holds(key) } else { true } }
    }

    /// Applies changes in one transaction, and evicts responses that exceed the limits.
    ///
    /// If the disk is too full for a clear, the cache removes all stored responses, which needs no space.
    ///
    /// - Throws: An error of SQLite or of the file system, or an error if another cache uses the folder. Then nothing
    ///   was stored.
    public func apply(_ changes: [CacheTierChange]) async throws {
        try await run(on: writing) { cache in
            let sealed = changes.map { Self.sealed($0, with: cache.sealing, cache.report) }
            guard changes.contains(where: \.isErasing) else { return try cache.change { $0.plan(sealed) } }
            do {
                try cache.change { $0.plan(sealed) }
                try cache.erase()
                cache.noteSuccess(of: .clear)
            } catch let error
                where DiskCacheStore.isFull(error, in: cache.folder) && Self.mayRemoveAll(for: changes)
            {
                // The failure has closed the cache. A clear that failed together with responses to store is repeated
                // without these responses.
                try DiskCacheStore.removeAll(in: cache.folder)
                cache.noteRemoval()
            }
        }
    }

    /// Writes pending changes, and releases the folder. Afterwards this cache finds and stores nothing.
    public func close() async { try? await run(on: writing) { $0.end() } }

    /// Limits the size of the database; see ``DiskCacheStore/limit(toPages:)``.
    func limitDatabase(toPages count: Int) async throws {
        try await run(on: writing) { try $0.open().limit(toPages: count) }
    }

    private func note(isKeyMissing: Bool) {
        let isNew = state.withLock { state in
            defer { state.isKeyMissing = isKeyMissing }
            return isKeyMissing && !state.isKeyMissing
        }
        guard isNew else { return }
        report(
            StorageError(
                .keyUnavailable,
                "Stored responses can't be decrypted: their key can't be read, or is another one. They stay."))
    }

    private func noteSuccess(of operation: Operation) { state.withLock { _ = $0.failing.remove(operation) } }

    /// Reports a temporary failure, unless the operation failed before.
    private func noteFailure(of operation: Operation, _ error: any Error) {
        if (error as? DiskCacheError) == .closed { return }
        guard state.withLock({ $0.failing.insert(operation).inserted }) else { return }
        let reason =
            error is DiskCacheError || error is FileFailure ? "\(error)" : StorageError(error, at: database).description
        report(StorageError(.unavailable, "The cache can't be used now, and what is stored stays: \(reason)"))
    }

    /// Reports that a clear removed all responses, unless the previous clear did so, too.
    private func noteRemoval() {
        guard state.withLock({ $0.failing.insert(.clear).inserted }) else { return }
        report(StorageError(.unavailable, "The disk has no space for a clear: all responses were removed."))
    }

    private func run<Value: Sendable>(
        on queue: DispatchQueue, _ operation: @escaping @Sendable (DiskCache) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try operation(self) }) }
        }
    }
}

/// Functions that run on the caller's thread.
extension DiskCache {
    private var isOpen: Bool { state.withLock { if case .open = $0.phase { true } else { false } } }

    /// Finds the response that is stored for a key, and marks it as the most recently used.
    private func use(_ key: CacheDigest) -> (DiskCacheEntry, DiskCacheStore)? {
        let (found, startsWriting) = state.withLock { state -> ((DiskCacheEntry, DiskCacheStore)?, Bool) in
            guard case .open(let store, var index) = state.phase else { return (nil, false) }
            // The index is moved out, so that it has one owner and is not copied.
            state.phase = .closed
            defer { state.phase = .open(store, index) }
            guard let entry = index.use(key) else { return (nil, false) }
            state.uses[entry.id] = entry.lastUse
            let startsWriting = !state.isWritingUsesSoon
            state.isWritingUsesSoon = true
            return ((entry, store), startsWriting)
        }
        if startsWriting {
            writing.asyncAfter(deadline: .now() + 1) { [weak self] in try? self?.change { _ in DiskCacheIndex.Plan() } }
        }
        return found
    }
}

/// Functions that run on the writing queue.
extension DiskCache {
    @discardableResult
    private func open() throws -> DiskCacheStore {
        switch state.withLock({ $0.phase }) {
        case .open(let store, _): return store
        case .ended: throw DiskCacheError.closed
        case .closed: break
        }
        do {
            let store = try openFiles(isNew: false)
            noteSuccess(of: .open)
            return store
        } catch {
            noteFailure(of: .open, error)
            throw error
        }
    }

    /// - Parameter isNew: Whether a damaged database was just set aside.
    private func openFiles(isNew: Bool) throws -> DiskCacheStore {
        let store = try DiskCacheStore(folder, report)
        do {
            let index = try store.load(limits, isSealed: sealing != nil, report)
            state.withLock { $0.phase = .open(store, index) }
        } catch {
            if DiskCacheStore.isDamage(error, in: folder), !isNew {
                try store.setAside()
                report(StorageError(.corrupted, "The index was set aside, and the cache is empty: \(error)"))
                return try openFiles(isNew: true)
            }
            store.close()
            throw error
        }
        return store
    }

    /// Plans changes, writes them with all pending uses, and then publishes them.
    private func change(_ plan: (inout DiskCacheIndex) -> DiskCacheIndex.Plan) throws {
        let store = try open()
        let (plan, uses) = changeIndex { index, state in
            defer { (state.uses, state.isWritingUsesSoon) = ([:], false) }
            return (plan(&index), state.uses)
        }
        if plan.isEmpty, uses.isEmpty { return }
        do {
            try store.write(plan, uses: uses)
            noteSuccess(of: .write)
        } catch {
            fail(error, of: store, in: .write)
            throw error
        }
        changeIndex { index, _ in index.commit(plan) }
    }

    @discardableResult
    private func changeIndex<Result>(_ change: (inout DiskCacheIndex, inout State) -> Result) -> Result {
        state.withLock { state in
            guard case .open(let store, var index) = state.phase else {
                preconditionFailure("only the writing queue closes a cache")
            }
            state.phase = .closed
            defer { state.phase = .open(store, index) }
            return change(&index, &state)
        }
    }

    private func erase() throws {
        let store = try open()
        do {
            try store.erase()
        } catch {
            fail(error, of: store, in: .write)
            throw error
        }
    }

    private func removeDamaged(_ entry: DiskCacheEntry) throws {
        var isHeld = false
        try change { index in
            // If the entry was replaced or removed during the read, its content is not damaged.
            isHeld = index.holds(entry)
            return index.planRemoval(of: entry)
        }
        // `report` is called without the lock, since the app may ask the cache for its count.
        if isHeld { report(StorageError(.corrupted, "A damaged response was removed.")) }
    }

    /// Closes the cache after an error, so that the next operation opens it again. Sets a damaged database aside.
    private func fail(_ error: any Error, of store: DiskCacheStore, in operation: Operation) {
        let isCurrent = state.withLock { state in
            guard case .open(let current, _) = state.phase, current === store else { return false }
            state.phase = .closed
            return true
        }
        guard isCurrent else { return }
        guard DiskCacheStore.isDamage(error, in: folder) else {
            store.close()
            return noteFailure(of: operation, error)
        }
        do {
            try store.setAside()
            report(StorageError(.corrupted, "The index was set aside, and the cache is empty: \(error)"))
        } catch {
            report(StorageError(.corrupted, "The damaged index can't be set aside: \(error)"))
        }
    }

    private func end() {
        let (phase, uses) = state.withLock { state in
            defer { state.phase = .ended }
            return (state.phase, state.uses)
        }
        guard case .open(let store, _) = phase else { return }
        if !uses.isEmpty { try? store.write(DiskCacheIndex.Plan(), uses: uses) }
        store.close()
    }
}

extension DiskCache {
    /// Whether all responses may be removed if the disk is too full for these changes. This is allowed if they clear an
    /// account and store no response.
    private static func mayRemoveAll(for changes: [CacheTierChange]) -> Bool {
        changes.contains(where: \.clearsAccount) && !changes.contains(where: \.isStoring)
    }
}

extension CacheTierChange {
    /// Whether the removed bytes must be overwritten in the files.
    fileprivate var isErasing: Bool { if case .clear = self { true } else { false } }
    /// Whether the change removes all responses of an account, or of all accounts.
    fileprivate var clearsAccount: Bool {
        switch self {
        case .clear(.everything), .clear(.account): true
        default: false
        }
    }
    fileprivate var isStoring: Bool { if case .store = self { true } else { false } }
}
