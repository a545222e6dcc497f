import RunwaySyncCore

/// One run: devices, a server and a network between them, in virtual time. The same seed has the same trace.
package struct Simulation {
    /// An item that waits for its time.
    struct Item {
        enum Kind {
            case request(Int, SyncRequest, exchange: Int64, incarnation: Int)
            case response(Int, SyncResponse, exchange: Int64, incarnation: Int)
            /// The device gives up a request.
            case timeout(Int, exchange: Int64, incarnation: Int)
            case poke(Int, head: Int64)
            case timer(Int)
        }

        let due: Int64
        let order: Int
        let kind: Kind
    }

    /// The start of every run: 1 October 2024.
    nonisolated(unsafe) package static var prints = false
    private static let start: Int64 = 1_727_740_800_000
    /// The time within which all devices are equal once the faults have ended, in milliseconds.
    private static let settlingTime: Int64 = 11_000

    var random: SeededRandom
    var now = start
    var devices: [SimulatedDevice] = []
    var server: SimulatedServer
    var places: Set<Place> = []
    /// The first promise that was broken.
    var failure: String?
    private(set) var stepCount = 0
    private(set) var trace = Trace()
    private var items: [Item] = []
    private var order = 0
    private var writeCount = 0
    let bug: PlantedBug?
    /// Whether a file was copied, to another device or to an earlier time.
    private(set) var hasCopies = false

    private init(seed: UInt64, devices count: Int, bug: PlantedBug?) {
        random = SeededRandom(seed: seed)
        self.bug = bug
        server = SimulatedServer(epoch: Identifier(high: random.next(), low: random.next()), bug: bug)
        for _ in 0..<count { add(.init(store: MemoryDeviceStore(device: newIdentifier(), bug: bug))) }
    }

    /// Runs events, then ends the faults, and checks that all devices become equal.
    package static func run(
        seed: UInt64, _ events: [SimulatedEvent], devices: Int = 3, bug: PlantedBug? = nil
    ) throws -> Outcome {
        var run = Simulation(seed: seed, devices: devices, bug: bug)
        for event in events where run.failure == nil {
            try run.perform(event)
            run.trace.add(run.now, run.devices.count)
        }
        if run.failure == nil { try run.endFaults() }
        if run.failure == nil { try run.pass(settlingTime) }
        if run.failure == nil { run.failure = run.difference() }
        return Outcome(
            failure: run.failure, stepCount: run.stepCount, trace: run.trace.hash, places: run.places,
            transactionCount: run.server.reference.head)
    }

    /// The end of a run.
    package struct Outcome: Sendable {
        /// The first promise that was broken; `nil` if all hold.
        package let failure: String?
        package let stepCount: Int
        /// A hash of all that was done.
        package let trace: UInt64
        package let places: Set<Place>
        package let transactionCount: Int64
    }

    func newIdentifier(_ random: inout SeededRandom) -> Identifier { Identifier(high: random.next(), low: random.next()) }
    private mutating func newIdentifier() -> Identifier { Identifier(high: random.next(), low: random.next()) }

    private mutating func add(_ file: SimulatedDevice.File) {
        devices.append(SimulatedDevice(file))
        schedule(.timer(devices.count - 1), after: .random(in: 1...4_000, using: &random))
    }

    mutating func schedule(_ kind: Item.Kind, after delay: Int64) {
        order += 1
        let item = Item(due: now + delay, order: order, kind: kind)
        let index = items.firstIndex { ($0.due, $0.order) < (item.due, item.order) } ?? items.endIndex
        items.insert(item, at: index)
    }

    /// Performs all that is due within a time.
    private mutating func pass(_ milliseconds: Int64) throws {
        let end = now + milliseconds
        while failure == nil, let item = items.last, item.due <= end {
            items.removeLast()
            now = item.due
            stepCount += 1
            try perform(item.kind)
        }
        now = end
    }

    private mutating func perform(_ kind: Item.Kind) throws {
        switch kind {
        case .request(let index, let request, let exchange, let incarnation):
            try serve(request, of: index, exchange: exchange, incarnation: incarnation)
        case .response(let index, let response, let exchange, let incarnation):
            guard devices[index].incarnation == incarnation else { return }
            if bug == .conflictIsFinal, response == .forked || response.isGap { return }
            if bug == .errorDropsPacket, case .wait = response { devices[index].dropPacket(at: now) }
            let heldBefore = devices[index].undecided
            try handle(.received(response, exchange: exchange), on: index)
            if bug == .acknowledgesByRow { devices[index].decideByRow(heldBefore, at: now) }
        case .timeout(let index, let exchange, let incarnation):
            guard devices[index].incarnation == incarnation else { return }
            if bug == .silenceIsAcknowledged { devices[index].dropPacket(at: now) }
            try handle(.lost(exchange: exchange), on: index)
        case .poke(let index, let head): try handle(.poked(head: head), on: index)
        case .timer(let index):
            schedule(.timer(index), after: 4_000)
            if bug != .waitsForTheNextWrite { try handle(.prompted, on: index) }
        }
    }

    /// Lets a device handle an event in one transaction of its file, and performs the effects.
    mutating func handle(_ event: SyncDevice.Event, on index: Int) throws {
        var device = devices[index]
        if now < device.pauseEnd { return }
        if Self.prints { print(now - Self.start, index, String("\(event)".replacing("RunwaySyncCore.", with: "").prefix(400))) }
        let effects = try device.process.handle(
            event, at: now + device.offset, in: &device.file.store, using: &random)
        trace.add(now, index)
        trace.add(device.file.store.state.cursor.number, effects.count)
        if Self.prints { for effect in effects { print("      ", "\(effect)".replacing("RunwaySyncCore.", with: "").prefix(300)) } }
        switch device.crash {
        case .beforeCommit:
            places.insert(.crashBeforeCommit)
            return devices[index].restart()
        case .afterCommit:
            places.insert(.crashAfterCommit)
            device.restart()
            devices[index] = device
        case .now, nil:
            devices[index] = device
            for case .send(let request, let exchange) in effects { send(request, from: index, exchange: exchange) }
        }
        note(effects, of: index)
        look(at: index)
    }

    private mutating func send(_ request: SyncRequest, from index: Int, exchange: Int64) {
        var request = request
        if bug == .basisAtSending, case .push(let packet) = request {
            request = .push(packet.rebased(on: devices[index].file.store.state.cursor.basis))
        }
        let incarnation = devices[index].incarnation
        schedule(.timeout(index, exchange: exchange, incarnation: incarnation), after: 5_000)
        if let failure = devices[index].failures.first {
            devices[index].failures.removeFirst()
            let response: SyncResponse = failure == .wait ? .wait(milliseconds: 2_000) : .tooLarge
            // Only what has a body can be too large.
            guard failure == .tooLarge, !request.isPush else {
                places.insert(failure == .wait ? .wait : .tooLarge)
                return schedule(
                    .response(index, response, exchange: exchange, incarnation: incarnation), after: 20)
            }
        }
        for delay in delays(of: devices[index].link, isUp: true) {
            schedule(.request(index, request, exchange: exchange, incarnation: incarnation), after: delay)
        }
    }

    private mutating func serve(_ request: SyncRequest, of index: Int, exchange: Int64, incarnation: Int) throws {
        let former = server.store.history.head.number
        let response = try server.handle(request, at: now, places: &places)
        trace.add(now, index)
        trace.add(server.store.history.head.number, -1)
        for delay in delays(of: devices[index].link, isUp: false) {
            schedule(.response(index, response, exchange: exchange, incarnation: incarnation), after: delay)
        }
        let head = server.store.history.head.number
        if head == former { return }
        for other in devices.indices {
            for delay in delays(of: devices[other].link, isUp: false) { schedule(.poke(other, head: head), after: delay) }
        }
    }

    /// Returns the delays of the copies of a message that arrive, in milliseconds.
    private mutating func delays(of link: SimulatedEvent.Link, isUp: Bool) -> [Int64] {
        func short(_ random: inout SeededRandom) -> Int64 { .random(in: 5...40, using: &random) }
        switch link {
        case .clear: return [short(&random)]
        case .up: return isUp ? [] : [short(&random)]
        case .down:
            if !isUp { places.insert(.lostResponse) }
            return isUp ? [short(&random)] : []
        case .random:
            switch Int.random(in: 0..<8, using: &random) {
            case 0, 1: return []
            case 2: return [short(&random), .random(in: 5...60_000, using: &random)]
            case 3: return [.random(in: 5...60_000, using: &random)]
            default: return [short(&random)]
            }
        }
    }
}

