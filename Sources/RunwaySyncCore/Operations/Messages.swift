package enum SyncRequest: Hashable, Sendable {
    case push(Packet)
    case pull(PullRequest)
    case snapshot(SnapshotRequest)
}

extension SyncRequest {
    /// The version of the app's tables.
    var schema: Int64 {
        switch self {
        case .push(let packet): packet.schema
        case .pull(let request): request.schema
        case .snapshot(let request): request.schema
        }
    }
}

/// Asks for the log after a cursor.
package struct PullRequest: Hashable, Sendable {
    package let device: Identifier
    package let cursor: Cursor
    /// The number of changes of the next entry that the device has received already.
    package let offset: Int
    /// The version of the app's tables (rule 15).
    package let schema: Int64

    package init(device: Identifier, cursor: Cursor, offset: Int, schema: Int64 = 1) {
        (self.device, self.cursor, self.offset, self.schema) = (device, cursor, offset, schema)
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
    /// The version of the app's tables (rule 15).
    package let schema: Int64

    package init(device: Identifier, start: Cursor?, after: RowKey?, pending: [Identifier], schema: Int64 = 1) {
        (self.device, self.start, self.after, self.pending) = (device, start, after, pending)
        self.schema = schema
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
    /// 429: the subject has too many devices in the space.
    case tooManyDevices
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
        case .revoked, .deviceTaken, .tooManyDevices, .upgrade, .wait: true
        }
    }

    /// Whether the device records the response for the transactions of the packet that it pushed.
    var isOnPacket: Bool {
        switch self {
        case .verdicts, .tooLarge, .invalid: true
        default: false
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
    /// The digest of the rows at the head (rule 15).
    package let digest: Digest
    /// The newest entry that was removed from the log.
    package let horizon: Int64
    /// The newest entry that a backup of the server contains (rule 12).
    package let backup: Int64

    package init(
        parts: [LogPart], head: Int64, end: ChainEnd, epoch: Identifier, digest: Digest = Digest(), horizon: Int64 = 0,
        backup: Int64 = 0
    ) {
        (self.parts, self.head, self.end, self.epoch) = (parts, head, end, epoch)
        (self.digest, self.horizon, self.backup) = (digest, horizon, backup)
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
    /// The newest entry that was removed from the log.
    package let horizon: Int64

    package init(
        start: Cursor, rows: [KeyedRow], isLast: Bool, head: Cursor, end: ChainEnd, decided: [Identifier],
        horizon: Int64 = 0
    ) {
        (self.start, self.rows, self.isLast) = (start, rows, isLast)
        (self.head, self.end, self.decided, self.horizon) = (head, end, decided, horizon)
    }
}

package struct KeyedRow: Hashable, Sendable {
    package let key: RowKey
    package let row: Row

    package init(_ key: RowKey, _ row: Row) { (self.key, self.row) = (key, row) }
}
