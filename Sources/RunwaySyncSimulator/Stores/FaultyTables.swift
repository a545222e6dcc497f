package import RunwaySyncCore

/// The server's tables in memory, with a planted mistake.
struct FaultyTables: SpaceTables {
    var space: MemorySpace
    private let bug: PlantedBug?

    init(_ space: MemorySpace, _ bug: PlantedBug?) { (self.space, self.bug) = (space, bug) }

    var history: History { space.history }

    func content(for needs: SpaceNeeds) -> SpaceContent {
        var content = space.content(for: needs)
        if bug == .forgetsTransactions { content.verdicts = [:] }
        return content
    }

    mutating func save(_ changes: SpaceContent) {
        space.save(changes)
        if bug == .purgesTombstones { space.rows = space.rows.filter { $0.value.isLive } }
    }
}

extension MemorySpace {
    /// Reads all stored values again, as the stores have coded them.
    mutating func reload() throws {
        history = try History(encoded: history.encoded())
        rows = try rows.mapValues { try Row(encoded: $0.encoded()) }
        devices = try devices.mapValues { try DeviceRecord(encoded: $0.encoded()) }
        verdicts = try verdicts.mapValues { try Verdict(encoded: $0.encoded()) }
        entries = try entries.mapValues { try LogEntry(encoded: $0.encoded()) }
        waiting = try waiting.mapValues { try $0.map { try WaitingOperation(encoded: $0.encoded()) } }
    }

    /// Moves the horizon to an entry of the log.
    package mutating func trim(to number: Int64) {
        guard number > history.horizon.number, let entry = entries[number] else { return }
        history.horizon = Cursor(epoch: history.epoch, number: number, tag: entry.tag)
        removeEntries(through: number)
    }

    /// Ends the right of a device to the space.
    package mutating func close(_ device: Identifier) { devices[device, default: DeviceRecord()].isClosed = true }
}
