import ArgumentParser
import Foundation
import HTTPTypes
import Runway
import RunwayJSON
import RunwayServer
import RunwayStorage
import RunwayTransport

/// Records numbers until it is killed, or sends what is left and ends.
struct WriterProcess: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "writer", shouldDisplay: false)

    private enum Logging: APIService {
        static let name = "logging"
        static let environments: [ServiceEnvironment: String] = [:]
        static let deadline = Duration.seconds(5)
    }

    @Option var files: String
    @Option var url: String
    @Option var bug: PlantedBug?
    @Flag var drain = false

    func run() async throws {
        let files = WriterFiles(folder: URL(fileURLWithPath: files))
        let wire = try NIOTransport()
        let transport: any Transport = bug == .earlyRemoval ? HastyTransport(wire: wire) : wire
        let network = NetworkLayer(transport: transport, limits: LayerLimits(admission: .none, retrying: .none))
        network.configure(Logging.self) { $0.baseURLs = [.release: url] }
        var options = ActionLogOptions()
        options.interval = .milliseconds(50)
        options.baseWait = .milliseconds(20)
        options.longestWait = .milliseconds(200)
        let log = ActionLog(at: files.log, sendingTo: Logging.self, at: "log", over: network, options: options)
        if drain { return try await sendTheRest(of: log) }
        let (offered, durable) = (try AppendedFile(files.offered), try AppendedFile(files.durable))
        var number = (try files.numbers(in: files.offered).last ?? 0) + 1
        while true {
            // The commit of one is awaited while the others wait, too.
            let numbers = number..<number + Int.random(in: 1...8)
            try offered.append(numbers)
            let receipts = numbers.map { log.record(files.name, ["n": .integer(Int64($0))]) }
            if bug == .earlyAcknowledgement { try durable.append(numbers) }
            for (receipt, number) in zip(receipts, numbers) {
                try await receipt.committed()
                if bug != .earlyAcknowledgement { try durable.append(number..<number + 1) }
            }
            number = numbers.upperBound
        }
    }

    private func sendTheRest(of log: ActionLog) async throws {
        for _ in 0..<3000 {
            await log.flush()
            let state = try await log.state()
            if state.waitingCount == 0, state.bufferedCount == 0 {
                guard state.lost.isEmpty, state.setAsideCount == 0 else {
                    throw CrashFailure("the log lost records: \(state)")
                }
                return await log.close()
            }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw CrashFailure("the rest was not sent within a minute")
    }
}

/// Why the test can't go on.
struct CrashFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// The files of one writer.
struct WriterFiles: Sendable {
    let folder: URL

    /// What its records are called.
    var name: String { folder.lastPathComponent }
    var log: URL { folder.appending(path: "log/actions.sqlite") }
    /// The numbers that were recorded, or would have been.
    var offered: URL { folder.appending(path: "offered") }
    /// The numbers whose commit was reported to the writer.
    var durable: URL { folder.appending(path: "durable") }

    func numbers(in file: URL) throws -> [Int] {
        guard let text = try? String(contentsOf: file, encoding: .utf8) else { return [] }
        return text.split(separator: "\n").compactMap { Int($0) }
    }
}

/// A file to which lines are added, each in one write, which a kill can't divide.
struct AppendedFile {
    private let descriptor: Int32

    init(_ url: URL) throws {
        descriptor = open(url.path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        guard descriptor >= 0 else { throw CrashFailure("\(url.path) can't be written") }
    }

    func append(_ numbers: Range<Int>) throws {
        let bytes = Array(numbers.map { "\($0)\n" }.joined().utf8)
        guard write(descriptor, bytes, bytes.count) == bytes.count else {
            throw CrashFailure("a file can't be written")
        }
    }
}

/// Responds to batches before they are sent: the log removes what no server has.
private struct HastyTransport: Transport {
    let wire: NIOTransport

    func send(_ request: Runway.Request, in flight: Flight) async throws(NetworkError) -> Runway.Response {
        guard case .bytes(let coded) = request.body, case .decoded(let bytes) = GzipBody.decode(coded, upTo: 1 << 24),
            let batch = try? JSONDocument(bytes).root
        else { return try await wire.send(request, in: flight) }
        Task { _ = try? await wire.send(request, in: flight) }
        var writer = JSONWriter()
        writer.beginObject()
        for name in ["stream", "batch"] {
            writer.name(name)
            writer.value(batch[name])
        }
        writer.name("records")
        writer.beginArray()
        for record in batch["records"].elements {
            writer.beginObject()
            writer.name("id")
            writer.value(record["id"])
            writer.name("verdict")
            writer.string("stored")
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return Runway.Response(head: HTTPResponse(status: .ok), body: .whole(RawData(writer.bytes)))
    }
}
