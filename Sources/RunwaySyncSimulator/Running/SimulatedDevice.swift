import RunwaySyncCore

/// One device of a run: its file, its process, its clock and its network.
struct SimulatedDevice {
    /// The file, with the values that its user wrote.
    struct File {
        var store: any SimulatedFile
        /// The values that the user of this file wrote, and that must arrive or be refused.
        var written: [SyncValue] = []
        /// The rows of an app that only sends, as it wrote them.
        var own: [RowKey: Columns<SyncValue>] = [:]
    }

    var file: File
    var saved: File?
    var process: SyncDevice
    /// Messages for an earlier process are lost.
    var incarnation = 0
    var crash: SimulatedEvent.CrashPoint?
    var link = SimulatedEvent.Link.clear
    /// The difference of its clock from the true time, in milliseconds.
    var offset: Int64 = 0
    /// The end of the pause that the server asked for, in true time.
    var pauseEnd: Int64 = 0
    /// Errors of the server that its next requests meet.
    var failures: [SimulatedEvent.ServerFailure] = []
    /// Values that a cell showed before, and must not show again (own writes never revert).
    var screen = Screen()

    init(_ file: File, direction: SyncDevice.Direction) throws {
        self.file = file
        process = SyncDevice(SimulatedEvent.policies)
        process.direction = direction
        process.schema = try file.store.schema
    }

    /// Handles an event in one transaction of the file.
    mutating func handle(
        _ event: SyncDevice.Event, at now: Int64, using random: inout SeededRandom
    ) throws -> [SyncDevice.Effect] {
        try file.store.handle(event, by: &process, at: now + offset, using: &random)
    }

    /// Ends the process, and begins another.
    mutating func restart() throws {
        try file.store.reload()
        let former = process
        process = SyncDevice(SimulatedEvent.policies)
        (process.packetLimit, process.direction) = (former.packetLimit, former.direction)
        process.schema = try file.store.schema
        incarnation += 1
        crash = nil
    }
}

/// The values that the user of a device saw in each cell.
struct Screen {
    private struct Place: Hashable {
        let key: RowKey
        let column: String
    }

    private var current: [Place: SyncValue] = [:]
    private var former: [Place: Set<SyncValue>] = [:]

    /// Compares the shown rows with what was seen, and returns a value that came back, if there is one.
    mutating func look(at rows: [RowKey: Columns<SyncValue>]) -> String? {
        if isOff { return nil }
        var finding: String?
        // A copy takes a write off its row, and a whole row of another device has values from before.
        for (key, values) in rows where !["draft", "sheet"].contains(key.table) {
            for (column, value) in values {
                let place = Place(key: key, column: column)
                guard case .text = value, current[place] != value else { continue }
                if former[place]?.contains(value) == true { finding = "\(column) of \(key.table) shows \(value) again" }
                if let old = current[place] { former[place, default: []].insert(old) }
                current[place] = value
            }
        }
        return finding
    }

    /// Forgets what was seen: a refusal or a batch may bring values back.
    mutating func forget() { (current, former) = ([:], [:]) }

    /// Whether the server was restored: it brings back what others wrote, in a new order.
    var isOff = false
}
