package enum SyncRequest: Hashable, Sendable {
    case push(Packet)
    case pull(PullRequest)
    case snapshot(SnapshotRequest)
}

/// Asks for the log after a cursor.
package struct PullRequest: Hashable, Sendable {
    package let device: Identifier
    package let cursor: Cursor
    /// The number of changes of the next entry that the device has received already.
    package let offset: Int

    package init(device: Identifier, cursor: Cursor, offset: Int) {
        (self.device, self.cursor, self.offset) = (device, cursor, offset)
    }
}

/// Asks for a page of all rows (rule 11).
package struct SnapshotRequest: Hashable, Sendable {
    package let device: Identifier
    /// The head of the log when the snapshot began; `nil` for the first page.
    package let start: Cursor?
    /// The last row of the previous page; `nil` for the first page.
    package let after: RowKey?
    /// The transactions whose decisions the server has to look up, in the request for the first page.
    package let pending: [Identifier]

    package init(device: Identifier, start: Cursor?, after: RowKey?, pending: [Identifier]) {
        (self.device, self.start, self.after, self.pending) = (device, start, after, pending)
    }
}

package enum SyncResponse: Hashable, Sendable {
    /// The verdicts on a packet, one for each transaction, and the head of the log.
    case verdicts([Verdict], head: Int64)
    case page(LogPage)
    case snapshot(SnapshotPage)
    /// 409: operations before the packet are absent at the server. Carries the last operation that the server has.
    case gap(ChainEnd)
    /// 409: the server has other operations of the device under the same numbers.
    case forked
    /// 410: the log before the cursor was removed.
    case horizon
    /// 410: the cursor belongs to another history of the server.
    case history
    /// 403: the device may not see the space any more. Carries the verdicts on its last packet (rule 13).
    case revoked([Decision])
    /// 403: the id of the device belongs to another subject.
    case deviceTaken
    /// 413: the request is too large.
    case tooLarge
    /// 422: the server can't read the packet.
    case invalid
    /// 426: the app is too old for the tables of the space (rule 15).
    case upgrade
    /// 429 or 503: the device must send nothing for this many milliseconds.
    case wait(milliseconds: Int64)
}

extension SyncResponse {
    /// Whether a correct server may send this response to a push, or to a pull.
    func fits(push isPush: Bool) -> Bool {
        switch self {
        case .verdicts, .gap, .forked, .tooLarge, .invalid: isPush
        case .page, .snapshot, .horizon, .history: !isPush
        case .revoked, .deviceTaken, .upgrade, .wait: true
        }
    }
}

/// A transaction and the verdict on it.
package struct Decision: Hashable, Sendable {
    package let transaction: Identifier
    /// The number of the first operation of the transaction.
    package let number: Int64
    package let verdict: Verdict

    package init(transaction: Identifier, number: Int64, verdict: Verdict) {
        (self.transaction, self.number, self.verdict) = (transaction, number, verdict)
    }
}

package struct LogPage: Hashable, Sendable {
    package let parts: [LogPart]
    package let head: Int64
    /// The last operation of the device that the server has.
    package let end: ChainEnd
    /// The epoch of the server, for a device that has none.
    package let epoch: Identifier

    package init(parts: [LogPart], head: Int64, end: ChainEnd, epoch: Identifier) {
        (self.parts, self.head, self.end, self.epoch) = (parts, head, end, epoch)
    }
}

/// A page of all rows (rule 11).
package struct SnapshotPage: Hashable, Sendable {
    /// The head of the log when the snapshot began. The device pulls the log after it.
    package let start: Cursor
    /// Rows and tombstones, in the order of their keys.
    package let rows: [KeyedRow]
    package let isLast: Bool
    /// The head of the log at this page.
    package let head: Cursor
    /// The last operation of the device that the server has.
    package let end: ChainEnd
    /// The transactions of the request for the first page that had a verdict when the snapshot began.
    package let decided: [Identifier]

    package init(
        start: Cursor, rows: [KeyedRow], isLast: Bool, head: Cursor, end: ChainEnd, decided: [Identifier]
    ) {
        (self.start, self.rows, self.isLast) = (start, rows, isLast)
        (self.head, self.end, self.decided) = (head, end, decided)
    }
}

package struct KeyedRow: Hashable, Sendable {
    package let key: RowKey
    package let row: Row

    package init(_ key: RowKey, _ row: Row) { (self.key, self.row) = (key, row) }
}
