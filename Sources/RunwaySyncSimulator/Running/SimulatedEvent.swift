package import RunwaySyncCore

/// One step of a run. A run is a list of them, which shrinks when it fails.
package enum SimulatedEvent: Hashable, Sendable {
    /// The app of a device writes rows in one transaction.
    case write(Int, [RowWrite])
    /// The app of a device updates all rows of a table whose number is small.
    case batch(Int, table: Int, below: Int64)
    /// Time passes, in milliseconds.
    case pass(Int64)
    /// The network of a device changes.
    case link(Int, Link)
    /// The process of a device ends.
    case crash(Int, CrashPoint)
    /// The file of a device is saved.
    case save(Int)
    /// The saved file comes back.
    case restore(Int)
    /// The file is copied to a new device, which may notice that it was copied.
    case clone(Int, isNoticed: Bool)
    /// The clock of a device is set, in milliseconds from the true time.
    case clock(Int, Int64)
    /// The server is backed up.
    case backUp
    /// The backup of the server comes back, with or without a new epoch.
    case restoreServer(isAnnounced: Bool)
    /// The server removes the older half of its log.
    case trim
    /// The largest page, and the largest packet of each device.
    case limit(page: Int, packet: Int)
    /// The server responds to the next requests of a device with an error.
    case fail(Int, count: Int, ServerFailure)
    /// A device may write one table, or may not any more.
    case permit(Int, table: Int, Bool)
    /// A device loses its right to the space.
    case revoke(Int)
    /// A device gets its right back.
    case readmit(Int)
    /// The server can't read the transaction that has the last value of a device.
    case poison(Int)
    /// The user withdraws the last transaction that waits.
    case withdraw(Int)
    /// The user sends the first failed transaction again.
    case sendAgain(Int)
    /// The server writes rows itself.
    case serverWrite([RowWrite])
    /// The user installs the new version of the app, which has one more column, and holds rows that the old one
    /// refuses.
    case update(Int)
    /// The server requires the new version of the app.
    case requireUpdate
    /// The id of a device belongs to somebody else.
    case take(Int)

    package struct RowWrite: Hashable, Sendable {
        let table: Int
        let row: Int
        /// The columns that get new values; the row is deleted if there are none.
        let columns: [String]

        package init(table: Int, row: Int, columns: [String]) {
            (self.table, self.row, self.columns) = (table, row, columns)
        }
    }

    package enum Link: Hashable, Sendable {
        case clear
        /// Requests are lost.
        case up
        /// Responses are lost.
        case down
        /// Messages are lost, doubled, and delayed by up to 60 s.
        case random
    }

    package enum CrashPoint: Hashable, Sendable {
        case now
        /// In the next transaction of the device's file.
        case beforeCommit
        /// After the next transaction, before its effects.
        case afterCommit
    }

    package enum ServerFailure: Hashable, Sendable {
        case wait
        case tooLarge
    }
}

extension SimulatedEvent {
    /// The tables of every run; each has another policy.
    static let tables = ["note", "sheet", "draft", "question"]
    static let policies = ConflictPolicies(["sheet": .wholeRow, "draft": .keepBoth, "question": .ask])
    static let columns = ["a", "b", "n", "c"]

    /// Returns what an app shows of a row; `nil` if it shows nothing of it. Version 1 of the app does not have the last
    /// column, and refuses notes with a large number.
    package static func visible(
        _ values: Columns<SyncValue>, of key: RowKey, schema: Int64
    ) -> Columns<SyncValue>? {
        if schema > 1 { return values }
        return key.table == "note" && values["n"] == .integer(9) ? nil : values.filter { name, _ in name != "c" }
    }

