import RunwaySyncCore

/// Computes the rows of a space from the transactions in the order in which the server received them.
///
/// Shares values with the core, and no code: it is written again, for one table of cells and without any attention to
/// speed.
struct Reference {
    struct Cell: Equatable {
        var value: SyncValue
        var number: Int64
        var time: UInt64
        var operation: Identifier
        var device: Identifier
    }

    struct Line: Equatable {
        var life: Int64 = 0
        var cells: [String: Cell] = [:]
    }

    private(set) var lines: [RowKey: Line] = [:]
    private(set) var head: Int64 = 0
    private var epochs: [(id: Identifier, cut: Int64)]
    private var seen: Set<Identifier> = []
    private var times: [Identifier: UInt64] = [:]
    private var late: [(Operation, Identifier, UInt64, Basis)] = []

    init(epoch: Identifier) { epochs = [(epoch, .max)] }

    mutating func begin(_ epoch: Identifier) {
        epochs[epochs.count - 1].cut = head
        epochs.append((epoch, .max))
    }

    /// Receives a transaction.
    ///
    /// - Parameters:
    ///   - isForbidden: Whether the device may not make one of its changes.
    ///   - isDropped: Whether a device may not change a row any more for which its change has waited.
    mutating func receive(
        _ transaction: Transaction, from device: Identifier, at now: Int64, isForbidden: Bool,
        isDropped: (RowKey, Identifier) -> Bool
    ) {
        let limit = UInt64(now + 60_000) << 16
        let (sent, former) = (transaction.time.bits, times[device] ?? 0)
        let time = sent <= former ? sent : max(min(sent, limit), former + 1)
        times[device] = max(time, former)
        guard seen.insert(transaction.id).inserted, !isForbidden else { return }
        var isWithdrawn = true
        var stays = false
        for operation in transaction.operations {
            switch operation.action {
            case .void: continue
            case .insert(let key, let life, _): stays = stays || life >= self.life(key)
            case .delete(let key, let life, _): stays = stays || life >= self.life(key)
            case .update(let key, let life, _):
                if life > self.life(key), !transaction.wasAcknowledged { return }
                stays = stays || life >= self.life(key)
            case .batch: stays = true
            }
            isWithdrawn = false
        }
        if isWithdrawn || !stays { return }
        head += 1
        for operation in transaction.operations { perform(operation, device, time, transaction.basis) }
        // An operation that was late may insert a copy, and others may be late for that.
        while true {
            let ready = late.filter { !isEarly($0.0) }
            if ready.isEmpty { break }
            late = late.filter { isEarly($0.0) }
            for (operation, device, time, basis) in ready {
                if case .update(let key, let life, _) = operation.action, life == self.life(key), isDropped(key, device)
                {
                    continue
                }
                perform(operation, device, time, basis)
            }
        }
    }

    /// Whether an operation updates a life that its row never had.
    private func isEarly(_ operation: Operation) -> Bool {
        if case .update(let key, let life, _) = operation.action { life > self.life(key) } else { false }
    }

    private func life(_ key: RowKey) -> Int64 { lines[key]?.life ?? 0 }

    private mutating func perform(_ operation: Operation, _ device: Identifier, _ time: UInt64, _ basis: Basis) {
        switch operation.action {
        case .insert(let key, let life, let values):
            if life > self.life(key) { lines[key] = Line(life: life) }
            if life == self.life(key) { set(values, key, operation.id, device, time, basis) }
        case .update(let key, let life, let values):
            if life > self.life(key) { late.append((operation, device, time, basis)) }
            if life == self.life(key) { set(values, key, operation.id, device, time, basis) }
        case .delete(let key, let life, _):
            if life > self.life(key) { lines[key] = Line(life: life) }
        case .batch(let batch):
            for key in lines.keys.sorted() where key.table == batch.table {
                let line = lines[key] ?? Line()
                let matches = batch.conditions.allSatisfy { condition in
                    guard case .integer(let number)? = line.cells[condition.column]?.value,
                        case .integer(let bound) = condition.constant
                    else { return false }
                    return number < bound
                }
                if line.life % 2 == 1, matches {
                    set(batch.values, key, operation.id, device, time, basis, makesCopies: false)
                }
            }
        case .void: break
        }
    }

    private mutating func set(
        _ values: Columns<SyncValue>, _ key: RowKey, _ operation: Identifier, _ device: Identifier, _ time: UInt64,
        _ basis: Basis, makesCopies: Bool = true
    ) {
        var covered: Int64 = 0
        if let index = epochs.firstIndex(where: { $0.id == basis.epoch }) {
            // The head before this transaction: a server that was restored may have had more entries in the same epoch.
            covered = min(basis.number, epochs[index...].map(\.cut).min() ?? 0, head - 1)
        }
        let line = lines[key] ?? Line()
        var (next, lost, rivals) = (line, false, [Cell]())
        for (name, value) in values {
            var stored = time
            if let old = line.cells[name] {
                stored = max(time, old.time + 1)
                if old.device != device, old.number > covered {
                    if old.value != value { rivals.append(old) }
                    if old.time > time || old.time == time && old.operation > operation {
                        lost = true
                        continue
                    }
                }
            }
            next.cells[name] = Cell(value: value, number: head, time: stored, operation: operation, device: device)
        }
        if key.table == "sheet", lost { return }
        let rival = rivals.max { ($0.time, $0.operation) < ($1.time, $1.operation) }
        guard key.table == "draft", let rival, makesCopies else { return lines[key] = next }
        let copy = RowKey(key.table, .version5(of: rival.operation.bytes + device.bytes, in: key.id))
        if life(copy) > 1 { return }
        var all = values
        if life(copy) == 0 {
            for (name, cell) in line.cells where all[name] == nil { all[name] = cell.value }
            lines[copy] = Line(life: 1)
        }
        set(all, copy, operation, device, time, basis, makesCopies: false)
    }
}
