public import Foundation
import Runway
import Synchronization

/// Stores cursors in a file, so that the app continues its streams after a restart.
///
/// Only its user can read the file. It is replaced atomically, at most every 250 ms. Cursors that arrive sooner are
/// written together after that time, or by ``flush()``. A crash may lose the latest cursors, and their events then
/// arrive a second time. Await ``flush()`` before you remove the file.
///
/// A file that can't be read counts as empty, and is replaced. A failed write is repeated with the next cursor. At most
/// ``maximumCount`` cursors are stored; beyond this, the oldest is removed.
public final class FileStreamCursorStore: StreamCursorStore {
    /// The maximum number of cursors in a file: 256.
    public static let maximumCount = 256

    fileprivate struct Row: Codable {
        var cursor: StreamCursor
        var order: Int64
    }

    fileprivate struct State {
        /// The rows of the file by key; `nil` until the file was read.
        var rows: [String: Row]?
        var isDirty = false
        var isWriteScheduled = false
        var nextWrite = DispatchTime.now()
    }

    private let file: URL
    private let minimumWriteInterval: Duration
    private let queue = DispatchQueue(label: "runway.cursors")
    /// Guards the rows and the schedule of writes.
    private let state = Mutex(State())

    /// Opens a store. The first use reads the file.
    ///
    /// - Parameter file: The file, in an existing folder.
    public convenience init(file: URL) { self.init(file: file, minimumWriteInterval: .milliseconds(250)) }

    /// - Parameter minimumWriteInterval: The minimum time between two writes.
    init(file: URL, minimumWriteInterval: Duration) {
        (self.file, self.minimumWriteInterval) = (file, minimumWriteInterval)
    }

    /// Returns the last cursor stored under a key; `nil` if none is stored.
    public func cursor(for key: String) async -> StreamCursor? {
        await onQueue { self.state.withLock { $0.read(from: self.file)[key]?.cursor } }
    }

    /// Stores a cursor, or removes it if `cursor` is `nil`. Returns before the file is written; see ``flush()``.
    public func store(_ cursor: StreamCursor?, for key: String) async {
        // The file is read and written only on the queue.
        let isRead = state.withLock { $0.rows != nil }
        if !isRead { await onQueue { _ = self.state.withLock { $0.read(from: self.file) } } }
        guard let due = state.withLock({ $0.store(cursor, for: key) }) else { return }
        queue.asyncAfter(deadline: due) { self.write() }
    }

    /// Waits until all cursors are written to the file, or the write has failed.
    public func flush() async { await onQueue { self.write() } }

    private func write() {
        let rows = state.withLock { state in
            state.isWriteScheduled = false
            guard state.isDirty else { return nil as [String: Row]? }
            state.isDirty = false
            state.nextWrite = DispatchTime.now() + minimumWriteInterval / .seconds(1)
            return state.rows
        }
        guard let rows, let data = try? JSONEncoder().encode(rows) else { return }
        do {
            try PrivateFile.replace(file.path, with: Array(data))
        } catch {
            state.withLock { $0.isDirty = true }
        }
    }

    private func onQueue<Value: Sendable>(_ operation: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in queue.async { continuation.resume(returning: operation()) } }
    }
}

extension FileStreamCursorStore.State {
    /// Returns the rows of the file. Reads the file at the first call.
    fileprivate mutating func read(from file: URL) -> [String: FileStreamCursorStore.Row] {
        if let rows { return rows }
        let data = try? Data(contentsOf: file)
        let rows = data.flatMap { try? JSONDecoder().decode([String: FileStreamCursorStore.Row].self, from: $0) } ?? [:]
        self.rows = rows
        return rows
    }

    /// Stores a cursor in the rows of the file. Returns the time of the next write; `nil` if a write is scheduled
    /// already.
    fileprivate mutating func store(_ cursor: StreamCursor?, for key: String) -> DispatchTime? {
        let order = (rows?.values.map(\.order).max() ?? 0) + 1
        rows?[key] = cursor.map { FileStreamCursorStore.Row(cursor: $0, order: order) }
        if let count = rows?.count, count > FileStreamCursorStore.maximumCount,
            let oldest = rows?.min(by: { $0.value.order < $1.value.order })
        {
            rows?[oldest.key] = nil
        }
        isDirty = true
        defer { isWriteScheduled = true }
        return isWriteScheduled ? nil : nextWrite
    }
}
