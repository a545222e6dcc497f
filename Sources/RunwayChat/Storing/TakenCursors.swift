import RunwayStreams

/// Notifies the client of new stream positions. The client stores them after the states of the conversations.
struct TakenCursors: StreamCursorStore {
    let base: any StreamCursorStore
    let note: @MainActor @Sendable (StreamCursor?) -> Void

    func cursor(for key: String) async -> StreamCursor? { await base.cursor(for: key) }
    func store(_ cursor: StreamCursor?, for key: String) async { await note(cursor) }
}
