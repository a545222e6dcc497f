import Foundation
import GRDB
import RunwaySyncCore

extension SQLiteDeviceStore {
    /// Records the values that lost against a change of this device, or that a change of this device lost, before the
    /// page is applied (rule 7).
    func recordConflicts(of event: SyncDevice.Event) throws {
        guard case .received(.page(let page), _) = event else { return }
        for part in page.parts where part.entry.changes.contains(where: { !$0.losers.isEmpty }) {
            guard try outgoing(part.entry.transaction) != nil else { continue }
            for change in part.entry.changes where !change.losers.isEmpty {
                let sql = "SELECT lost FROM runway_sync_conflict WHERE space = ? AND tbl = ? AND id = ?"
                let former = try Data.fetchOne(database.cachedStatement(sql: sql), arguments: arguments(change.key))
                var lost = try former.map { try Columns<SyncValue>(encoded: Array($0)) } ?? [:]
                lost.merge(change.losers)
                try hold(change.losers, of: change.key)
                try execute(
                    "INSERT OR REPLACE INTO runway_sync_conflict VALUES (?, ?, ?, ?)",
                    arguments(change.key, Data(lost.encoded())))
            }
        }
    }
    /// Records the spaces to which rows moved, as the log shows it (rule 13).
    func recordMoves(_ effects: [SyncDevice.Effect]) throws {
        for case .moved(let key, let target) in effects {
            try execute(
                "INSERT OR REPLACE INTO runway_sync_moved VALUES (?, ?, ?, ?)", arguments(key, target.databaseValue))
        }
    }
}
