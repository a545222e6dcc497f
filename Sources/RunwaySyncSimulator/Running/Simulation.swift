package import RunwaySyncCore

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
            /// The user decides on the transactions that were offered.
            case decision(Int)
            case timer(Int)
        }

        let due: Int64
        let order: Int
        let kind: Kind
    }

    /// The start of every run: 1 October 2024.
    private static let start: Int64 = 1_727_740_800_000
    /// The time within which all devices are equal once the faults have ended, in milliseconds: 11 s, and a round trip
    /// for each transaction that a device may have to send. Small limits and unreadable transactions divide packets.
    private var settlingTime: Int64 {
        get throws {
            let counts = try devices.map { try $0.file.store.outgoing().count { $0.verdict?.refusal == nil } }
            return 11_000 + 80 * Int64(counts.max() ?? 0)
        }
    }

    var random: SeededRandom
    var now = start
    var devices: [SimulatedDevice] = []
    var server: SimulatedServer
    var places: Set<Place> = []
    /// The first promise that was broken.
    var failure: String?
    var stepCount = 0
    private(set) var trace = Trace()
    private var items: [Item] = []
    private var order = 0
    var writeCount = 0
    var operationCount = 0
    let bug: PlantedBug?
    let direction: SyncDevice.Direction
    let narrate: ((String) -> Void)?
    /// Whether a file was copied, to another device or to an earlier time.
    var hasCopies = false

    private init(
        seed: UInt64, devices count: Int, bug: PlantedBug?, narrate: ((String) -> Void)?,
        direction: SyncDevice.Direction, makeFile: (Identifier) throws -> any SimulatedFile, twin: (any SpaceTwin)?
    ) throws {
        random = SeededRandom(seed: seed)
        (self.bug, self.narrate, self.direction) = (bug, narrate, direction)
        server = try SimulatedServer(
            epoch: Identifier(high: random.next(), low: random.next()), bug: bug, twin: twin)
        for _ in 0..<count { try add(.init(store: makeFile(newIdentifier()))) }
    }

    /// Runs events, then ends the faults, and checks that all devices become equal.
    ///
    /// - Parameters:
    ///   - devices: The number of devices at the start. The default is 3.
    ///   - bug: A mistake to plant. The default is none.
    ///   - narrate: Receives a line for each event and each message. The default is none.
    ///   - direction: The directions in which the devices synchronise. The default is both.
    ///   - makeFile: Makes the file of a new device. The default has its tables in memory.
    ///   - twin: A database that handles the same requests as the server's store in memory. The default is none.
    /// - Throws: ``StoreDifference`` if the database does not agree.
    package static func run(
        seed: UInt64, _ events: [SimulatedEvent], devices: Int = 3, bug: PlantedBug? = nil,
        narrate: ((String) -> Void)? = nil, direction: SyncDevice.Direction = .both,
        makeFile: ((Identifier) throws -> any SimulatedFile)? = nil, twin: (any SpaceTwin)? = nil
    ) throws -> Outcome {
        var run = try Simulation(
            seed: seed, devices: devices, bug: bug, narrate: narrate, direction: direction,
            makeFile: makeFile ?? { MemoryDeviceStore(device: $0, bug: bug) }, twin: twin)
        for event in events where run.failure == nil {
            try run.perform(event)
            run.trace.add(run.now, run.devices.count)
        }
        if run.failure == nil { try run.endFaults() }
        if run.failure == nil { try run.pass(run.settlingTime) }
        if run.failure == nil { run.failure = try run.difference() }
        if run.failure == nil { try run.server.compareTwin() }
        return Outcome(
            failure: run.failure, stepCount: run.stepCount, trace: run.trace.hash, places: run.places,
            transactionCount: run.server.reference.head, operationCount: run.operationCount)
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
        /// The number of rows that the apps wrote, and of batch updates.
        package let operationCount: Int
    }

    mutating func newIdentifier() -> Identifier { Identifier(high: random.next(), low: random.next()) }

    mutating func add(_ file: SimulatedDevice.File) throws {
        devices.append(try SimulatedDevice(file, direction: direction))
        if direction != .both { devices[devices.count - 1].screen.isOff = true }
        schedule(.timer(devices.count - 1), after: .random(in: 1...4_000, using: &random))
    }

    mutating func schedule(_ kind: Item.Kind, after delay: Int64) {
        order += 1
        let item = Item(due: now + delay, order: order, kind: kind)
        let index = items.firstIndex { ($0.due, $0.order) < (item.due, item.order) } ?? items.endIndex
        items.insert(item, at: index)
    }

    /// Performs all that is due within a time.
    mutating func pass(_ milliseconds: Int64) throws {
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
            if bug == .errorDropsPacket, case .wait = response { try devices[index].dropPacket(at: now) }
            let heldBefore = try devices[index].undecided
            try handle(.received(response, exchange: exchange), on: index)
            if bug == .acknowledgesByRow { try devices[index].decideByRow(heldBefore, at: now) }
        case .timeout(let index, let exchange, let incarnation):
            guard devices[index].incarnation == incarnation else { return }
            if bug == .silenceIsAcknowledged { try devices[index].dropPacket(at: now) }
            try handle(.lost(exchange: exchange), on: index)
        case .poke(let index, let head): try handle(.poked(head: head), on: index)
        case .decision(let index): try handle(.decidedOffers(accepts: .random(using: &random)), on: index)
        case .timer(let index):
            schedule(.timer(index), after: 4_000)
            if try devices[index].file.store.outgoing().contains(where: \.isOffered) {
                try handle(.decidedOffers(accepts: .random(using: &random)), on: index)
            }
            if bug != .waitsForTheNextWrite { try handle(.prompted, on: index) }
        }
    }

    /// Lets a device handle an event in one transaction of its file, and performs the effects.
    mutating func handle(_ event: SyncDevice.Event, on index: Int) throws {
        if now < devices[index].pauseEnd { return }
        narrate?("\(now - Self.start) device \(index): \(event)")
        // A copy costs a copy of all tables, or of the file.
        let former = devices[index].crash == .beforeCommit ? devices[index] : nil
        let effects = try devices[index].handle(event, at: now, using: &random)
        trace.add(now, index)
        try trace.add(devices[index].file.store.state.cursor.number, effects.count)
        if let narrate { for effect in effects { narrate("    \(effect)") } }
        if let former {
            places.insert(.crashBeforeCommit)
            devices[index] = former
            return try devices[index].restart()
        }
        if devices[index].crash == .afterCommit {
            places.insert(.crashAfterCommit)
            try devices[index].restart()
        } else {
            for case .send(let request, let exchange) in effects { try send(request, from: index, exchange: exchange) }
        }
        note(effects, of: index)
        // Most events are pokes, which change no row; confirmed rows come with responses only.
        if case .poked = event { return }
        try look(at: index)
        if case .received = event { try compareConfirmedRows(of: index) }
    }

    private mutating func send(_ request: SyncRequest, from index: Int, exchange: Int64) throws {
        var request = request
        if bug == .basisAtSending, case .push(let packet) = request {
            request = try .push(packet.rebased(on: devices[index].file.store.state.cursor.basis))
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
        request = try SyncRequest(request.wire)
        for delay in delays(of: devices[index].link, isUp: true) {
            schedule(.request(index, request, exchange: exchange, incarnation: incarnation), after: delay)
        }
    }

    private mutating func serve(_ request: SyncRequest, of index: Int, exchange: Int64, incarnation: Int) throws {
        let former = server.store.history.head.number
        let response = try SyncResponse(server.handle(request, at: now, places: &places).wire, to: request)
        trace.add(now, index)
        trace.add(server.store.history.head.number, -1)
        for delay in delays(of: devices[index].link, isUp: false) {
            schedule(.response(index, response, exchange: exchange, incarnation: incarnation), after: delay)
        }
        wakeUp(after: former)
    }

    /// Reports a new head of the log to all devices.
    mutating func wakeUp(after former: Int64) {
        let head = server.store.history.head.number
        if head == former { return }
        for other in devices.indices {
            for delay in delays(of: devices[other].link, isUp: false) {
                schedule(.poke(other, head: head), after: delay)
            }
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

/// Random numbers that are the same for the same seed, on every machine (SplitMix64).
package struct SeededRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15 as UInt64
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* (0xBF58_476D_1CE4_E5B9 as UInt64)
        mixed = (mixed ^ (mixed >> 27)) &* (0x94D0_49BB_1331_11EB as UInt64)
        return mixed ^ (mixed >> 31)
    }
}
