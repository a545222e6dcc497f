import Foundation
import RunwayBridge

@testable import RunwayChromium

/// Compares the bridge with the least that a page's call can cost.
@main struct BridgeBenchmark {
    private let browser: ChromiumBrowser
    private let page: ChromiumPage
    private var isMissed = false

    private struct Text: Codable, Sendable {
        var text = ""
    }

    private init(program: String) async throws {
        let data = Data((0..<(16 << 20)).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 7) })
        let commands = [
            Command("echo") { (input: Text, _) in Text(text: input.text + "!") },
            Command(bytes: "bytes") { (_: NoValue, _) in data },
            Command("base64") { (_: NoValue, _) in data.base64EncodedString() },
        ]
        let bridge = Bridge(
            capabilities: [Capability(.bundle("benchmark"), commands: commands)],
            bundles: [BundleFiles("benchmark") { _ in Data("<!doctype html>".utf8) }],
            limits: BridgeLimits(callsPerSecond: 1_000_000))
        browser = try await ChromiumBrowser(program: program)
        page = try await browser.openPage(bridge)
        try await page.load("runway-bundle://benchmark/")
    }

    static func main() async throws {
        let parts = CommandLine.arguments.count > 1 ? CommandLine.arguments.dropFirst() : ["calls", "bytes"]
        let rounds = ProcessInfo.processInfo.environment["ROUNDS"].flatMap { Int($0) } ?? 20
        guard let program = ChromiumBrowser.installed, parts.allSatisfy(["calls", "bytes"].contains), rounds > 0 else {
            fatalError("Chromium has to be installed; the parts are calls and bytes")
        }
        var benchmark = try await BridgeBenchmark(program: program)
        var average = 0.0
        getloadavg(&average, 1)
        Self.show("load \(text(average))")
        if parts.contains("calls") { try await benchmark.measureCalls(program, rounds: rounds) }
        if parts.contains("bytes") { try await benchmark.measureBytes(rounds: max(1, rounds / 4)) }
        benchmark.browser.close()
        exit(benchmark.isMissed ? 1 : 0)
    }

    /// Makes calls one after the other, and returns the time of each in milliseconds.
    private static func timing(_ count: Int, _ call: String) -> String {
        """
        (async () => {
          const times = []
          for (let i = 0; i < \(count); i++) {
            const start = performance.now()
            await \(call)
            times.push(performance.now() - start)
          }
          return times
        })()
        """
    }

    private static func times(_ json: String) throws -> [Double] {
        try JSONDecoder().decode([Double].self, from: Data(json.utf8)).sorted()
    }

    private mutating func measureCalls(_ program: String, rounds: Int) async throws {
        let bare = try await BareBinding(program: program)
        defer { bare.close() }
        let (call, bareCall) = ("runway.call('echo', { text: 'x' })", #"call('{"text":"x"}')"#)
        _ = try await bare.evaluate(Self.timing(500, bareCall))
        _ = try await page.evaluate(Self.timing(500, call))
        var (bridged, unbridged): ([[Double]], [[Double]]) = ([], [])
        for _ in 0..<rounds {
            unbridged.append(try Self.times(await bare.evaluate(Self.timing(500, bareCall))))
            bridged.append(try Self.times(await page.evaluate(Self.timing(500, call))))
        }
        // Beside other programs a mean says what these did. The ratio of each round has both in the same second.
        let ratios = zip(bridged, unbridged).map { $0.reduce(0, +) / $1.reduce(0, +) }.sorted()
        let (all, allBare) = (bridged.joined().sorted(), unbridged.joined().sorted())
        for (name, times) in [("bridge", all), ("bare binding", allBare)] {
            Self.show(
                "\(name): \(times.count) calls, mean \(Self.text(times.reduce(0, +) / Double(times.count))) ms, "
                    + "median \(Self.text(times[times.count / 2])) ms, p99 \(Self.text(times[times.count * 99 / 100])) ms"
            )
        }
        let ratio = all.reduce(0, +) / allBare.reduce(0, +)
        Self.show("ratio of the rounds: best \(Self.text(ratios[0])), median \(Self.text(ratios[ratios.count / 2]))")
        check("mean of a call / bare binding", ratio, atMost: 1.4)
        check("p99 of a call in ms", all[all.count * 99 / 100], atMost: 2.5)
    }

    private mutating func measureBytes(rounds: Int) async throws {
        let decoding = "Uint8Array.from(atob(text), letter => letter.charCodeAt(0))"
        let ways = [
            "runway.call('bytes')",
            "runway.call('base64').then(text => Uint8Array.fromBase64?.(text) ?? \(decoding))",
        ]
        var times: [[Double]] = [[], []]
        for _ in 0..<rounds {
            for (index, way) in ways.enumerated() {
                times[index] += try Self.times(await page.evaluate(Self.timing(1, way)))
                if times[index].count == 1 { Self.show("after \(index == 0 ? "bytes" : "base64"): \(await memory())") }
            }
        }
        let medians = times.map { $0.sorted()[$0.count / 2] }
        Self.show("16 MB: \(Self.text(medians[0])) ms, in base64 \(Self.text(medians[1])) ms")
        check("base64 / bytes", medians[1] / medians[0], atLeast: 7)
    }

    /// The peaks of this process and of those of the browser, in mebibytes.
    private func memory() async -> String {
        let processes = (try? await browser.pipe.send("SystemInfo.getProcessInfo"))?["processInfo"].elements ?? []
        let peaks = processes.filter { ["browser", "renderer"].contains($0["type"].string) }.map { process in
            "\(process["type"].string ?? "") \(Self.peak(of: "\(process["id"].integer ?? 0)"))"
        }
        return (["this process \(Self.peak(of: "self"))"] + peaks).joined(separator: ", ")
    }

    private static func peak(of process: String) -> String {
        let status = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        let kibibytes = line?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        return kibibytes.map { "\($0 / 1024) MiB" } ?? "unknown"
    }

    private mutating func check(_ name: String, _ value: Double, atMost: Double = .infinity, atLeast: Double = 0) {
        let isReached = value <= atMost && value >= atLeast
        if !isReached { isMissed = true }
        let bound = atMost < .infinity ? "at most \(Self.text(atMost))" : "at least \(Self.text(atLeast))"
        Self.show("\(isReached ? "reached" : "MISSED ") \(name): \(Self.text(value)), \(bound)")
    }

    /// Prints a line at once: a run takes minutes, and may be ended before.
    private static func show(_ line: String) {
        print(line)
        fflush(nil)
    }

    private static func text(_ value: Double) -> String { String(format: "%.2f", value) }
}
