import RunwaySyncCore
import RunwaySyncSimulator

/// A server and devices with a network that loses nothing, for tests of single rules.
struct Pair {
    static let key = RowKey("note", Identifier(high: 0, low: 1))

    var server: SpaceServer
    var space = MemorySpace(epoch: Identifier(high: 1, low: 1))
    var files: [MemoryDeviceStore]
    var processes: [SyncDevice]
    var random = SeededRandom(seed: 1)
    var now: Int64 = 1_727_740_800_000
    /// All requests of the devices.
    private(set) var requests: [SyncRequest] = []
    /// All effects that are no requests.
    private(set) var effects: [SyncDevice.Effect] = []

    init(devices: Int = 2, _ policies: ConflictPolicies = ConflictPolicies()) {
        server = SpaceServer(policies)
        files = (0..<devices).map { MemoryDeviceStore(device: Identifier(high: 2, low: UInt64($0))) }
        processes = files.map { _ in SyncDevice(policies) }
    }

    /// Writes as the app of a device; deletes the row if there are no values.
    mutating func write(_ values: Columns<SyncValue>?, _ key: RowKey = Pair.key, on device: Int = 0) throws {
        now += 1
        try files[device].write([(key, values)], at: now)
    }

    /// Lets a device handle an event, and returns its request, which is not sent.
    mutating func handle(_ event: SyncDevice.Event, on device: Int = 0) throws -> (SyncRequest, Int64)? {
        now += 1
        let effects = try processes[device].handle(event, at: now, in: &files[device], using: &random)
        for effect in effects {
            if case .send(let request, let exchange) = effect {
                requests.append(request)
                return (request, exchange)
            }
            self.effects.append(effect)
        }
        return nil
    }

    /// Runs a device until it sends nothing more.
    mutating func sync(_ device: Int = 0) throws {
        var sent = try handle(.prompted, on: device)
        var count = 0
        while let (request, exchange) = sent, count < 1_000 {
            let response = try respond(to: request)
            sent = try handle(.received(response, exchange: exchange), on: device)
            count += 1
        }
    }

    mutating func respond(to request: SyncRequest) throws -> SyncResponse {
        now += 1
        return try server.handle(request, at: now, in: &space)
    }

    /// Seals what a device wrote.
    mutating func seal(_ device: Int = 0) throws {
        try processes[device].seal(at: now, in: &files[device], using: &random)
    }

    var pushes: [Packet] {
        requests.compactMap { if case .push(let packet) = $0 { packet } else { nil } }
    }

    /// The requests of a device for the log.
    func pulls(of device: Int) -> [PullRequest] {
        let id = files[device].state.device
        return requests.compactMap { if case .pull(let pull) = $0, pull.device == id { pull } else { nil } }
    }

    func shown(_ device: Int = 0, _ key: RowKey = Pair.key) -> Columns<SyncValue>? { files[device].shown(key) }
}
