import Foundation
import Runway
import RunwayStreams

/// The processor's time of streams without an event, of the process that follows them and of the one that serves them.
struct Idle {
    /// Has the certificates.
    let folder: String
    let streamCount: Int
    /// How long the streams are observed. A whole number of intervals of the heartbeat, which is 25 s, has the same number of
    /// heartbeats on each stream.
    let seconds: Int

    private typealias Usage = (server: Double, client: Double)

    @concurrent func run() async throws {
        let without = try await measure(0)
        let with = try await measure(streamCount)
        print(
            """
            \(streamCount) idle streams of HTTP/2, \(IdleStreams.countPerConnection) on a connection, heartbeats by \
            default, \(seconds) s; processor's seconds
            """)
        for (name, idle, own) in [
            ("server", without.server, with.server), ("client", without.client, with.client),
        ] {
            let hourly = (own - idle) / Double(streamCount) * 3600 / Double(seconds)
            print(
                String(
                    format: "\(name)  %.4f, without a stream %.4f; for each stream in an hour %.5f", own, idle, hourly))
        }
    }

    /// Returns what both processes use with so many streams.
    private func measure(_ count: Int) async throws -> Usage {
        let server = try ChildProcess(nil, ["serve", folder])
        guard let port = await server.nextLine()?.split(separator: " ").first else {
            throw Failed("the server did not start")
        }
        let client = try ChildProcess(nil, ["follow", folder, "--port", "\(port)", "--streams", "\(count)"])
        guard await client.nextLine() == "open" else { throw Failed("the streams did not open") }
        // The work that follows the opening is over then, and the first heartbeat has not come.
        try await Task.sleep(for: .seconds(10))
        let before: Usage = try (processorTime(of: server.identifier), processorTime(of: client.identifier))
        try await Task.sleep(for: .seconds(seconds))
        let after: Usage = try (processorTime(of: server.identifier), processorTime(of: client.identifier))
        guard try await client.end() == "\(count)" else { throw Failed("a stream was interrupted") }
        try await server.end()
        return (after.server - before.server, after.client - before.client)
    }
}

/// Follows many streams until its input ends; prints `open` when all are open, and at the end how many connections all of them had.
@MainActor
final class IdleStreams: EventStreamDelegate {
    nonisolated static let countPerConnection = 100

    private var openCount = 0
    private let count: Int
    private let opening: AsyncStream<Void>.Continuation

    private init(count: Int, opening: AsyncStream<Void>.Continuation) { (self.count, self.opening) = (count, opening) }

    static func run(folder: String, port: Int, count: Int) async throws {
        let (opened, opening) = AsyncStream<Void>.makeStream()
        let delegate = IdleStreams(count: count, opening: opening)
        var streams: [EventStream<TimedEvents>] = []
        for first in stride(from: 0, to: count, by: countPerConnection) {
            let network = try BenchmarkService.makeNetwork(folder: folder, port: port)
            for _ in first..<min(first + countPerConnection, count) {
                let stream = EventStream(TimedEvents(), on: network, delegate: delegate)
                stream.start()
                streams.append(stream)
            }
        }
        if count > 0 { for await _ in opened {} }
        delegate.say("open")
        for await _ in lines(of: .standardInput) {}
        delegate.say("\(delegate.openCount)")
        withExtendedLifetime(streams) {}
    }

    private func say(_ line: String) {
        print(line)
        fflush(nil)
    }

    func eventStreamDidCatchUp(_ stream: any EventStreaming) {
        openCount += 1
        if openCount == count { opening.finish() }
    }

    func eventStream(_ stream: any EventStreaming, didReceive event: StreamEvent) {}
    func eventStream(_ stream: any EventStreaming, didConnect continuity: StreamContinuity) {}
    func eventStream(_ stream: any EventStreaming, didEndWith error: NetworkError?) {
        FileHandle.standardError.write(Data("a stream ended: \(error.map { "\($0)" } ?? "without an error")\n".utf8))
        exit(1)
    }
}