    /// Makes the events of a run.
    package static func list(seed: UInt64, count: Int, devices: Int) -> [SimulatedEvent] {
        var random = SeededRandom(seed: seed)
        // Each run has its own mixture, so that some go deep where others go wide.
        var weights = Kind.allCases.map { kind in
            switch kind {
            case .write, .pass: Int.random(in: 4...12, using: &random)
            case .link, .crash: Int.random(in: 1...3, using: &random)
            default: max(Int.random(in: -2...2, using: &random), 0)
            }
        }
        // In a long run all devices would lose their right for ever.
        if let revoke = Kind.allCases.firstIndex(of: .revoke), let readmit = Kind.allCases.firstIndex(of: .readmit) {
            weights[readmit] = max(weights[readmit], 3 * weights[revoke])
        }
        let rowCount = Int.random(in: 1...4, using: &random)
        return (0..<count).map { _ in
            var choice = Int.random(in: 0..<weights.reduce(0, +), using: &random)
            let index = weights.firstIndex { weight in
                choice -= weight
                return choice < 0
            }
            let device = Int.random(in: 0..<devices, using: &random)
            return Kind.allCases[index ?? 0].event(on: device, rowCount: rowCount, &random)
        }
    }

    private enum Kind: CaseIterable {
        case write, pass, link, crash, batch, save, restore, clone, clock, backUp, restoreServer, trim, limit, fail,
            permit,
            revoke, readmit, poison, withdraw, sendAgain, serverWrite, update, requireUpdate, take

        func event(on device: Int, rowCount: Int, _ random: inout SeededRandom) -> SimulatedEvent {
            func any<Value>(_ values: Value..., random: inout SeededRandom) -> Value {
                values[Int.random(in: 0..<values.count, using: &random)]
            }
            let table = Int.random(in: 0..<4, using: &random)
            switch self {
            case .write: return .write(device, writes(rowCount, &random))
            case .pass: return .pass(1 << Int64.random(in: 3...13, using: &random))
            case .link: return .link(device, any(.clear, .clear, .up, .down, .random, random: &random))
            case .crash: return .crash(device, any(.now, .beforeCommit, .afterCommit, random: &random))
            // A batch below 0 has no condition.
            case .batch: return .batch(device, table: table, below: .random(in: -1...6, using: &random))
            case .save: return .save(device)
            case .restore: return .restore(device)
            case .clone: return .clone(device, isNoticed: .random(using: &random))
            case .clock: return .clock(device, any(0, 90_000, 86_400_000, -86_400_000, random: &random))
            case .backUp: return .backUp
            case .restoreServer: return .restoreServer(isAnnounced: .random(using: &random))
            case .trim: return .trim
            case .limit:
                return .limit(page: .random(in: 1...6, using: &random), packet: .random(in: 1...6, using: &random))
            case .fail:
                return .fail(device, count: .random(in: 1...2, using: &random), any(.wait, .tooLarge, random: &random))
            case .permit: return .permit(device, table: table, .random(using: &random))
            case .revoke: return .revoke(device)
            case .readmit: return .readmit(device)
            case .poison: return .poison(device)
            case .withdraw: return .withdraw(device)
            case .sendAgain: return .sendAgain(device)
            case .serverWrite: return .serverWrite(writes(rowCount, &random))
            case .update: return .update(device)
            case .requireUpdate: return .requireUpdate
            case .take: return .take(device)
            }
        }
    }

    private static func writes(_ rowCount: Int, _ random: inout SeededRandom) -> [RowWrite] {
        var writes: [RowWrite] = []
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let (table, row) = (Int.random(in: 0..<4, using: &random), Int.random(in: 0..<rowCount, using: &random))
            if writes.contains(where: { $0.table == table && $0.row == row }) { continue }
            let isDelete = Int.random(in: 0..<6, using: &random) == 0
            let some = columns.filter { _ in Bool.random(using: &random) }
            writes.append(RowWrite(table: table, row: row, columns: isDelete ? [] : some.isEmpty ? ["a"] : some))
        }
        return writes
    }
}

extension SimulatedEvent.RowWrite: CustomStringConvertible {
    package var description: String {
        "\(SimulatedEvent.tables[table]) \(row) \(columns.isEmpty ? "deleted" : columns.joined())"
    }
}
