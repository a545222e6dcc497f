import Foundation
import RunwayTesting

@testable import RunwayStorage

/// A folder of its own for each test, removed with the value.
final class ScratchFolder: Sendable {
    let url = FileManager.default.temporaryDirectory.appending(path: "runway-storage-\(UUID().uuidString)")

    var file: URL { url.appending(path: "log.sqlite") }

    deinit { try? FileManager.default.removeItem(at: url) }
}

extension JournalTime {
    /// A time of the first start of the system, by default its beginning.
    static func seconds(_ seconds: Int64, boot: String = "first", date: Int64? = nil) -> JournalTime {
        JournalTime(
            boot: boot, uptime: .seconds(seconds),
            date: Date(timeIntervalSince1970: 1_767_225_600 + Double(date ?? seconds)))
    }
}

extension JournalEntry {
    /// An entry whose payload is the text.
    init(_ text: String, scope: String = "", priority: Int = 0) {
        self.init(id: UUID(), scope: scope, priority: priority, payload: Array(text.utf8))
    }

    /// The entry as it was before it was stored.
    var asAppended: JournalEntry { JournalEntry(id: id, scope: scope, priority: priority, payload: payload) }

    var text: String { String(decoding: payload, as: UTF8.self) }
}

extension JournalBatch {
    var texts: [String] { entries.map(\.text) }
    var ids: Set<UUID> { Set(entries.map(\.id)) }
}

extension Journal {
    convenience init(in folder: ScratchFolder, limits: JournalLimits = JournalLimits()) throws(StorageError) {
        try self.init(at: folder.file, limits: limits, durability: .normal, time: .seconds(0))
    }

    func append(_ texts: [String], scope: String = "", priority: Int = 0, at seconds: Int64 = 0) throws(StorageError) {
        try append(texts.map { JournalEntry($0, scope: scope, priority: priority) }, at: .seconds(seconds))
    }

    func claim(_ scope: String = "", upTo count: Int = 30) throws(StorageError) -> JournalBatch? {
        try claim(scope, maximumCount: count, maximumByteCount: 1 << 20)
    }

    /// Claims and acknowledges all of a scope, and returns it.
    func drain(_ scope: String = "") throws(StorageError) -> [JournalEntry] {
        var entries: [JournalEntry] = []
        while let batch = try claim(scope) {
            entries += batch.entries
            try acknowledge(batch, batch.ids)
        }
        return entries
    }
}
