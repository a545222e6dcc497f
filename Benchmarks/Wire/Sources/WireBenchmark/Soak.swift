import Foundation
import Runway
import RunwayTestServer
import RunwayTesting
import RunwayTransport
import Synchronization

/// Mixed traffic for a long time over paths that fail and recover: counts the outcome of every call, compares whole bodies, follows streams
/// of events, and watches memory, descriptors and threads.
///
/// It fails if a call never ended, if one got another's response, if an event came twice, out of order, or not without a gap, if something
/// grows, or if something outlives the calls.
final class Soak: Sendable {
    private struct Count {
        var begun = 0
        var succeeded = 0
        var failed: [String: Int] = [:]
        var cancelled = 0
        var wrong = 0

        var ended: Int { succeeded + cancelled + wrong + failed.values.reduce(0, +) }
    }

    private struct Reading {
        var memory: Int
        var descriptors: Int
        var threads: Int
    }

    /// A layer and its transport, which go when nothing uses them any more.
    private struct Remnant {
        weak var network: NetworkLayer?
        weak var transport: NIOTransport?
    }

    private static let workerCount = 16

    private let port: Int
    private let pem: String
    /// The certificate and the key of the server of the streams.
    private let identity: (certificate: String, key: String)
    private let time: Duration
    private let calls: Int
    private let traffic: SoakTraffic
    private let count = Mutex(Count())

    init(
        port: Int, root: String, files: String, identity: (certificate: String, key: String), time: Duration, calls: Int
    ) throws {
        self.port = port
        self.identity = identity
        traffic = try SoakTraffic(files: files)
        self.time = time
        self.calls = calls
        pem = try String(contentsOfFile: root, encoding: .utf8)
    }

    func run() async throws {
        let paths = try await BadNetwork(to: port, addresses: 4)
        let streams = try await SoakStreams.start(certificate: identity.certificate, key: identity.key)
        print("\(calls) calls in \(time) at least, seed 1; a row a minute")
        print("     calls  succeeded  cancelled     failed  wrong   MB  descriptors  threads")
        let start = reading()
        var rows: [Reading] = []
        var remnants: [Remnant] = []
        try await withThrowingTaskGroup(of: Void.self) { group in
            let weather = [paths, streams.paths].map { paths in Task { try await self.change(paths) } }
            defer { for task in weather { task.cancel() } }
            var following: [Task<Void, Never>] = []
            for usesHTTP2 in [true, false] {
                let (network, transport) = try makeNetwork(over: paths, streams.paths, usesHTTP2: usesHTTP2)
                remnants.append(Remnant(network: network, transport: transport))
                following.append(Task { await streams.follow(over: network) })
                let overHTTP2 = 0..<Self.workerCount * 3 / 4
                for worker in usesHTTP2 ? overHTTP2 : overHTTP2.upperBound..<Self.workerCount {
                    group.addTask { @concurrent in
                        await self.work(worker, over: network)
                        withExtendedLifetime(transport) {}
                    }
                }
            }
            let watch = Task {
                var rows: [Reading] = []
                while !Task.isCancelled {
                    try? await Task.sleep(for: .seconds(60))
                    rows.append(self.report())
                }
                return rows
            }
            try await group.waitForAll()
            for task in following { task.cancel() }
            for task in following { await task.value }
            watch.cancel()
            rows = await watch.value
        }
        await paths.shutDown()
        let streamFaults = await streams.end()
        // The last connections are closed by loops of their own.
        try await Task.sleep(for: .seconds(3))
        traffic.removeFiles()
        let remnantCount = remnants.count { $0.network != nil } + remnants.count { $0.transport != nil }
        try judge(start: start, rows: rows, end: report(), remnantCount: remnantCount, streamFaults)
    }

    private func makeNetwork(
        over paths: BadNetwork, _ streams: BadNetwork, usesHTTP2: Bool
    ) throws -> (NetworkLayer, NIOTransport) {
        var configuration = TransportConfiguration(
            trust: .certificates(pem: [pem]), usesHTTP2: usesHTTP2, connectTimeout: .seconds(3),
            idleTimeout: .seconds(5))
        configuration.hosts = HostBook(bundled: try HostList(["localhost": paths.addresses]))
        let transport = try NIOTransport(configuration: configuration)
        let network = NetworkLayer(
            transport: transport, limits: LayerLimits(admission: AdmissionLimits(maximumIdenticalRequests: nil)))
        network.configure(Files.self) { $0.baseURLs = [.release: "https://localhost:\(paths.port)"] }
        network.configure(SoakEvents.self) { $0.baseURLs = [.release: "https://localhost:\(streams.port)"] }
        return (network, transport)
    }

