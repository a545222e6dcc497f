import Foundation
import Runway
import RunwayBundles
import RunwayTransport

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

/// What a device pays for its bundles. See `run.sh`.
@main
struct BundlesBenchmark {
    /// The URL of the repository. Its server counts requests and bytes.
    let url: String
    /// The folder with `root.json`, the files of the published version in `dist`, and the stores.
    let folder: URL

    static func main() async throws {
        let arguments = CommandLine.arguments
        let benchmark = BundlesBenchmark(url: arguments[2], folder: URL(filePath: arguments[3]))
        let isMet =
            switch arguments[1] {
            case "install": try await benchmark.install()
            case "update": try await benchmark.update()
            default: try await benchmark.refresh(rounds: 200, peer: Double(arguments[4]) ?? .nan)
            }
        exit(isMet ? 0 : 1)
    }

    private func store(_ name: String) throws -> BundleStore {
        let embedded = folder.appending(path: "embedded")
        try FileManager.default.createDirectory(at: embedded, withIntermediateDirectories: true)
        let root = Array(try Data(contentsOf: folder.appending(path: "root.json")))
        var options = BundleOptions()
        options.maximumExpensiveByteCount = .max
        // No app checks a thousand times a second; a layer would take it for a loop without an end.
        let network = NetworkLayer(transport: try NIOTransport(), limits: LayerLimits(admission: .none))
        return try BundleStore(
            in: folder.appending(path: name), embedded: EmbeddedBundle(embedded, version: 0),
            from: BundleSource(url, root: root, bundle: "app"), on: network, options: options)
    }

    private func require(_ kind: BundleRecord.Kind, _ outcome: BundleRecord) throws {
        guard outcome.kind == kind else { throw Unexpected(outcome: outcome) }
    }

    /// Returns the requests and bytes that the server has counted since the last call.
    private func takeCounts() async throws -> (requests: Int, bytes: Int) {
        let text = try String(contentsOf: folder.appending(path: "count"), encoding: .utf8)
        let numbers = text.split(separator: " ").compactMap { Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
        return (numbers[0], numbers[1])
    }

    private func install() async throws -> Bool {
        var (best, bestCopy, processor) = (Duration.seconds(3_600), Duration.seconds(3_600), 0.0)
        for round in 0..<3 {
            let copy = folder.appending(path: "copy-\(round)").path
            bestCopy = min(
                bestCopy,
                try ContinuousClock().measure {
                    let process = try Process.run(
                        URL(filePath: "/bin/cp"), arguments: ["-r", folder.appending(path: "dist").path, copy])
                    process.waitUntilExit()
                })
            let store = try store("installed-\(round)")
            let (start, used) = (ContinuousClock.now, Self.processorTime)
            try require(.installed, await store.check())
            let time = ContinuousClock.now - start
            if time < best { (best, processor) = (time, Self.processorTime - used) }
        }
        print(
            "installation of 1,000 files of 20 MB: \(Self.text(best / .milliseconds(1))) ms, "
                + "\(Self.text(processor * 1_000)) ms of a processor; cp -r: \(Self.text(bestCopy / .milliseconds(1))) ms"
        )
        return true
    }

    private func update() async throws -> Bool {
        let store = try store("installed-0")
        let bundle = store.running
        let used = Self.processorTime
        for path in bundle.paths { _ = try bundle.read(path) }
        print(
            "reading and verifying 1,000 files of 20 MB: \(Self.text((Self.processorTime - used) * 1_000)) ms of a processor"
        )
        let before = try await takeCounts()
        try require(.installed, await store.check())
        let after = try await takeCounts()
        let (requests, bytes) = (after.requests - before.requests, after.bytes - before.bytes)
        print("1 changed file of 1,000: \(requests) requests, 4 of them for metadata; \(bytes) bytes")
        return requests <= 6
    }

    private func refresh(rounds: Int, peer: Double) async throws -> Bool {
        let store = try store("installed-0")
        try require(.nothingNew, await store.check())
        let before = try await takeCounts()
        var best = Double.infinity
        for _ in 0..<5 {
            let used = Self.processorTime
            for _ in 0..<rounds { try require(.nothingNew, await store.check()) }
            best = min(best, (Self.processorTime - used) / Double(rounds) * 1_000)
        }
        let after = try await takeCounts()
        let requests = (after.requests - before.requests) / (5 * rounds)
        let bytes = (after.bytes - before.bytes) / (5 * rounds)
        print(
            "refresh with nothing new: \(Self.text(best)) ms of a processor, \(requests) requests, \(bytes) bytes; "
                + "python-tuf \(Self.text(peer)) ms")
        return best <= 1.5 && requests == 2 && bytes <= 64 << 10
    }

    /// The time of processors that this process has used, in seconds.
    private static var processorTime: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private static func text(_ number: Double) -> String { String(format: "%.2f", number) }
}

/// A check with another outcome than the measured one.
private struct Unexpected: Error {
    let outcome: BundleRecord
}
