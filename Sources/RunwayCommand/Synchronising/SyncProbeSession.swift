import Foundation
import Runway
import RunwayJSON
import RunwaySync
import RunwayTables
import RunwayTransport

/// The service of the server that a probe is given.
private enum ProbedServer: APIService {
    static let environments: [ServiceEnvironment: String] = [:]
    static let allowsPlainHTTP = true
}

/// One device: performs a JSON object a line, and writes one a line.
struct SyncProbeSession: Sendable {
    private let space: UUID
    private let store: RecordStore
    private let engine: SyncEngine
    private let status = SettableNetworkStatus(.unknown)

    init(server: String, space: String, file: URL, clockOffset: Double) async throws {
        self.space = ProbeName.identifier(of: space)
        store = try await RecordStore.open(at: file, tables: [ProbeItems.self, ProbeNames.self])
        let network = NetworkLayer(transport: try NIOTransport(), status: status)
        network.configure(ProbedServer.self) { $0.baseURLs = [.release: server] }
        engine = try await SyncEngine(store, over: network, service: ProbedServer.self, eventsPath: "events")
        engine.setClockOffset(seconds: clockOffset)
        try await engine.join(self.space)
    }

    func close() async throws {
        await engine.close()
        try await store.close()
    }

    /// Performs a line.
    ///
    /// - Returns: The response; `nil` after `quit`.
    func perform(_ line: String) async -> [UInt8]? {
        var writer = JSONWriter()
        do {
            let request = try JSONDocument(Array(line.utf8)).root
            if request["do"].string == "quit" { return nil }
            writer.beginObject()
            try await perform(request, &writer)
            writer.endObject()
        } catch {
            writer = JSONWriter()
            writer.beginObject()
            writer.name("error")
            writer.string((error as? ProbeRefusal)?.reason ?? "\(error)")
            writer.endObject()
        }
        return writer.bytes
    }

    private func perform(_ request: JSONValue, _ writer: inout JSONWriter) async throws {
        switch request["do"].string {
        case "txn": try await write(request["set"])
        case "batch":
            let condition = try request["where"].probeCondition()
            let (values, space) = (try Values<ProbeItems>(request["values"]), space)
            let count = try await store.write { file in
                let inSpace = ProbeItems.space == space
                return try file.updateAll(values, where: condition.map { inSpace && $0 } ?? inSpace)
            }
            writer.name("rows")
            writer.integer(Int64(count))
        case "read": try await read(request["table"], &writer)
        case "connect": status.set(.unknown)
        case "disconnect": status.set(.none)
        case "sync":
            let problem = await engine.syncNow()
            writer.name("problem")
            problem.map { writer.string($0.description) } ?? writer.null()
        case "state": try await writeState(&writer)
        case "clock":
            guard let offset = request["offset"].double else { throw ProbeRefusal("offset is a number of seconds") }
            engine.setClockOffset(seconds: offset)
        default: throw ProbeRefusal("there is no command of this name")
        }
    }

    private func write(_ list: JSONValue) async throws {
        var changes: [(id: UUID, values: Values<ProbeItems>?)] = []
        var names: [Values<ProbeNames>] = []
        for change in list.elements {
            guard change["table"].string == ProbeItems.name else { throw ProbeRefusal("there is no such table") }
            guard let row = change["row"].string else { throw ProbeRefusal("a row is a text") }
            let id = ProbeName.identifier(of: row)
            if change["delete"].bool == true {
                changes.append((id, nil))
                continue
            }
            var values = try Values<ProbeItems>(change["values"])
            (values[ProbeItems.id], values[ProbeItems.space]) = (id, space)
            changes.append((id, values))
            ProbeName.values(of: row, in: space).map { names.append($0) }
        }
        let (all, allNames) = (changes, names)
        try await store.write { file in
            for name in allNames {
                let id = name[ProbeNames.id] ?? UUID()
                if try file.count(ProbeNames.self, where: ProbeNames.id == id) == 0 { try file.save(name) }
            }
            for (id, values) in all {
                if let values {
                    try file.save(values)
                } else {
                    try file.delete(ProbeItems.self, where: ProbeItems.id == id)
                }
            }
        }
    }

    private func read(_ table: JSONValue, _ writer: inout JSONWriter) async throws {
        guard table.string == ProbeItems.name else { throw ProbeRefusal("there is no such table") }
        let (rows, names) = try await store.read { file in
            let names = try file.fetch(ProbeNames.self).map { ($0[ProbeNames.id], $0[ProbeNames.text]) }
            let rows = try file.fetch(
                ProbeItems.self, orderedBy: [.ascending(ProbeItems.rank), .ascending(ProbeItems.id)]
            )
            .map { ($0, try $0[ProbeItems.id].map { try file.syncStatus(of: ProbeItems.self, $0) } ?? .synced) }
            return (rows, Dictionary(names) { $1 })
        }
        writer.name("rows")
        writer.beginArray()
        for (values, status) in rows {
            writer.beginObject()
            writer.name("row")
            let id = values[ProbeItems.id] ?? UUID()
            writer.string((names[id] ?? nil) ?? ProbeName.text(of: id))
            writer.name("values")
            values.write(to: &writer)
            writer.name("pending")
            writer.bool(status == .pending)
            writer.endObject()
        }
        writer.endArray()
    }

    private func writeState(_ writer: inout JSONWriter) async throws {
        let space = space
        let (status, cursor) = try await store.read { file in
            (try file.syncStatus(of: space), try file.syncCursor(of: space))
        }
        writer.name("waiting")
        writer.integer(Int64(status.waitingCount))
        writer.name("refused")
        writer.beginArray()
        for change in status.refusedChanges { writer.string(change.reason) }
        writer.endArray()
        writer.name("cursor")
        writer.integer(cursor)
        writer.name("mismatches")
        writer.integer(Int64(status.mismatchCount))
        writer.name("revoked")
        writer.bool(status.isRevoked)
        writer.name("problem")
        status.problem.map { writer.string($0.description) } ?? writer.null()
    }
}
