import Foundation
import RunwayTestServer
import RunwayTesting

/// Starts writers and a server, kills them and cuts the network between them at random, and lets the rest arrive.
struct CrashRun {
    /// What was done.
    struct Totals: CustomStringConvertible {
        var writerKills = 0
        var serverKills = 0
        var cuts = 0
        var outages = 0
        /// The writers whose rest did not arrive within a minute.
        var unsent: [Int] = []

        var description: String {
            "\(writerKills) kills of writers, \(serverKills) of the server, \(cuts) cuts and \(outages) outages of the network"
        }
    }

    let folder: URL
    let writerCount: Int
    let bug: PlantedBug?
    let postgres: String?
    var random: SeededGenerator

    /// The file of a server that stores in SQLite.
    static func file(in folder: URL) -> URL { folder.appending(path: "server/actions.sqlite") }

    static func writer(_ index: Int, in folder: URL) -> WriterFiles {
        WriterFiles(folder: folder.appending(path: "writer-\(index)"))
    }

    /// Kills for some time, then has every log send the rest, and ends all processes.
    func play(for time: Duration) async throws -> Totals {
        var (random, totals) = (random, Totals())
        var server = try ChildProcess(serverArguments(port: 0))
        guard let port = server.firstLine.flatMap({ Int($0) }) else { throw CrashFailure("the server did not start") }
        let network = try await BadNetwork(to: port, addresses: 1)
        let path = network.paths[0]
        let url = "http://\(path.address):\(network.port)"
        var writers: [ChildProcess] = []
        for index in 0..<writerCount {
            let files = Self.writer(index, in: folder)
            try FileManager.default.createDirectory(at: files.folder, withIntermediateDirectories: true)
            writers.append(try ChildProcess(writerArguments(files, url)))
        }
        let end = ContinuousClock.now + time
        while ContinuousClock.now < end {
            try await Task.sleep(for: .milliseconds(Int.random(in: 1...120, using: &random)))
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                let index = Int.random(in: 0..<writerCount, using: &random)
                try await writers[index].kill()
                writers[index] = try ChildProcess(writerArguments(Self.writer(index, in: folder), url))
                totals.writerKills += 1
            case 5..<7:
                try await server.kill()
                server = try ChildProcess(serverArguments(port: port))
                totals.serverKills += 1
            case 7..<9:
                path.cut()
                totals.cuts += 1
            default:
                try await path.set(.refusing)
                try await Task.sleep(for: .milliseconds(Int.random(in: 1...300, using: &random)))
                try await path.set(.passing(PathConditions()))
                totals.outages += 1
            }
        }
        for writer in writers { try await writer.kill() }
        for index in 0..<writerCount {
            let process = try ChildProcess(writerArguments(Self.writer(index, in: folder), url) + ["--drain"])
            if await process.end() != 0 { totals.unsent.append(index) }
        }
        try await server.kill()
        await network.shutDown()
        return totals
    }

    // No option of a child has the name of one of the tool itself, which would take it for its own.
    private func serverArguments(port: Int) -> [String] {
        ["server", "--file", Self.file(in: folder).path, "--port", "\(port)"]
            + (postgres.map { ["--database", $0] } ?? []) + bugArguments
    }

    private func writerArguments(_ files: WriterFiles, _ url: String) -> [String] {
        ["writer", "--files", files.folder.path, "--url", url] + bugArguments
    }

    private var bugArguments: [String] { bug.map { ["--bug", $0.rawValue] } ?? [] }
}

/// A process of this program, which is killed with its owner.
final class ChildProcess {
    private let process = Process()
    private let output = Pipe()
    private let endings: AsyncStream<Int32>

    init(_ arguments: [String]) throws {
        let (endings, ending) = AsyncStream<Int32>.makeStream()
        self.endings = endings
        process.executableURL = Bundle.main.executableURL
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.terminationHandler = { process in
            ending.yield(process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus)
            ending.finish()
        }
        try process.run()
    }

    deinit { if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) } }

    /// The first line of its output; `nil` if it ends without one. It blocks.
    var firstLine: String? {
        var text = ""
        while !text.hasSuffix("\n") {
            let part = output.fileHandleForReading.availableData
            if part.isEmpty { return nil }
            text += String(decoding: part, as: UTF8.self)
        }
        return String(text.dropLast())
    }

    /// Kills it, and returns when it has ended.
    ///
    /// - Throws: ``CrashFailure`` if it had ended by itself.
    func kill() async throws {
        Foundation.kill(process.processIdentifier, SIGKILL)
        let status = await end()
        guard status == -SIGKILL else { throw CrashFailure("a process had ended by itself, with \(status)") }
    }

    /// Waits for its end; returns the exit code, or the negated signal.
    func end() async -> Int32 { await endings.first { _ in true } ?? -1 }
}
