import Foundation
import RunwayServer

/// A folder that is removed with its owner.
final class ScratchFolder: Sendable {
    let url = FileManager.default.temporaryDirectory.appending(path: "runway-server-storage-\(UUID().uuidString)")

    var file: URL { url.appending(path: "file.sqlite") }

    deinit { try? FileManager.default.removeItem(at: url) }
}

extension ActionLogBatch {
    /// A batch of records with these ids.
    init(
        _ number: Int64, of installation: UUID = UUID(), stream: UUID, account: String? = nil, _ ids: [UUID],
        named name: String = "opened"
    ) {
        self.init(
            installation: installation, stream: stream, number: number, account: account,
            records: ids.map { Record(id: $0, name: name, json: Array("{\"id\":\"\($0)\"}".utf8)) })
    }
}
