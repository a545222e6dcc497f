public import Foundation
import Runway
import Synchronization

/// Stores cursors in a file, so that an app that starts again continues where it stopped.
///
/// The file is for its user alone, and replaced at once, never changed in place. Cursors that come while it is being written are written together after that, so
/// that a fast stream writes the file at the pace of the disk. A crash loses at most the cursors that were not written yet: their events
/// come a second time. A file that can't be read counts as empty, and is replaced; one that can't be written is tried again with the
/// next cursor. At most ``maximumCount`` cursors are stored; of more, the one that was stored longest ago is removed.
public final class FileStreamCursorStore: StreamCursorStore {
    /// The most cursors in a file.
    public static let maximumCount = 256

    fileprivate struct Row: Codable {
        var cursor: StreamCursor
        var order: Int64
    }

    fileprivate struct State {
        /// The rows by their keys; `nil` until the file was read.
        var rows: [String: Row]?
        var isDirty = false
        var isWriting = false
    }

    private let file: URL
    private let queue = DispatchQueue(label: "runway.cursors")
    /// Guards the rows, and whether a write is due.
    private let state = Mutex(State())

    /// Opens a store. The file is read at the first use.
    ///
    /// - Parameter file: The file, in a folder that exists.
    public init(file: URL) { self.file = file }

    /// Returns the cursor that was stored last under a key; `nil` if there is none.
    public func cursor(for key: String) async -> StreamCursor? {
        await onQueue { self.state.withLock { $0.read(from: self.file)[key]?.cursor } }
    }

    /// Stores a cursor; `nil` removes it. It returns before the file is written; see ``flush()``.
    public func store(_ cursor: StreamCursor?, for key: String) async {
        let isIdle = state.withLock { state in
            guard state.rows != nil else { return false }
            return state.store(cursor, for: key)
        }
        if state.withLock({ $0.rows == nil }) {
            await onQueue {
                let isIdle = self.state.withLock { state in
                    _ = state.read(from: self.file)
                    return state.store(cursor, for: key)
                }
                if isIdle { self.write() }
            }
        } else if isIdle {
            queue.async { self.write() }
        }
    }

    /// Waits until every cursor that was stored before is in the file, if it can be written.
    public func flush() async { await onQueue { self.write() } }

    private func write() {
        let rows = state.withLock { state in
            state.isWriting = false
            defer { state.isDirty = false }
            return state.isDirty ? state.rows : nil
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
    /// Returns the rows, from the file at the first time.
    fileprivate mutating func read(from file: URL) -> [String: FileStreamCursorStore.Row] {
        if let rows { return rows }
        let data = try? Data(contentsOf: file)
        let rows = data.flatMap { try? JSONDecoder().decode([String: FileStreamCursorStore.Row].self, from: $0) } ?? [:]
        self.rows = rows
        return rows
    }

    /// Stores a cursor in the rows; returns whether nothing will write them yet.
    fileprivate mutating func store(_ cursor: StreamCursor?, for key: String) -> Bool {
        let order = (rows?.values.map(\.order).max() ?? 0) + 1
        rows?[key] = cursor.map { FileStreamCursorStore.Row(cursor: $0, order: order) }
        if let count = rows?.count, count > FileStreamCursorStore.maximumCount,
            let oldest = rows?.min(by: { $0.value.order < $1.value.order })
        {
            rows?[oldest.key] = nil
        }
        isDirty = true
        defer { isWriting = true }
        return !isWriting
    }
}
