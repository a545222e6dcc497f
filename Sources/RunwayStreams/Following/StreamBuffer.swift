import Runway
import Synchronization

/// Passes the elements of a connection to the only reader of a stream, and limits the bytes that are waiting.
final class StreamBuffer: Sendable {
    /// An element for the reader, and the position of the stream after it.
    struct Entry: Sendable {
        /// The element; `nil` if only the position moved.
        var element: StreamElement?
        var cursor: StreamCursor
        var byteCount: Int
        var link: Int
    }

    fileprivate struct State {
        var entries: [Entry] = []
        /// The number of entries that the reader has taken. They are removed together.
        var taken = 0
        var byteCount = 0
        var isFinished = false
        var failure: NetworkError?
        var reader: CheckedContinuation<Void, Never>?
        var writer: CheckedContinuation<Void, Never>?
    }

    private let maximumByteCount: Int
    /// Guards the entries and the continuations. Continuations are resumed without the lock.
    private let state = Mutex(State())

    init(maximumByteCount: Int) { self.maximumByteCount = maximumByteCount }

    /// Adds an entry. An empty buffer accepts an entry that exceeds the limit.
    ///
    /// - Returns: Whether the buffer is full. The caller then has to await ``waitForRoom()``.
    func add(_ entry: Entry) -> Bool {
        let (reader, isFull) = state.withLock { state in
            if entry.element == nil, state.taken < state.entries.count,
                state.entries[state.entries.count - 1].element == nil
            {
                state.entries[state.entries.count - 1] = entry
            } else {
                state.entries.append(entry)
                state.byteCount += entry.byteCount
            }
            defer { state.reader = nil }
            return (state.reader, state.byteCount >= maximumByteCount)
        }
        reader?.resume()
        return isFull
    }

    /// Waits until the buffer has fewer bytes than the limit, or the task is cancelled.
    func waitForRoom() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let hasRoom = state.withLock { state in
                    if Task.isCancelled || state.isFinished || state.byteCount < maximumByteCount { return true }
                    state.writer = continuation
                    return false
                }
                if hasRoom { continuation.resume() }
            }
        } onCancel: {
            takeWriter()?.resume()
        }
    }

    /// Waits for the next entry. Returns `nil` at the end of the stream, and when the task is cancelled.
    ///
    /// - Throws: The error that ended the stream.
    func next() async throws(NetworkError) -> Entry? {
        while true {
            let (entry, isOver, failure, writer) = state.withLock { state in
                if let entry = state.take() {
                    defer { if state.byteCount < maximumByteCount { state.writer = nil } }
                    return (
                        entry as Entry?, false, nil as NetworkError?,
                        state.byteCount < maximumByteCount ? state.writer : nil
                    )
                }
                defer { state.failure = nil }
                return (nil, state.isFinished || Task.isCancelled, state.failure, nil)
            }
            writer?.resume()
            if let entry { return entry }
            if let failure { throw failure }
            if isOver { return nil }
            await waitForEntry()
        }
    }

    /// Ends the buffer. The reader receives the remaining entries, and then the error or the end.
    func finish(_ error: NetworkError?) {
        let (reader, writer) = state.withLock { state in
            if !state.isFinished { state.failure = error }
            state.isFinished = true
            defer { (state.reader, state.writer) = (nil, nil) }
            return (state.reader, state.writer)
        }
        reader?.resume()
        writer?.resume()
    }

    private func waitForEntry() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let hasEntry = state.withLock { state in
                    if Task.isCancelled || state.isFinished || state.taken < state.entries.count { return true }
                    precondition(state.reader == nil, "A stream has one reader")
                    state.reader = continuation
                    return false
                }
                if hasEntry { continuation.resume() }
            }
        } onCancel: {
            let reader = state.withLock { state in
                defer { state.reader = nil }
                return state.reader
            }
            reader?.resume()
        }
    }

    private func takeWriter() -> CheckedContinuation<Void, Never>? {
        state.withLock { state in
            defer { state.writer = nil }
            return state.writer
        }
    }
}

extension StreamBuffer.State {
    fileprivate mutating func take() -> StreamBuffer.Entry? {
        guard taken < entries.count else { return nil }
        let entry = entries[taken]
        taken += 1
        byteCount -= entry.byteCount
        if taken == entries.count || taken >= 64 {
            entries.removeFirst(taken)
            taken = 0
        }
        return entry
    }
}