extension Simulation {
    private mutating func perform(_ event: SimulatedEvent) throws {
        if Self.prints { print("EVENT", event) }
        stepCount += 1
        switch event {
        case .write(let index, let writes): try write(writes, on: index)
        case .batch(let index, let table, let below): try updateAll(table: table, below: below, on: index)
        case .pass(let milliseconds): try pass(milliseconds)
        case .link(let index, let link): devices[index].link = link
        case .crash(let index, .now): devices[index].restart()
        case .crash(let index, let point): devices[index].crash = point
        case .save(let index): devices[index].saved = devices[index].file
        case .restore(let index):
            guard let saved = devices[index].saved else { return }
            devices[index].file = saved
            devices[index].restart()
            hasCopies = true
            for index in devices.indices { devices[index].screen.isOff = true }
        case .clone(let index, let isNoticed):
            guard devices.count < 6, !devices[index].file.store.state.isRevoked else { return }
            add(devices[index].file)
            hasCopies = true
            // Writes that were not sealed are sealed twice, as two operations.
            for index in devices.indices { devices[index].screen.isOff = true }
            if isNoticed { try handle(.wasCopied, on: devices.count - 1) }
        case .clock(let index, let offset): devices[index].offset = offset
        case .backUp: server.backUp()
        case .restoreServer(let isAnnounced):
            guard server.restore(announcing: isAnnounced ? newIdentifier() : nil) else { return }
            places.insert(isAnnounced ? .announcedRestore : .restore)
            for index in devices.indices { devices[index].screen.isOff = true }
        case .trim: server.trim()
        case .limit(let page, let packet):
            server.core.pageLimit = page
            for index in devices.indices { devices[index].process.packetLimit = packet }
        case .fail(let index, let count, let failure):
            devices[index].failures += Array(repeating: failure, count: count)
        case .permit(let index, let table, let isAllowed):
            server.permit(devices[index].file.store.state.device, table: SimulatedEvent.tables[table], isAllowed)
        case .revoke(let index):
            server.revoke(devices[index].file.store.state.device)
            devices[index].screen.isOff = true
        case .readmit(let index): try handle(.readmitted, on: index)
        case .poison(let index): if let value = devices[index].file.written.last { server.poison(value) }
        case .withdraw(let index):
            let store = devices[index].file.store
            guard let last = store.outgoing().last(where: { $0.verdict == nil }) else { return }
            try handle(.withdrew(last.transaction.id), on: index)
            places.insert(.withdrawal)
        }
    }

