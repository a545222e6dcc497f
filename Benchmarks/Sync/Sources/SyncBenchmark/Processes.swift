import Foundation
import Hummingbird
import Logging
import NIOCore
import Runway
import RunwayServer
import RunwayServerStorage
import RunwaySync
import RunwayTables
import RunwayTransport
import Synchronization

@testable import RunwayTestServer

/// A server or a device, in a process of its own: it receives a command a line, and reports a line at a time.
final class Child {
    private let process = Process()
    private let input: FileHandle
    private var lines: AsyncStream<String>.Iterator

    init(_ arguments: String...) throws {
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = arguments
        let (pipe, (stream, continuation)) = (Pipe(), AsyncStream<String>.makeStream())
        process.standardInput = pipe
        input = pipe.fileHandleForWriting
        lines = stream.makeAsyncIterator()
        let output = try process.startWithPipe()
        Thread.detachNewThread {
            var rest: [UInt8] = []
            while true {
                let data = output.availableData
                if data.isEmpty { break }
                rest += data
                while let end = rest.firstIndex(of: 10) {
                    continuation.yield(String(decoding: rest[..<end], as: UTF8.self))
                    rest.removeSubrange(...end)
                }
            }
            continuation.finish()
        }
    }

    deinit { process.terminate() }

    func send(_ command: String) throws { try input.write(contentsOf: Data("\(command)\n".utf8)) }

    /// Returns the numbers of the next report with a name that a condition accepts.
    func next(_ name: String, where isWanted: ([Int]) -> Bool = { _ in true }) async throws -> [Int] {
        while let line = await lines.next(isolation: #isolation) {
            let words = line.split(separator: " ")
            let numbers = words.dropFirst().compactMap { Int($0) }
            if words.first.map({ $0 == name }) ?? false, isWanted(numbers) { return numbers }
        }
        throw CancellationError()
    }

    func end() {
        process.terminate()
        process.waitUntilExit()
    }
}

/// The time of the machine since its start in nanoseconds, which all processes share.
private var now: Int { Int(DispatchTime.now().uptimeNanoseconds) }

private func say(_ words: Any...) {
    let line = words.map { "\($0)" }.joined(separator: " ") + "\n"
    try? FileHandle.standardOutput.write(contentsOf: Data(line.utf8))
}

/// A server of spaces in a SQLite file, which reports its port and runs until it is terminated.
enum ServerProcess {
    static func run(at file: URL) async throws {
        let hub = try await EventHub(name: "sync")
        let service = SyncService(store: try .sqlite(at: file), hub: hub) { _, _, _ in true }
        let router = Router()
        SyncRouter(service) { _, _ in "ada" }.add(to: router)
        EventStreamRoute(hub) { _, _ in EventPermission() }.add(to: router)
        let application = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { say("port", $0.localAddress?.port ?? 0) },
            logger: Logger(label: "sync", factory: { _ in SwiftLogNoOpLogHandler() }))
        // Ends with the benchmark, also if that is killed.
        Thread.detachNewThread {
            while readLine() != nil {}
            exit(0)
        }
        try await application.run()
    }
}

/// A device, which is offline at first.
///
/// | command | effect | report |
/// |---|---|---|
/// | `online` | connects | `online` and the time |
/// | `fill` and a number | inserts so many notes, each in a transaction of its own | `filled` |
/// | `write` and a number | sets the rating of one note | `wrote`, the number and the time before the write |
/// | `memory` | | `memory` and the largest size of the process so far, in KiB |
///
/// When its observer has a new result, it reports `seen`, the number of notes, the rating of that note and the time.
@MainActor final class DeviceProcess: ObservedDelegate {
    private struct Seen: Equatable {
        let count: Int
        let rating: Int
    }

    private let (url, space, file): (String, UUID, URL)
    /// The note of which `write` changes the rating.
    private let marker: UUID

    init(of url: String, space: UUID, file: URL) {
        (self.url, self.space, self.file, marker) = (url, space, file, space)
    }

    func run() async throws {
        let (store, status) = (
            try await RecordStore.open(at: file, tables: [Notes.self]), SettableNetworkStatus(.none)
        )
        let network = NetworkLayer(transport: try NIOTransport(), status: status)
        network.configure(Backend.self) { [url] in $0.baseURLs = [.release: url] }
        let engine = try await SyncEngine(store, over: network, service: Backend.self, eventsPath: "events")
        try await engine.join(space)
        let marker = marker
        let observed = store.observe { file in
            Seen(
                count: try file.count(Notes.self),
                rating: try file.fetchFirst(Notes.self, where: Notes.id == marker)?[Notes.rating] ?? 0)
        }
        observed.delegate = self
        for await command in Self.commands {
            let words = command.split(separator: " ")
            let number = words.last.flatMap { Int($0) } ?? 0
            switch words[0] {
            case "online":
                say("online", now)
                status.set(.unknown)
            case "fill":
                for index in 0..<number {
                    let values = Note(index).values(in: space)
                    _ = try await store.write { try $0.insert(values) }
                }
                say("filled")
            case "write":
                var values = Note(number, id: marker).values(in: space)
                values[Notes.rating] = number
                let (change, start) = (values, now)
                _ = try await store.write { try $0.save(change) }
                say("wrote", number, start)
            case "memory": say("memory", Self.largestSize)
            default: preconditionFailure("there is no command \(command)")
            }
        }
        withExtendedLifetime((self, observed)) {}
        await engine.close()
        try await store.close()
    }

    func observedDidLand<Value>(_ observed: Observed<Value>) {
        let time = now
        if let seen = observed.value as? Seen { say("seen", seen.count, seen.rating, time) }
    }

    private static var commands: AsyncStream<String> {
        let (stream, continuation) = AsyncStream<String>.makeStream()
        Thread.detachNewThread {
            while let line = readLine() { continuation.yield(line) }
            continuation.finish()
        }
        return stream
    }

    /// The largest resident size of this process so far, in KiB, as Linux has it.
    private static var largestSize: Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }
}
