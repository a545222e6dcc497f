import ArgumentParser
import Foundation
import Runway
import RunwayBundleRepository
import RunwayDemo
import RunwaySignatures
import RunwayTUF
import RunwayTesting

/// Kills a device that downloads, installs and rolls back bundles, while versions are published, some of them broken.
/// Checks that it always runs one whole bundle, and no broken one more than twice.
struct BundleCrash: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bundles",
        abstract: "Kill a device that installs bundles, and check what it runs.",
        discussion: """
            EXIT CODES
              0  Each launch ran one whole bundle, none older than the embedded copy,
                 and no bundle that was condemned or had failed twice.
              1  Something was not so; the output says what.
              2  The test itself failed.
            """)

    @OptionGroup var killing: KillingOptions<BundleBug>

    func run() async throws { try await killing.run(play) }

    private func play(in folder: URL, _ random: inout SeededGenerator) async throws -> [String] {
        let files = DeviceFiles(folder: folder)
        var site = BundleSite(files)
        try site.create(&random)
        guard let tool = Bundle.main.executableURL?.deletingLastPathComponent().appending(path: "runway") else {
            throw CrashFailure("the program has no file")
        }
        let server = try ChildProcess(["bundle", "serve", files.site.path], of: tool)
        guard let url = await server.nextLine()?.firstMatch(of: /http:[^ ]*(?=\/metadata)/)?.output else {
            throw CrashFailure("runway bundle serve did not start")
        }
        func begin() async throws -> ChildProcess {
            let device = try ChildProcess(
                ["bundle-device", "--files", files.folder.path, "--url", String(url)] + killing.bugArguments)
            // The start of a process takes longer than what it is killed in.
            _ = await device.nextLine()
            return device
        }
        var device = try await begin()
        let (kills, _) = try await killing.kill(every: 1...400, &random) { random in
            // A machine that is busy with other things needs more time for the first installation.
            if try !hasInstalled(files) {
                try await Task.sleep(for: .milliseconds(Int.random(in: 1...2_000, using: &random)))
            }
            try await device.kill()
            if Int.random(in: 0..<3, using: &random) == 0 { try site.publish(&random) }
            device = try await begin()
            return []
        }
        try await device.kill()
        try await server.kill()
        return try report(files, site, kills)
    }

    private func hasInstalled(_ files: DeviceFiles) throws -> Bool {
        try ClientFiles.lines(of: files.log).contains { $0.hasPrefix("installed ") }
    }

    private func report(_ files: DeviceFiles, _ site: BundleSite, _ kills: Int) throws -> [String] {
        var findings: [String] = []
        var (counts, launches, condemned) = ([String: Int](), [Int64: Int](), Set<Int64>())
        for line in try ClientFiles.lines(of: files.log) {
            let words = line.split(separator: " ", maxSplits: 2)
            let version = words.count > 1 ? Int64(words[1]) ?? 0 : 0
            counts[String(words[0]), default: 0] += 1
            switch words[0] {
            case "run":
                launches[version, default: 0] += 1
                if condemned.contains(version) { findings.append("Version \(version) ran after it was condemned.") }
                if version < BundleSite.embedded { findings.append("Version \(version) is older than the app.") }
            case "condemned": condemned.insert(version)
            case "finding", "damaged": findings.append(String(line))
            default: continue
            }
        }
        for (version, count) in launches where site.broken.contains(version) && count > 2 {
            findings.append("The broken version \(version) ran \(count) times.")
        }
        let sums = counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        print("seed \(killing.start): \(kills) kills, version \(site.version) published; \(sums)")
        return (counts["installed", default: 0] == 0 ? ["nothing was installed"] : []) + findings
    }
}

/// A bug that the test adds to the device, to prove that its check finds the bug.
enum BundleBug: String, CaseIterable, ExpressibleByArgument {
    /// Files of an installed bundle are written in place.
    case inPlace
    /// The count of a launch is lost.
    case uncounted
}

/// The folders of a run, and the file to which the device appends a line for each event.
struct DeviceFiles {
    let folder: URL

    var site: URL { folder.appending(path: "site") }
    var keys: URL { folder.appending(path: "keys") }
    var dist: URL { folder.appending(path: "dist") }
    var embedded: URL { folder.appending(path: "embedded") }
    var device: URL { folder.appending(path: "device") }
    var log: URL { folder.appending(path: "log") }
}

/// The repository, and what was published.
struct BundleSite {
    static let embedded: Int64 = 5

    private let files: DeviceFiles
    private(set) var version = BundleSite.embedded
    private(set) var broken: Set<Int64> = []

    init(_ files: DeviceFiles) { self.files = files }

    private var repository: Repository { Repository(files.site) }
    private var keys: KeyFolder { KeyFolder(files.keys) }
    private var now: UnixTime { UnixTime(seconds: Int64(Date().timeIntervalSince1970)) }

    mutating func create(_ random: inout SeededGenerator) throws {
        try repository.create(keys, at: now)
        try FileManager.default.createDirectory(at: files.dist, withIntermediateDirectories: true)
        for number in 0..<30 { try write(number, &random) }
        try writeIndex()
        try FileManager.default.copyItem(at: files.dist, to: files.embedded)
        try publish(&random)
    }

    /// Publishes the next version, with some files changed. Every third one is broken.
    mutating func publish(_ random: inout SeededGenerator) throws {
        guard let target = BundleTarget(bundle: "crash", channel: "release", runtime: "1") else { return }
        version += 1
        for _ in 0..<Int.random(in: 1...6, using: &random) { try write(.random(in: 0..<30, using: &random), &random) }
        try? FileManager.default.removeItem(at: files.dist.appending(path: "broken"))
        if Int.random(in: 0..<3, using: &random) == 0 {
            broken.insert(version)
            try Data().write(to: files.dist.appending(path: "broken"))
        }
        try writeIndex()
        try repository.publish(files.dist, as: target, version: version, keys, at: now)
    }

    /// Writes a file of random length. The first is so long that its download can be resumed.
    private func write(_ number: Int, _ random: inout SeededGenerator) throws {
        let count =
            number == 0 ? Int.random(in: 300_000...600_000, using: &random) : .random(in: 0...4_000, using: &random)
        let bytes = (0..<count / 8 + 1).flatMap { _ in withUnsafeBytes(of: random.next()) { Array($0) } }
        try Data(bytes.prefix(count)).write(to: files.dist.appending(path: "file-\(number)"))
    }

    /// Writes the version, and the digests of all files of it.
    private func writeIndex() throws {
        try Data("\(version)".utf8).write(to: files.dist.appending(path: "version"))
        let lines = try (0..<30).map { number in
            let name = "file-\(number)"
            return "\(name) \(Hexadecimal.sha256(Array(try Data(contentsOf: files.dist.appending(path: name)))))\n"
        }
        try Data(lines.joined().utf8).write(to: files.dist.appending(path: "index"))
    }
}
