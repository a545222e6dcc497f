package import RunwaySyncCore

/// Records and rows of a space that a transaction has loaded, with its changes on top. An absent record or row has an
/// entry, too, so that it is loaded once.
package struct SyncCache {
    package struct Device {
        package var record: DeviceRecord?
        package var subject: String?

        package init(record: DeviceRecord? = nil, subject: String? = nil) {
            (self.record, self.subject) = (record, subject)
        }
    }

    package struct Place {
        package var row: Row?
        package var waiting: [WaitingOperation] = []

        package init(row: Row? = nil, waiting: [WaitingOperation] = []) { (self.row, self.waiting) = (row, waiting) }
    }

    package var devices: [Identifier: Device] = [:]
    package var verdicts: [Identifier: Verdict?] = [:]
    package var rows: [RowKey: Place] = [:]
    /// The numbers of devices, by subject. A count makes the database write the changes of earlier requests first, so a
    /// transaction counts the devices of a subject once.
    package var deviceCounts: [String: Int] = [:]

    package init() {}

    /// Sets the subject of a device that is loaded.
    package mutating func setSubject(_ subject: String, of device: Identifier) {
        if devices[device]?.subject == nil { deviceCounts[subject]? += 1 }
        devices[device]?.subject = subject
    }

    /// Returns the records and rows that are not loaded yet.
    package func missing(_ needs: SpaceNeeds) -> SpaceNeeds {
        var missing = SpaceNeeds()
        missing.devices = needs.devices.filter { devices[$0] == nil }
        missing.transactions = needs.transactions.filter { verdicts[$0] == nil }
        missing.rows = needs.rows.filter { rows[$0] == nil }
        return missing
    }

    package func content(for needs: SpaceNeeds) -> SpaceContent {
        var content = SpaceContent()
        for id in needs.devices { content.devices[id] = devices[id]?.record }
        for id in needs.transactions { content.verdicts[id] = verdicts[id] ?? nil }
        for key in needs.rows {
            guard let place = rows[key] else { continue }
            content.rows[key] = place.row
            if !place.waiting.isEmpty { content.waiting[key] = place.waiting }
        }
        return content
    }

    package mutating func apply(_ changes: SpaceContent) {
        for (id, record) in changes.devices { devices[id, default: Device()].record = record }
        for (id, verdict) in changes.verdicts { verdicts[id] = verdict }
        for (key, row) in changes.rows { rows[key, default: Place()].row = row }
        for (key, operations) in changes.waiting { rows[key, default: Place()].waiting = operations }
    }
}

/// Changes of a space that were not sent to the database yet.
package struct SyncChanges {
    package private(set) var devices: [Identifier: DeviceRecord] = [:]
    package private(set) var subjects: [Identifier: String] = [:]
    package private(set) var verdicts: [Identifier: Verdict] = [:]
    package private(set) var rows: [RowKey: Row] = [:]
    package private(set) var waiting: [RowKey: [WaitingOperation]] = [:]
    package private(set) var entries: [(number: Int64, total: Int64, entry: [UInt8])] = []
    /// The record of the space, with the size of all entries of its log.
    package private(set) var space: (history: History, total: Int64)?

    package init() {}

    package var isEmpty: Bool {
        devices.isEmpty && verdicts.isEmpty && rows.isEmpty && waiting.isEmpty && entries.isEmpty && space == nil
    }

    /// Adds the changes of an exchange.
    ///
    /// - Parameter total: The size of all entries of the log, to which the sizes of the new entries are added.
    package mutating func add(_ changes: SpaceContent, to total: inout Int64) {
        devices.merge(changes.devices) { $1 }
        verdicts.merge(changes.verdicts) { $1 }
        rows.merge(changes.rows) { $1 }
        waiting.merge(changes.waiting) { $1 }
        for entry in changes.entries {
            let bytes = entry.encoded()
            total += Int64(bytes.count)
            entries.append((entry.number, total, bytes))
        }
        if let history = changes.history { set(history, total: total) }
    }

    /// Sets the record of the space.
    package mutating func set(_ history: History, total: Int64) { space = (history, total) }

    package mutating func setSubject(_ subject: String, of device: Identifier, _ record: DeviceRecord?) {
        subjects[device] = subject
        devices[device] = devices[device] ?? record
    }

    package mutating func add(_ later: SyncChanges) {
        if isEmpty { return self = later }
        devices.merge(later.devices) { $1 }
        subjects.merge(later.subjects) { $1 }
        verdicts.merge(later.verdicts) { $1 }
        rows.merge(later.rows) { $1 }
        waiting.merge(later.waiting) { $1 }
        entries += later.entries
        space = later.space ?? space
    }
}
