import Foundation
import GRDB
import RunwayStorage
import RunwayTables

/// Recognises a file of records that was copied: its installation has an id inside the file, and beside it (rule 12).
///
/// The file beside it also names its own place on the volume, which a copy of the whole folder does not have. It is in
/// no backup. A file that was moved may count as copied, which costs a new id and no data.
struct DeviceIdentity {
    private let file: URL

    init(of records: URL) { file = URL(fileURLWithPath: records.path + "-device") }

    /// Checks the ids, and renews both if they differ.
    ///
    /// - Returns: Whether the file of records was copied from another device.
    func check(in database: Database) throws -> Bool {
        let outside = (try? String(contentsOf: file, encoding: .utf8))?.split(separator: "\n").map(String.init) ?? []
        let inside = try String.fetchOne(database, sql: "SELECT installation FROM runway_sync_file")
        if let inside, outside.count == 2, outside[0] == inside, outside[1] == place { return false }
        let installation = UUID().uuidString
        try? FileManager.default.removeItem(at: file)
        try Data().write(to: file, options: .withoutOverwriting)
        try StorageFolder.protect([file], isBackedUp: false)
        let handle = try FileHandle(forWritingTo: file)
        defer { try? handle.close() }
        try handle.write(contentsOf: Data("\(installation)\n\(place)\n".utf8))
        try database.execute(sql: "UPDATE runway_sync_file SET installation = ?", arguments: [installation])
        return inside != nil
    }

    private var place: String {
        Self.place((try? FileManager.default.attributesOfItem(atPath: file.path)) ?? [:])
    }

    /// Names the place of a file on its volume.
    static func place(_ attributes: [FileAttributeKey: Any]) -> String {
        let file = attributes[.systemFileNumber] as? Int ?? 0
        #if canImport(Darwin)
            // The number of a volume may be another one after a restart of the system.
            if let time = attributes[.creationDate] as? Date { return "\(file)-\(time.timeIntervalSince1970)" }
        #endif
        return "\(file)-\(attributes[.systemNumber] as? Int ?? 0)"
    }
}
