import Foundation
import Hummingbird
import HummingbirdHTTP2
import Logging
import NIOCore
import NIOSSL
import Runway
import RunwayServer
import RunwayStreams
import RunwayTestServer
import RunwayTransport
import Synchronization

/// The events of a soak: a server of this process publishes a number every 100 ms, and one stream of each layer follows
/// them over paths that fail and recover. Every number is judged once: it comes, in order, or a gap names it.
final class SoakStreams: Sendable {
    private struct Count {
        var events = 0
        var gaps = 0
        var missed: Int64 = 0
        var connections = 0
        var wrong: [String] = []
    }

    let paths: BadNetwork
    private let serving: Task<Void, any Error>
    /// Publishes until it is cancelled, and returns the last number.
    private let publishing: Task<Int64, Never>
    /// Guards what the streams have received.
    private let count = Mutex(Count())

    private init(paths: BadNetwork, serving: Task<Void, any Error>, publishing: Task<Int64, Never>) {
        (self.paths, self.serving, self.publishing) = (paths, serving, publishing)
    }

    /// Serves over TLS and HTTP/2 at several addresses.
    static func start(certificate: String, key: String) async throws -> SoakStreams {
        var options = EventHubOptions()
        options.heartbeat = .seconds(2)
        options.maximumHeartbeat = .seconds(2)
        options.maximumConnectionsPerSource = 1000
        // So few that a long silence is a gap.
        let hub = try await EventHub(name: "soak", log: MemoryEventLog(maximumCount: 200), options: options)
        let router = Router()
        EventStreamRoute(hub) { _, _ in EventPermission() }.add(to: router, path: "events")
        let tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(certificate).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: key, format: .pem)))
        let (ports, continuation) = AsyncStream<Int>.makeStream()
        let application = Application(
            router: router, server: try .http2Upgrade(tlsConfiguration: tls),
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { continuation.yield($0.localAddress?.port ?? 0) },
            logger: Logger(label: "events", factory: { _ in SwiftLogNoOpLogHandler() }))
        let serving = Task {
            defer { continuation.finish() }
            try await application.run()
        }
        guard let port = await ports.first(where: { _ in true }) else {
            try await serving.value
            throw UnexpectedResponse()
        }
        let publishing = Task {
            var last: Int64 = 0
            while !Task.isCancelled {
                guard let next = try? await hub.publish(PublishedEvent(topic: "numbers", data: "\(last + 1)")) else {
                    break
                }
                last = next
                try? await Task.sleep(for: .milliseconds(100))
            }
            return last
        }
        return SoakStreams(
            paths: try await BadNetwork(to: port, addresses: 4), serving: serving, publishing: publishing)
    }

    /// Follows the numbers over a layer until the task is cancelled.
    func follow(over network: NetworkLayer) async {
        var options = StreamOptions()
        options.maximumHeartbeat = .seconds(2)
        options.probeTimeout = .seconds(2)
        options.maximumBackoff = .seconds(5)
        var reader = Reader()
        do {
            for try await element in network.events(of: Numbers(), options: options) {
                count.withLock { reader.take(element, &$0) }
            }
        } catch {
            count.withLock { $0.wrong.append("a stream ended: \(error)") }
        }
    }

    /// What one stream has to bring next.
    private struct Reader {
        /// `nil` until the first event, since the first connection begins anywhere.
        var expected: Int64?
        var hasBegun = false

        mutating func take(_ element: StreamElement, _ count: inout Count) {
            switch element {
            case .event(let event):
                count.events += 1
                let offset = event.place?.offset
                if event.text != offset.map(String.init) || (expected != nil && offset != expected) {
                    count.wrong.append("\(event.text) came as \(event.id), and \(expected ?? 0) was due")
                }
                expected = offset.map { $0 + 1 }
            case .continuity(.gap(let from, let to)):
                (count.gaps, count.connections) = (count.gaps + 1, count.connections + 1)
                count.missed += to.offset - from.offset + 1
                if expected != nil, from.offset != expected {
                    count.wrong.append("a gap from \(from), and \(expected ?? 0) was due")
                }
                expected = to.offset + 1
            case .continuity(let continuity):
                count.connections += 1
                // The log is never lost.
                if hasBegun, continuity != .resumed { count.wrong.append("\(continuity)") }
                hasBegun = true
            default: break
            }
        }
    }

    /// Ends the server, and returns what was wrong.
    func end() async -> [String] {
        publishing.cancel()
        serving.cancel()
        await paths.shutDown()
        let published = await publishing.value
        let count = count.withLock { $0 }
        print(
            "streams: \(published) events published; \(count.events) received, \(count.missed) in \(count.gaps) gaps, on "
                + "\(count.connections) connections; \(count.wrong.count) wrong")
        return Array(count.wrong.prefix(5)) + (count.events == 0 ? ["the streams received nothing"] : [])
    }
}

/// The service of the events of a soak.
enum SoakEvents: APIService {
    static let name = "events"
    static let environments: [ServiceEnvironment: String] = [:]
}

private struct Numbers: EventStreamEndpoint {
    static let service = SoakEvents.self
    var path: Runway.EndpointPath { "events" }
    var topics: Set<String>? { ["numbers"] }
    func encode(to encoder: any Encoder) {}
}
