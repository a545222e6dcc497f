import RunwaySyncCore
import RunwaySyncSimulator

/// Makes random values of everything that has a form in JSON.
struct WireSamples {
    var random: SeededRandom

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    mutating func id() -> Identifier { Identifier(high: random.next(), low: random.next()) }
    mutating func number() -> Int64 { .random(in: 0...(1 << Int64.random(in: 0...53, using: &random)), using: &random) }
    mutating func word() -> UInt64 { random.next() >> UInt64.random(in: 0...63, using: &random) }
    mutating func flag() -> Bool { .random(using: &random) }
    mutating func time() -> HybridTime { HybridTime(bits: word() >> 1) ?? .zero }
    mutating func key() -> RowKey { RowKey(name(), id()) }
    mutating func cursor() -> Cursor { Cursor(epoch: id(), number: number(), tag: word()) }
    mutating func basis() -> Basis { Basis(epoch: id(), number: number()) }
    mutating func end() -> ChainEnd { ChainEnd(number: number(), operation: flag() ? id() : nil) }
    mutating func list<Value>(_ limit: Int = 3, _ make: (inout Self) -> Value) -> [Value] {
        (0..<Int.random(in: 0...limit, using: &random)).map { _ in make(&self) }
    }

    private mutating func any<Value>(_ values: Value...) -> Value {
        values[Int.random(in: 0..<values.count, using: &random)]
    }

    private mutating func name() -> String {
        any("a", "title", "naïve", "table \"x\"", "\u{1}", String(repeating: "n", count: 255))
    }

    mutating func value() -> SyncValue {
        switch Int.random(in: 0..<5, using: &random) {
        case 0: .null
        case 1: .integer(any(0, -1, 1 << 53, -(1 << 53), 1 << 53 + 1, .max, .min, Int64(bitPattern: random.next())))
        case 2:
            .real(
                any(
                    0, 1, -2.5, 1e300, .leastNonzeroMagnitude, .infinity, -.infinity, .greatestFiniteMagnitude, 0.1,
                    0x1p60, real()))
        case 3:
            .text(
                any(
                    "", "NUL \u{0}", "\"\\/\u{8}\u{1F}\u{7F}", "e\u{301}", "\u{E9}", "👩‍👩‍👧", "\u{2028}\u{FFFF}",
                    "{\"real\":1}"))
        default: .bytes(list(20) { UInt8(truncatingIfNeeded: $0.random.next()) })
        }
    }

    private mutating func real() -> Double {
        let number = Double(bitPattern: random.next())
        return number.isNaN ? 0.5 : number
    }

    mutating func columns() -> Columns<SyncValue> { Columns(list { ($0.name(), $0.value()) }) }

    mutating func cells() -> Columns<Cell> {
        let stamps = (0..<2).map { _ in Stamp(number: number(), time: time(), operation: id(), device: id()) }
        return Columns(list(4) { ($0.name(), Cell($0.value(), stamps[$0.flag() ? 0 : 1])) })
    }

    mutating func row() -> Row {
        let life = number() / 2 * 2
        return flag()
            ? Row(life: life, number: number(), columns: [:]) : Row(life: life | 1, number: number(), columns: cells())
    }

    mutating func operation() -> Operation {
        let action: Operation.Action =
            switch Int.random(in: 0..<5, using: &random) {
            case 0: .insert(key(), life: number(), columns())
            case 1: .update(key(), life: number(), columns())
            case 2: .delete(key(), life: number())
            case 3: .batch(BatchUpdate(table: name(), where: list { $0.condition() }, set: columns()))
            default: .void
            }
        return Operation(id: id(), action: action)
    }

    private mutating func condition() -> BatchUpdate.Condition {
        .init(name(), comparison(), value())
    }

    mutating func comparison() -> BatchUpdate.Comparison {
        any(.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual)
    }

    mutating func transaction() -> Transaction {
        var transaction = Transaction(
            number: number(), previous: flag() ? id() : nil, time: time(), basis: basis(),
            operations: [operation()] + list { $0.operation() })
        transaction.wasAcknowledged = flag()
        return transaction
    }

    mutating func verdict() -> Verdict {
        any(
            .applied(number()), .conflict(number()), .superseded(head: number()), .refused(.absent, head: number()),
            .refused(Refusal(name: "a reason of an app"), head: number()))
    }

    mutating func decision() -> Decision { Decision(transaction: id(), number: number(), verdict: verdict()) }

    mutating func entry() -> LogEntry {
        LogEntry(
            number: number(), tag: word(), device: id(), transaction: id(), end: end(),
            changes: list { RowChange(key: $0.key(), life: $0.number(), columns: $0.cells(), losers: $0.columns()) })
    }

    mutating func part() -> LogPart { LogPart(entry: entry(), offset: Int(number() % 100_000), isLast: flag()) }

    mutating func request() -> SyncRequest {
        any(
            .push(Packet(device: id(), transactions: list { $0.transaction() })),
            .pull(PullRequest(device: id(), cursor: flag() ? .none : cursor(), offset: Int(number()))),
            .snapshot(
                SnapshotRequest(
                    device: id(), start: flag() ? cursor() : nil, after: flag() ? key() : nil,
                    pending: list { $0.id() })))
    }

    mutating func response(to request: SyncRequest) -> SyncResponse {
        let success: SyncResponse =
            switch request {
            case .push: .verdicts(list { $0.verdict() }, head: number())
            case .pull: .page(LogPage(parts: list { $0.part() }, head: number(), end: end(), epoch: id()))
            case .snapshot:
                .snapshot(
                    SnapshotPage(
                        start: cursor(), rows: list { KeyedRow($0.key(), $0.row()) }, isLast: flag(), head: cursor(),
                        end: end(), decided: list { $0.id() }))
            }
        return any(
            success, success, success, .gap(end()), .forked, .horizon, .history, .revoked(list { $0.decision() }),
            .deviceTaken, .tooManyDevices, .tooLarge, .invalid, .upgrade, .wait(milliseconds: number()))
    }

    mutating func outgoing() -> Outgoing {
        var outgoing = Outgoing(sequence: number(), packet: number(), transaction: transaction())
        if flag() { outgoing.status = .decided(verdict(), at: time()) }
        outgoing.isSettled = flag()
        outgoing.withdrawal = flag() ? .void : nil
        return outgoing
    }

    mutating func state() -> DeviceState {
        var state = DeviceState(device: id())
        (state.end, state.cursor, state.parts) = (end(), cursor(), list { $0.part() })
        state.clock.receive(time())
        state.sequence = number()
        state.snapshot =
            flag()
            ? .rows(start: cursor(), head: cursor(), after: key(), decided: [id()])
            : .log(cursor: cursor(), end: cursor(), decided: [])
        state.isRevoked = flag()
        return state
    }

    mutating func record() -> DeviceRecord {
        var record = DeviceRecord()
        (record.end, record.time, record.lastPacket, record.isClosed) = (end(), time(), list { $0.decision() }, flag())
        record.refusalCount = number()
        return record
    }

    mutating func history() -> History {
        var history = History(epoch: id())
        history.head = Cursor(epoch: history.epoch, number: number(), tag: word())
        for _ in 0..<3 { history.begin(id()) }
        return history
    }
}