    /// Writes as a user does: new rows get all columns.
    private mutating func write(_ writes: [SimulatedEvent.RowWrite], on index: Int) throws {
        guard !devices[index].file.store.state.isRevoked else { return }
        var changes: [(key: RowKey, values: Columns<SyncValue>?)] = []
        for write in writes {
            let key = RowKey(SimulatedEvent.tables[write.table], Identifier(high: UInt64(write.row), low: 1))
            let isNew = devices[index].file.store.shown(key) == nil
            let columns = isNew && !write.columns.isEmpty ? SimulatedEvent.columns : write.columns
            let values = Columns(columns.map { ($0, newValue(of: $0, on: index)) })
            changes.append((key, values.isEmpty ? nil : values))
            devices[index].file.written += values.map(\.value).filter { if case .text = $0 { true } else { false } }
        }
        try devices[index].file.store.write(changes, at: now + devices[index].offset)
        if devices[index].file.store.captured().count >= SyncDevice.unsealedLimit {
            try devices[index].process.seal(at: now, in: &devices[index].file.store, using: &random)
        }
        look(at: index)
        try handle(.prompted, on: index)
    }

    private mutating func newValue(of column: String, on index: Int) -> SyncValue {
        writeCount += 1
        return column == "n" ? .integer(Int64(writeCount % 10)) : .text("\(writeCount) of \(index)")
    }

    private mutating func updateAll(table: Int, below: Int64, on index: Int) throws {
        guard !devices[index].file.store.state.isRevoked else { return }
        let value = newValue(of: "b", on: index)
        let batch = BatchUpdate(
            table: SimulatedEvent.tables[table], where: [.init("n", .less, .integer(below))], set: ["b": value])
        try devices[index].process.updateAll(
            batch, at: now + devices[index].offset, in: &devices[index].file.store, using: &random)
        devices[index].file.written.append(value)
        places.insert(.batch)
        // At the server it may match other rows.
        for index in devices.indices { devices[index].screen.isOff = true }
        try handle(.prompted, on: index)
    }

    /// Ends all faults. Rights stay as they are.
    private mutating func endFaults() throws {
        server.core.pageLimit = max(server.core.pageLimit, 20)
        for index in devices.indices {
            devices[index].link = .clear
            devices[index].failures = []
            devices[index].crash = nil
        }
    }
}