    /// Calls until both the time and the number are full, at the rate that fills both at once.
    private func work(_ worker: Int, over network: NetworkLayer) async {
        var random = SeededGenerator(seed: UInt64(worker) + 1)
        let pause = time / calls * Self.workerCount
        let start = ContinuousClock.now
        var next = start
        while ContinuousClock.now - start < time || count.withLock({ $0.begun }) < calls {
            count.withLock { $0.begun += 1 }
            await call(worker, over: network, &random)
            next += pause
            try? await ContinuousClock().sleep(until: next)
        }
    }

    private func call(_ worker: Int, over network: NetworkLayer, _ random: inout SeededGenerator) async {
        do {
            try await traffic.call(worker, over: network, &random)
            count.withLock { $0.succeeded += 1 }
        } catch let error as NetworkError {
            count.withLock { count in
                if error.kind == .cancelled {
                    count.cancelled += 1
                } else {
                    count.failed["\(error.kind)", default: 0] += 1
                }
            }
        } catch {
            count.withLock { $0.wrong += 1 }
        }
    }

    /// Every second or so a path dies, falls silent or slows down for a while; the first is spared half of the time.
    private func change(_ paths: BadNetwork) async throws {
        var random = SeededGenerator(seed: 99)
        while true {
            let path = paths.paths[Int.random(in: 0..<4, using: &random)]
            let slow = PathConditions(
                roundTrip: .milliseconds(Int.random(in: 1...80, using: &random)), jitter: .milliseconds(5),
                lossRate: 0.01)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: path.cut()
            case 1: try await path.set(.refusing)
            case 2: try await path.set(.silent)
            default: try await path.set(.passing(slow))
            }
            try await Task.sleep(for: .milliseconds(Int.random(in: 100...1500, using: &random)))
            if path.state == .refusing || path.state == .silent { try await path.set(.passing(PathConditions())) }
        }
    }

    @discardableResult
    private func report() -> Reading {
        let now = reading()
        let count = count.withLock { $0 }
        print(
            String(
                format: "%10d %10d %10d %10d %6d %4d %12d %8d", count.begun, count.succeeded, count.cancelled,
                count.failed.values.reduce(0, +), count.wrong, now.memory >> 20, now.descriptors, now.threads))
        fflush(nil)
        return now
    }

    private func reading() -> Reading {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        func value(_ name: String) -> Int {
            let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") } ?? ""
            return line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) } ?? 0
        }
        let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
        return Reading(memory: value("VmRSS") << 10, descriptors: descriptors, threads: value("Threads"))
    }

    /// Compares the second half with the first, whose warming up is over after a tenth.
    private func judge(
        start: Reading, rows: [Reading], end: Reading, remnantCount: Int, _ streamFaults: [String]
    ) throws {
        let count = count.withLock { $0 }
        print("failures by kind: \(count.failed.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" })")
        var faults = streamFaults
        if count.ended != count.begun { faults.append("\(count.begun - count.ended) calls never ended") }
        if count.wrong > 0 { faults.append("\(count.wrong) calls got a wrong response") }
        if count.succeeded < count.begun / 2 { faults.append("fewer than half of the calls succeeded") }
        if remnantCount > 0 { faults.append("\(remnantCount) layers and transports outlived their calls") }
        if end.descriptors > start.descriptors + 8 {
            faults.append("\(end.descriptors) descriptors are open at the end, \(start.descriptors) at the start")
        }
        let settled = rows.dropFirst(rows.count / 10)
        let first = settled.prefix(settled.count / 2).map { Double($0.memory) }
        let second = settled.suffix(settled.count / 2).map { Double($0.memory) }
        if !first.isEmpty, median(second) > median(first) * 1.1 + 4e6 {
            faults.append("memory grew from \(Int(median(first)) >> 20) to \(Int(median(second)) >> 20) MB")
        }
        guard faults.isEmpty else {
            print("FAILED: " + faults.joined(separator: "; "))
            exit(1)
        }
        print("passed")
    }
}
