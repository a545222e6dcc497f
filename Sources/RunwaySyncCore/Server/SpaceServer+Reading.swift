extension SpaceServer {
    /// Returns the log after a cursor, or the reason why it can't be read from there.
    func pull(_ request: PullRequest, in store: some SpaceStore) throws -> SyncResponse {
        let (history, record) = (try store.history, try store.device(request.device) ?? DeviceRecord())
        if record.isClosed { return .revoked(record.lastPacket) }
        let cursor = request.cursor == .none ? Cursor(epoch: history.epoch, number: 0, tag: 0) : request.cursor
        if let response = try check(cursor, history, in: store) { return response }
        var parts: [LogPart] = []
        var (count, bytes, number, offset) = (0, 0, cursor.number + 1, request.offset)
        while count < pageLimit, bytes < Self.pageBytes, let entry = try store.entry(number) {
            let part = LogPart(entry, from: offset, limit: pageLimit - count, byteLimit: Self.pageBytes - bytes)
            parts.append(part)
            count += max(part.entry.changes.count, 1)
            bytes += part.entry.changes.reduce(64) { $0 + $1.byteCount }
            if !part.isLast { break }
            (number, offset) = (number + 1, 0)
        }
        return .page(
            LogPage(
                parts: parts, head: history.head.number, end: record.end, epoch: history.epoch,
                digest: history.digest, horizon: history.horizon.number, backup: history.backup))
    }

    /// Returns the response to a cursor of another history, or to a cursor before the horizon; `nil` for a valid cursor
    /// (rule 12).
    private func check(_ cursor: Cursor, _ history: History, in store: some SpaceStore) throws -> SyncResponse? {
        if cursor.epoch != history.epoch || cursor.number > history.head.number { return .history }
        if cursor.number < history.horizon.number { return .horizon }
        if cursor.number == history.horizon.number { return cursor.tag == history.horizon.tag ? nil : .history }
        return try store.entry(cursor.number)?.tag == cursor.tag ? nil : .history
    }

    /// Returns a page of all rows (rule 11).
    func snapshot(_ request: SnapshotRequest, in store: some SpaceStore) throws -> SyncResponse {
        let (history, record) = (try store.history, try store.device(request.device) ?? DeviceRecord())
        if record.isClosed { return .revoked(record.lastPacket) }
        if let start = request.start, let response = try check(start, history, in: store) { return response }
        let read = try store.rows(after: request.after, limit: pageLimit)
        let rows = read.prefix(limit: pageLimit, byteLimit: Self.pageBytes) { $0.row.byteCount }
        // A store loads no row after the one with which the size of a page is exceeded.
        let isEnd = read.count < pageLimit && read.reduce(0) { $0 + $1.row.byteCount } <= Self.pageBytes
        let decided = try request.start != nil ? [] : request.pending.filter { try store.verdict(on: $0) != nil }
        return .snapshot(
            SnapshotPage(
                start: request.start ?? history.head, rows: rows,
                isLast: rows.count == read.count && isEnd, head: history.head, end: record.end,
                decided: decided, horizon: history.horizon.number))
    }
}
