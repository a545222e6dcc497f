import Foundation
import HTTPTypes
import NIOCore
import NIOPosix
import RunwaySignatures
import Synchronization

/// Good requests while others send 10,000 forged ones a second, to a server in a process of its own.
///
/// Each forged request is one of a source of its own, so that no limit of failures spares the server its verification. It fails if a good
/// request is refused, or if fewer forged requests a second are refused than that.
///
/// Before them a server that refuses every request and verifies nothing gets the same flood: more than it refuses, the HTTP stack itself cannot
/// with the clients on the same cores.
enum ForgedFlood {
    private static let seconds = 10
    private static let perSecond = 10_000
    private static let connections = 8

    static func measure() async throws {
        let forger = VerifyingServer(
            name: "forger", key: try .hmac(.init(data: Array("a secret that is not the server's".utf8))))
        let forged = try await forger.requests(count: 500).map { message($0, source: nil) }
        do {
            let refusing = try ServingProcess(of: VerifyingServer(fixed: VerifyingServer.refusing))
            defer { refusing.end() }
            let most = try await flood(refusing, forged) { try await Task.sleep(for: .seconds(seconds)) }
            print("without verification: \(most.text)")
        }
        for name in ["hmac-sha256", "ecdsa-p256-sha256"] {
            let server = try VerifyingServer(fixed: name)
            let process = try ServingProcess(of: server)
            defer { process.end() }
            let good = try await server.requests(count: 400)
            let alone = try await send(good.prefix(200), process.port)
            let flooded = try await flood(process, forged) {
                try await send(good.dropFirst(200), process.port, over: .seconds(seconds))
            }
            let under = flooded.value
            print(
                "\(name): \(flooded.text), each of its own source; "
                    + "good ones: \(under.accepted) of \(under.times.count) accepted, "
                    + String(
                        format: "median %.1f ms, greatest %.1f ms (median %.1f ms without forged ones)",
                        median(under.times), under.times.max() ?? 0, median(alone.times)))
            guard under.accepted == under.times.count, alone.accepted == alone.times.count, flooded.others == 0 else {
                throw BenchmarkFailure(reason: "a good request was refused, or a forged one was not")
            }
            guard flooded.rate >= Double(perSecond) * 0.99 else {
                throw BenchmarkFailure(reason: "fewer than \(perSecond) forged requests a second")
            }
        }
    }

    /// What happened while a server was flooded.
    private struct Flooded<Value> {
        let value: Value
        /// Refused requests a second.
        let rate: Double
        /// Responses to forged requests that were no 401.
        let others: Int
        /// The processor time of the server for each of them. `nil` where it is not known.
        let microseconds: Double?

        var text: String {
            String(format: "%.0f forged requests/s refused", rate)
                + (microseconds.map { String(format: " for %.1f µs of its processor each", $0) } ?? "")
        }
    }

    /// Runs a body while a server is flooded, from a second after the beginning on.
    private static func flood<Value>(
        _ process: ServingProcess, _ forged: [ByteBuffer], _ body: () async throws -> Value
    ) async throws -> Flooded<Value> {
        let (counts, start, port) = (Counts(), ContinuousClock.now, process.port)
        let tasks = (0..<connections).map { lane in
            Task {
                try await Flooder(port: port, messages: forged, lane: lane, counts: counts).run(
                    since: start, perSecond: perSecond / connections)
            }
        }
        try await Task.sleep(for: .seconds(1))
        let (before, began, used) = (
            counts.refused.load(ordering: .relaxed), ContinuousClock.now, process.processorTime
        )
        let value = try await body()
        let refused = Double(counts.refused.load(ordering: .relaxed) - before)
        let rate = refused / (began.duration(to: .now) / .seconds(1))
        let microseconds = used.flatMap { used in
            process.processorTime.map { ($0 - used) / .seconds(1) * 1e6 / max(refused, 1) }
        }
        for task in tasks {
            task.cancel()
            _ = await task.result
        }
        return Flooded(
            value: value, rate: rate, others: counts.others.load(ordering: .relaxed), microseconds: microseconds)
    }

    /// Sends good requests one after the other, spread over a time.
    private static func send(
        _ requests: ArraySlice<HTTPFields>, _ port: Int, over duration: Duration = .zero
    ) async throws -> (accepted: Int, times: [Double]) {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            var (times, accepted) = ([Double](), 0)
            var parts = inbound.makeAsyncIterator()
            for fields in requests {
                let start = ContinuousClock.now
                try await outbound.write(message(fields, source: "app"))
                var received = ""
                while !received.contains("\r\n\r\n"), let part = try await parts.next() {
                    received += String(buffer: part)
                }
                times.append((start.duration(to: .now) / .seconds(1)) * 1e3)
                if received.hasPrefix("HTTP/1.1 200") { accepted += 1 }
                // The rest of the body, which is 1 KB.
                while received.utf8.count < 1_024, let part = try await parts.next() {
                    received += String(buffer: part)
                }
                try await Task.sleep(for: duration / requests.count)
            }
            return (accepted, times)
        }
    }

    /// A request as it stands on the wire. Without a source the server takes each for one of its own.
    static func message(_ fields: HTTPFields, source: String?) -> ByteBuffer {
        var text =
            "POST /mirror?page=1 HTTP/1.1\r\nHost: api.example.com\r\nContent-Length: \(VerifyingServer.body.count)\r\n"
        for field in fields { text += "\(field.name.rawName): \(field.value)\r\n" }
        if let source { text += "X-Source: \(source)\r\n" }
        return ByteBuffer(string: text + "\r\n" + String(decoding: VerifyingServer.body, as: UTF8.self))
    }

    private final class Counts: Sendable {
        let refused = Atomic(0)
        let others = Atomic(0)
    }

    /// One connection that sends forged requests at a rate, without waiting for each response.
    private struct Flooder {
        let port: Int
        let messages: [ByteBuffer]
        let lane: Int
        let counts: Counts

        func run(since start: ContinuousClock.Instant, perSecond: Int) async throws {
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connect(host: "127.0.0.1", port: port) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                    }
                }
            try await channel.executeThenClose { inbound, outbound in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        // What may be the beginning of a status line that the next part completes.
                        var rest: [UInt8] = []
                        for try await part in inbound {
                            let bytes = rest + part.readableBytesView
                            counts.refused.add(bytes.count(of: "HTTP/1.1 401"), ordering: .relaxed)
                            for other in ["HTTP/1.1 200", "HTTP/1.1 429"] {
                                counts.others.add(bytes.count(of: other), ordering: .relaxed)
                            }
                            rest = bytes.suffix(11)
                        }
                    }
                    // Twenty milliseconds' share at a time: a sleep is no more exact than that.
                    let share = perSecond / 50
                    var number = 0
                    while !Task.isCancelled {
                        try await Task.sleep(until: start + .milliseconds(20) * number, clock: .continuous)
                        let batch = (0..<share).map { messages[(number * share + $0 + lane * 61) % messages.count] }
                        var buffer = ByteBuffer()
                        for message in batch { buffer.writeImmutableBuffer(message) }
                        try await outbound.write(buffer)
                        number += 1
                    }
                    group.cancelAll()
                }
            }
        }
    }
}

extension [UInt8] {
    /// How often a text of ASCII occurs.
    fileprivate func count(of text: String) -> Int { ranges(of: Array(text.utf8)).count }
}
