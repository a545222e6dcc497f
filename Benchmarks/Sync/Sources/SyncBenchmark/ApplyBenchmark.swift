import Foundation

@testable import RunwaySync
@testable import RunwaySyncCore
@testable import RunwayTables

/// Measures how many rows a second a device applies, from the bytes of the response to the commit, and how large its
/// file becomes.
enum ApplyBenchmark {
    private static let count = 20_000

    static func run(in folder: URL) async throws {
        for size in [1, 100] { try await measure(rowsInTransaction: size, in: folder) }
    }

    private static func measure(rowsInTransaction size: Int, in folder: URL) async throws {
        let server = try LogServer(at: folder.appending(path: "log-\(size).sqlite"))
        try await server.fill(count, rowsInTransaction: size)
        var (ours, theirs, files): ([Double], [Double], [URL]) = ([], [], [])
        for round in 0..<Figures.rounds {
            let file = folder.appending(path: "device-\(size)-\(round)/notes.sqlite")
            let device = try await ApplyingDevice(at: file, of: server.space)
            let time = try await device.pull { try await server.respond(to: $0) }
            ours.append(Double(server.changeCount) / time.inSeconds)
            try await device.close(expecting: count)
            files.append(file)
            theirs.append(try await naiveRate(server, folder.appending(path: "naive-\(size)-\(round)/notes.sqlite")))
        }
        Figures.report(
            "rows that a device applies, \(size) in a transaction", ours, "rows/s", .atLeast(20_000),
            beside: .init(name: "a clock for each column", values: theirs))
        try await compareFiles(size, files[0], server, in: folder)
    }

    private static func naiveRate(_ server: LogServer, _ file: URL) async throws -> Double {
        let naive = try NaiveDevice(at: file)
        var time = Duration.zero
        for (request, body) in server.recorded {
            time += try ContinuousClock().measure {
                guard case .page(let page) = try SyncResponse(WireResponse(status: 200, body: body), to: request) else {
                    preconditionFailure("the log has pages")
                }
                try naive.apply(page, in: server.space)
            }
        }
        try naive.queue.close()
        return Double(server.changeCount) / time.inSeconds
    }

    /// Compares the size of a file with that of a file that has the same rows, and is not synchronised.
    private static func compareFiles(_ size: Int, _ file: URL, _ server: LogServer, in folder: URL) async throws {
        let synced = try await RecordStore.open(at: file, tables: [Notes.self])
        let rows = try await synced.read { try $0.fetch(Notes.self) }
        try await synced.close()
        let plain = folder.appending(path: "plain-\(size)/notes.sqlite")
        let store = try await RecordStore.open(at: plain, tables: [PlainNotes.self])
        // In the order in which the rows arrived, since the order decides how full the pages are.
        let found = Dictionary(rows.map { ($0[Notes.id] ?? UUID(), $0) }) { $1 }
        let order = server.order
        try await store.write { file in
            for id in order {
                if let row = found[id] { try file.insert(Values<PlainNotes>(row: row.row)) }
            }
        }
        try await store.close()
        let (whole, bare) = (try byteCount(of: file), try byteCount(of: plain))
        let naive = try byteCount(of: folder.appending(path: "naive-\(size)-0/notes.sqlite"))
        Figures.report(
            "metadata, \(size) in a transaction, of \(bare >> 10) KiB of rows", [Double(whole - bare) / Double(bare)],
            "of the file's size without it", .atMost(1.4),
            beside: .init(name: "a clock for each column", values: [Double(naive - bare) / Double(bare)]))
    }

    private static func byteCount(of file: URL) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int ?? 0
    }
}

/// The device's half without its network: what `SpaceLoop` does with responses.
private final class ApplyingDevice {
    private let store: RecordStore
    private let capture: ChangeCapture
    private let space: Identifier

    init(at file: URL, of space: Identifier) async throws {
        store = try await RecordStore.open(at: file, tables: [Notes.self])
        guard let capture = store.follower as? ChangeCapture else { preconditionFailure("the table is synchronised") }
        (self.capture, self.space) = (capture, space)
    }

    /// Pulls to the head of the log.
    ///
    /// - Returns: The time without that of the server.
    func pull(_ respond: (SyncRequest) async throws -> [UInt8]) async throws -> Duration {
        var (device, time) = (SyncDevice(capture.policies), Duration.zero)
        var effects = try await handle(.prompted, &device)
        while case .send(let request, let exchange)? = effects.first {
            let body = try await respond(request)
            time += try await ContinuousClock().measure {
                let response = try SyncResponse(WireResponse(status: 200, body: body), to: request)
                effects = try await handle(.received(response, exchange: exchange), &device)
            }
        }
        precondition(effects.isEmpty, "the rows agree with the server's")
        return time
    }

    private func handle(_ event: SyncDevice.Event, _ device: inout SyncDevice) async throws -> [SyncDevice.Effect] {
        let (current, space, capture) = (device, space, capture)
        let (next, effects) = try await store.writeAsFollower { database in
            var (next, random, effects) = (current, SystemRandomNumberGenerator(), [SyncDevice.Effect]())
            try capture.endForeignWrites(in: database)
            var file = try capture.store(of: space, in: database)
            try file.applying {
                effects = try next.handle(event, at: capture.now, in: &file, using: &random)
            }
            try file.finish()
            return (next, effects)
        }
        device = next
        return effects
    }

    func close(expecting count: Int) async throws {
        let found = try await store.read { try $0.count(Notes.self) }
        precondition(found == count, "all rows are there")
        try await store.close()
    }
}
